/** A call of the plugin: environment variables and the configuration on standard input (SPEC.md, sections 2 and 4). */
import { z } from 'zod';
import { messageOf } from '../../base/error-message.ts';
import { ApiError } from '../errors.ts';
import { DEFAULT_INTERFACE } from '../names.ts';
import { parseWith, readJson } from '../parse.ts';
import { CniError } from './error.ts';
import { type CniResult, parseCniResult } from './result.ts';
import { type CniVersion, isAtLeast, parseCniVersion } from './version.ts';

export type CniRequest = AttachmentRequest | GcRequest | StatusRequest | VersionRequest;

export interface AttachmentRequest {
  readonly command: 'ADD' | 'DEL' | 'CHECK';
  readonly cniVersion: CniVersion;
  readonly containerId: string;
  /** Path of the pod's network namespace; empty only on DEL, when it is gone already. */
  readonly netns: string;
  readonly ifName: string;
  readonly pod: CniPod;
  readonly config: CniConfig;
}

export interface GcRequest {
  readonly command: 'GC';
  readonly cniVersion: CniVersion;
  readonly config: CniConfig;
  /** Every attachment that the runtime still has: all others may be taken away. */
  readonly validAttachments: readonly ValidAttachment[];
}

export interface StatusRequest {
  readonly command: 'STATUS';
  readonly cniVersion: CniVersion;
  readonly config: CniConfig;
}

export interface VersionRequest {
  readonly command: 'VERSION';
  /** As it was asked, supported or not. */
  readonly cniVersion: string;
}

export interface CniPod {
  readonly namespace: string;
  readonly name: string;
  /** Absent: old runtimes do not send it. */
  readonly uid?: string | undefined;
}

export interface ValidAttachment {
  readonly containerId: string;
  readonly ifName: string;
}

/** The parts of the configuration that matter to a call; the rest of a NAD's is read by `net-conf.ts`. */
export interface CniConfig {
  readonly name: string;
  /** Of a user-defined network; absent for the cluster's default network. */
  readonly netAttachDefName?: string | undefined;
  readonly mtu?: number | undefined;
  readonly deviceId?: string | undefined;
  readonly runtimeConfig: Readonly<Record<string, unknown>>;
  /** On DEL and CHECK. */
  readonly prevResult?: CniResult | undefined;
}

/**
 * @param env the plugin's environment, `CNI_…` variables
 * @param stdin what the runtime wrote, JSON
 * @throws CniError with the code of the specification
 */
export const parseCniRequest = (env: Readonly<Record<string, string | undefined>>, stdin: string): CniRequest => {
  const command = env['CNI_COMMAND'];
  if (command === 'VERSION') return { command, cniVersion: askedVersion(stdin) };
  if (command === undefined || !isCommand(command)) {
    throw badEnvironment(`unexpected or missing CNI_COMMAND ${JSON.stringify(command ?? '')}`, 'CNI_COMMAND');
  }
  const raw = readConfig(stdin);
  const cniVersion = parseCniVersion(raw.cniVersion);
  requireVersion(command, cniVersion);
  const config = toConfig(raw);
  if (command === 'STATUS') return { command, cniVersion, config };
  if (command === 'GC') {
    return { command, cniVersion, config, validAttachments: validAttachments(raw) };
  }
  return attachmentRequest(command, cniVersion, config, env);
};

/** Without the list nothing may be taken away: that it is not there does not say that it is empty. */
const validAttachments = ({ 'cni.dev/valid-attachments': listed }: RawConfig): GcRequest['validAttachments'] => {
  if (listed === undefined || listed === null) {
    throw new CniError('invalidConfig', 'cni.dev/valid-attachments: is required for GC', {
      field: 'cni.dev/valid-attachments',
    });
  }
  return listed.map(({ containerID, ifname }) => ({ containerId: containerID, ifName: ifname }));
};

/** A pod's key in Kubernetes: `namespace/name`. */
export const podKey = ({ namespace, name }: CniPod): string => `${namespace}/${name}`;

const COMMANDS = ['ADD', 'DEL', 'CHECK', 'GC', 'STATUS'] as const;
type Command = (typeof COMMANDS)[number];

const isCommand = (text: string): text is Command => COMMANDS.some((command) => command === text);

