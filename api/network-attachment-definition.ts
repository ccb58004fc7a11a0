/** NetworkAttachmentDefinition, `k8s.cni.cncf.io/v1` (multi-net-spec v1.3, section 3). */
import { z } from 'zod';
import type { DatapathKey, NetworkId } from '../net/ids.ts';
import { parseNetworkIdAnnotation } from './annotations/ids.ts';
import { parseTunnelKeys } from './annotations/tunnel-keys.ts';
import { NAD_ANNOTATIONS } from './names.ts';
import { type NetConf, parseNetConf } from './net-conf.ts';
import { describeRef, metadataSchema, type ObjectMeta, refOf } from './object.ts';
import { parseWith } from './parse.ts';

export interface NetworkAttachmentDefinition {
  readonly metadata: ObjectMeta & { readonly namespace: string };
  readonly spec: { readonly config?: string | undefined };
}

/** The object only: what `spec.config` says is read by `nadNetConf`. @throws ApiError */
export const parseNetworkAttachmentDefinition = (value: unknown): NetworkAttachmentDefinition =>
  parseWith(nadSchema, value, describeRef(refOf('NetworkAttachmentDefinition', value)));

/** The network that it defines, or undefined when it is not about one of ours. @throws ApiError */
export const nadNetConf = ({ metadata, spec }: NetworkAttachmentDefinition): NetConf | undefined =>
  parseNetConf(spec.config, metadata);

/** What the cluster manager gave the network; undefined as long as it has not, or when it is for another network. */
export interface NetworkKeys {
  readonly id: NetworkId;
  /** Two on primary layer-2 networks: the switch's and the transit router's. Otherwise none. */
  readonly tunnelKeys: readonly DatapathKey[];
}

/** @throws ApiError */
export const nadNetworkKeys = ({ metadata }: NetworkAttachmentDefinition): NetworkKeys | undefined => {
  const { [NAD_ANNOTATIONS.networkId]: id, [NAD_ANNOTATIONS.tunnelKeys]: keys } = metadata.annotations;
  if (id === undefined) return undefined;
  const nad = `${metadata.namespace}/${metadata.name}`;
  return {
    id: parseNetworkIdAnnotation(id, nad),
    tunnelKeys: keys === undefined ? [] : parseTunnelKeys(keys, nad),
  };
};

/** The name of the network that a NAD's annotations are about: an edited NAD keeps the annotations of its old network. */
export const nadAnnotatedNetwork = ({ metadata }: NetworkAttachmentDefinition): string | undefined =>
  metadata.annotations[NAD_ANNOTATIONS.networkName];

const nadSchema = z.object({
  metadata: metadataSchema.extend({ namespace: z.string().min(1) }),
  spec: z
    .object({ config: z.string().optional() })
    .nullish()
    .transform((spec) => spec ?? {}),
});
