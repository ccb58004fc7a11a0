/**
 * What is read of a Pod as the API server sends it. There are more of them than of anything else, so one of the usual
 * shape is read without the schema, which has the last word on every other.
 */
import { z } from 'zod';
import { metadataSchema } from '../../api/object.ts';
import { parseWith } from '../../api/parse.ts';

export interface PodObject {
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly uid?: string | undefined;
    readonly resourceVersion?: string | undefined;
    readonly creationTimestamp?: string | null | undefined;
    readonly labels: StringMap;
    readonly annotations: StringMap;
  };
  readonly spec?: PodSpec | null | undefined;
  readonly status?: PodStatus | null | undefined;
}

interface PodStatus {
  readonly phase?: string | null | undefined;
  /** As the kubelet says them, unread: of most pods nobody asks. */
  readonly podIPs?: unknown;
}

interface PodSpec {
  readonly nodeName?: string | null | undefined;
  readonly hostNetwork?: boolean | null | undefined;
}

type StringMap = Readonly<Record<string, string>>;

/** @throws ApiError */
export const parsePod = (object: unknown): PodObject => usualPod(object) ?? parseWith(podSchema, object, 'Pod');

export const podSchema = z.object({
  metadata: metadataSchema.extend({ namespace: z.string() }),
  spec: z.object({ nodeName: z.string().nullish(), hostNetwork: z.boolean().nullish() }).nullish(),
  status: z.object({ phase: z.string().nullish(), podIPs: z.unknown().optional() }).nullish(),
});

/** @returns undefined for what the schema has to judge: everything that it would refuse, and what is seldom */
export const usualPod = (object: unknown): PodObject | undefined => {
  if (!isMap(object)) return undefined;
  const { metadata, spec = {}, status = {} } = object;
  if (!isMap(metadata) || !isMap(spec) || !isMap(status) || !isUsualMetadata(metadata)) return undefined;
  const { namespace, name, uid, resourceVersion, creationTimestamp, labels = NONE, annotations = NONE } = metadata;
  const { nodeName, hostNetwork } = spec;
  const { phase, podIPs } = status;
  const isRead =
    isText(namespace) &&
    isText(name) &&
    name !== '' &&
    isTextOrAbsent(uid) &&
    isTextOrAbsent(resourceVersion) &&
    isTextOrAbsent(creationTimestamp) &&
    isStringMap(labels) &&
    isStringMap(annotations) &&
    isTextOrAbsent(nodeName) &&
    (hostNetwork === undefined || typeof hostNetwork === 'boolean') &&
    isTextOrAbsent(phase);
  if (!isRead) return undefined;
  return {
    metadata: { namespace, name, uid, resourceVersion, creationTimestamp, labels, annotations },
    spec: { nodeName, hostNetwork },
    status: { phase, podIPs },
  };
};

const NONE: StringMap = {};

type Fields = Readonly<Record<string, unknown>>;

/** What the schema looks at and nobody reads. */
const isUsualMetadata = ({ generation, deletionTimestamp, finalizers = [], ownerReferences = [] }: Fields): boolean =>
  (generation === undefined || Number.isFinite(generation)) &&
  isTextOrAbsent(deletionTimestamp) &&
  Array.isArray(finalizers) &&
  finalizers.every(isText) &&
  Array.isArray(ownerReferences) &&
  ownerReferences.every(isOwnerReference);

const isOwnerReference = (value: unknown): boolean =>
  isMap(value) &&
  isText(value['apiVersion']) &&
  isText(value['kind']) &&
  isText(value['name']) &&
  isText(value['uid']) &&
  isFlagOrAbsent(value['controller']) &&
  isFlagOrAbsent(value['blockOwnerDeletion']);

const isMap = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

const isText = (value: unknown): value is string => typeof value === 'string';

const isTextOrAbsent = (value: unknown): value is string | undefined => value === undefined || isText(value);

const isFlagOrAbsent = (value: unknown): boolean => value === undefined || typeof value === 'boolean';

const isStringMap = (value: unknown): value is StringMap => {
  if (!isMap(value)) return false;
  for (const key in value) if (typeof value[key] !== 'string') return false;
  return true;
};
