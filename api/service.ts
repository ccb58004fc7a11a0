/** Service, `v1` (https://kubernetes.io/docs/reference/kubernetes-api/service-resources/service-v1/), as far as we read it. */
import { z } from 'zod';
import type { Ip } from '../net/ip.ts';
import { describeRef, metadataSchema, type ObjectMeta, refOf } from './object.ts';
import { parseWith } from './parse.ts';
import { ipSchema } from './scalars.ts';

export const SERVICE_PROTOCOLS = ['TCP', 'UDP', 'SCTP'] as const;
export type ServiceProtocol = (typeof SERVICE_PROTOCOLS)[number];

export interface ServicePort {
  /** Empty where the Service has only one. The ports of EndpointSlices are told by it. */
  readonly name: string;
  readonly protocol: ServiceProtocol;
  readonly port: number;
}

export interface Service {
  readonly metadata: ObjectMeta & { readonly namespace: string };
  readonly type: (typeof SERVICE_TYPES)[number];
  /** None for a headless Service, and for one that is only a name. */
  readonly clusterIps: readonly Ip[];
  readonly ports: readonly ServicePort[];
  /** How long a client stays with its endpoint, in seconds; undefined: every connection is on its own. */
  readonly affinitySeconds: number | undefined;
}

/** @throws ApiError */
export const parseService = (value: unknown): Service => {
  const { metadata, spec } = parseWith(serviceSchema, value, describeRef(refOf('Service', value)));
  return {
    metadata,
    type: spec.type,
    clusterIps: spec.type === 'ExternalName' ? [] : clusterIpsOf(spec),
    ports: spec.ports,
    affinitySeconds: spec.sessionAffinity === 'ClientIP' ? secondsOf(spec) : undefined,
  };
};

const SERVICE_TYPES = ['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName'] as const;

/** What the API server fills in where nothing is said. */
const DEFAULT_AFFINITY_SECONDS = 10_800;

const none = <Item>(items: Item[] | null | undefined): readonly Item[] => items ?? [];

/** `None`, or an empty text for one that has none yet. */
const clusterIpSchema = z
  .string()
  .transform((text) => (text === 'None' || text === '' ? undefined : text))
  .pipe(ipSchema.optional());
const portNumber = z.number().int().min(1).max(65_535);

const portSchema = z.object({
  name: z
    .string()
    .nullish()
    .transform((name) => name ?? ''),
  protocol: z
    .enum(SERVICE_PROTOCOLS)
    .nullish()
    .transform((protocol) => protocol ?? 'TCP'),
  port: portNumber,
});

const specSchema = z.object({
  type: z
    .enum(SERVICE_TYPES)
    .nullish()
    .transform((type) => type ?? 'ClusterIP'),
  clusterIP: clusterIpSchema.nullish(),
  clusterIPs: z.array(clusterIpSchema).nullish(),
  ports: z.array(portSchema).nullish().transform(none),
  sessionAffinity: z.enum(['None', 'ClientIP']).nullish(),
  sessionAffinityConfig: z
    .object({ clientIP: z.object({ timeoutSeconds: z.number().int().min(1).max(86_400).nullish() }).nullish() })
    .nullish(),
});

const serviceSchema = z.object({
  metadata: metadataSchema.extend({ namespace: z.string().min(1) }),
  spec: specSchema,
});

type Spec = z.output<typeof specSchema>;

const clusterIpsOf = ({ clusterIP, clusterIPs }: Spec): Ip[] =>
  (clusterIPs ?? [clusterIP]).filter((ip): ip is Ip => ip != null);

const secondsOf = ({ sessionAffinityConfig }: Spec): number =>
  sessionAffinityConfig?.clientIP?.timeoutSeconds ?? DEFAULT_AFFINITY_SECONDS;