const requireVersion = (command: Command, version: CniVersion): void => {
  const minimum = command === 'GC' || command === 'STATUS' ? '1.1.0' : command === 'CHECK' ? '0.4.0' : '0.3.0';
  if (isAtLeast(version, minimum)) return;
  throw new CniError(
    'incompatibleVersion',
    `${command} needs CNI version ${minimum}, the configuration has ${version}`,
    {
      field: 'cniVersion',
    },
  );
};

const attachmentRequest = (
  command: 'ADD' | 'DEL' | 'CHECK',
  cniVersion: CniVersion,
  config: CniConfig,
  env: Readonly<Record<string, string | undefined>>,
): AttachmentRequest => {
  const containerId = env['CNI_CONTAINERID'] ?? '';
  const netns = env['CNI_NETNS'] ?? '';
  const ifName = env['CNI_IFNAME'] || DEFAULT_INTERFACE;
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(containerId)) {
    throw badEnvironment(`missing or unusable CNI_CONTAINERID ${JSON.stringify(containerId)}`, 'CNI_CONTAINERID');
  }
  if (netns === '' && command !== 'DEL') throw badEnvironment('missing CNI_NETNS', 'CNI_NETNS');
  if (!/^[^\s/:]{1,15}$/.test(ifName) || ifName === '.' || ifName === '..') {
    throw badEnvironment(`CNI_IFNAME ${JSON.stringify(ifName)} is not an interface name`, 'CNI_IFNAME');
  }
  return { command, cniVersion, containerId, netns, ifName, pod: parsePod(env['CNI_ARGS'] ?? ''), config };
};

const parsePod = (args: string): CniPod => {
  if (args === '') throw badEnvironment('missing CNI_ARGS', 'CNI_ARGS');
  const values = new Map(args.split(';').map(keyAndValue));
  const value = (key: string): string => {
    const found = values.get(key) ?? '';
    if (found === '') throw badEnvironment(`missing ${key} in CNI_ARGS "${args}"`, 'CNI_ARGS');
    return found;
  };
  return {
    namespace: value('K8S_POD_NAMESPACE'),
    name: value('K8S_POD_NAME'),
    uid: values.get('K8S_POD_UID') || undefined,
  };
};

const keyAndValue = (item: string): [string, string] => {
  const [key, value, ...rest] = item.split('=');
  if (key === undefined || value === undefined || rest.length > 0) {
    throw badEnvironment(`CNI_ARGS item "${item}" is not key=value`, 'CNI_ARGS');
  }
  return [key, value];
};

const badEnvironment = (message: string, field: string): CniError =>
  new CniError('invalidEnvironment', message, { field });

const configSchema = z.object({
  cniVersion: z.unknown().optional(),
  name: z.string().min(1),
  netAttachDefName: z.string().optional(),
  mtu: z.int().min(0).max(65_536).optional(),
  deviceID: z.string().optional(),
  runtimeConfig: z.record(z.string(), z.unknown()).nullish(),
  prevResult: z.unknown().optional(),
  'cni.dev/valid-attachments': z.array(z.object({ containerID: z.string(), ifname: z.string() })).nullish(),
});

type RawConfig = z.output<typeof configSchema>;

const readConfig = (stdin: string): RawConfig => {
  let value: unknown;
  try {
    value = readJson(stdin);
  } catch (cause) {
    throw new CniError('decodingFailure', 'the network configuration on standard input is not JSON', {
      details: messageOf(cause),
      cause,
    });
  }
  return asConfigError(() => parseWith(configSchema, value, 'CNI configuration'));
};

const toConfig = (raw: RawConfig): CniConfig => ({
  name: raw.name,
  netAttachDefName: raw.netAttachDefName || undefined,
  mtu: raw.mtu || undefined,
  deviceId: raw.deviceID || undefined,
  runtimeConfig: raw.runtimeConfig ?? {},
  prevResult:
    raw.prevResult === undefined || raw.prevResult === null
      ? undefined
      : asConfigError(() => parseCniResult(raw.prevResult)),
});

/** Everything that is wrong with the configuration has the code that says so. */
const asConfigError = <Value>(read: () => Value): Value => {
  try {
    return read();
  } catch (error) {
    if (error instanceof CniError || !(error instanceof ApiError)) throw error;
    throw new CniError('invalidConfig', `${error.object}: ${error.message}`, { field: error.field, cause: error });
  }
};

const askedVersion = (stdin: string): string => {
  try {
    const value = readJson(stdin);
    const version = typeof value === 'object' && value !== null ? Reflect.get(value, 'cniVersion') : undefined;
    return typeof version === 'string' ? version : '';
  } catch {
    return '';
  }
};
