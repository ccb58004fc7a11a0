/**
 * What a node remembers of the attachments that plugins of other networks have made, until they are taken away again: a file for each
 * sandbox, on a disk that outlives a boot, since a plugin's own leases do. It is written before the first plugin runs, so that whatever ends
 * the agent, DEL finds what may be there.
 */
import { z } from 'zod';
import { CNI_VERSIONS } from '../../../api/cni/version.ts';
import type { DeviceInfo } from '../../../api/device-info.ts';
import { ipSchema } from '../../../api/scalars.ts';
import type { Ip } from '../../../net/ip.ts';

/** One attachment. */
export interface AttachmentRecord {
  readonly nadKey: string;
  readonly ifName: string;
  readonly cniVersion: (typeof CNI_VERSIONS)[number];
  readonly network: string;
  readonly disableCheck: boolean;
  /** In the order of ADD, each with its whole configuration but `prevResult`. */
  readonly plugins: readonly { readonly type: string; readonly config: Readonly<Record<string, unknown>> }[];
  /** Gateways of the pod's default routes by this interface (`default-route`); absent: none. */
  readonly defaultRoute?: readonly Ip[] | undefined;
  /** Path of the file by which the plugins say which device they have given the pod; absent: none of them has the capability. */
  readonly deviceInfoFile?: string | undefined;
  /** What was in there. */
  readonly deviceInfo?: DeviceInfo | undefined;
  /** Of the last plugin; absent: ADD has not ended well. */
  readonly result?: unknown;
}

export interface SandboxRecord {
  readonly containerId: string;
  readonly pod: { readonly namespace: string; readonly name: string; readonly uid?: string | undefined };
  /** In the order in which they were begun. */
  readonly attachments: readonly AttachmentRecord[];
}

const attachment = z.object({
  nadKey: z.string(),
  ifName: z.string(),
  cniVersion: z.enum(CNI_VERSIONS),
  network: z.string(),
  disableCheck: z.boolean(),
  plugins: z.array(z.object({ type: z.string(), config: z.record(z.string(), z.unknown()) })).min(1),
  defaultRoute: z.array(ipSchema).optional(),
  deviceInfoFile: z.string().optional(),
  deviceInfo: z.record(z.string(), z.unknown()).optional(),
  result: z.unknown().optional(),
});

export const sandboxRecordSchema: z.ZodType<SandboxRecord> = z.object({
  containerId: z.string(),
  pod: z.object({ namespace: z.string(), name: z.string(), uid: z.string().optional() }),
  attachments: z.array(attachment),
});
