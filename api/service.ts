/** Service, `v1` (https://kubernetes.io/docs/reference/kubernetes-api/service-resources/service-v1/), as far as we read it. */
import { z } from 'zod';
import type { Ip } from '../net/ip.ts';
import { describeRef, metadataSchema, type ObjectMeta, refOf } from './object.ts';
import { parseWith } from './parse.ts';
import { ipSchema } from './scalars.ts';
import { usualService } from './usual-service.ts';

export const SERVICE_PROTOCOLS = ['TCP', 'UDP', 'SCTP'] as const;
export type ServiceProtocol = (typeof SERVICE_PROTOCOLS)[number];

export interface ServicePort {
  /** Empty where the Service has only one. It identifies the ports of EndpointSlices. */
  readonly name: string;
  readonly protocol: ServiceProtocol;
  readonly port: number;
  /** On the addresses of every node; absent where the Service has none. */
  readonly nodePort?: number;
}

export const TRAFFIC_POLICIES = ['Cluster', 'Local'] as const;
/** Whether the endpoints of other nodes get something, too. */
export type TrafficPolicy = (typeof TRAFFIC_POLICIES)[number];

export interface Service {
  readonly metadata: ObjectMeta & { readonly namespace: string };
  readonly type: (typeof SERVICE_TYPES)[number];
  /** None for a headless Service, and for one that is only a name. */
  readonly clusterIps: readonly Ip[];
  readonly ports: readonly ServicePort[];
  /** How long a client stays with its endpoint, in seconds; undefined: every connection is on its own. */
  readonly affinitySeconds: number | undefined;
  /** `spec.externalIPs`: of nobody that Kubernetes knows of. */
  readonly externalIps: readonly Ip[];
  /** Addresses of load balancers that send packets on as they are; those of `ipMode: Proxy` come to node ports. */
  readonly loadBalancerIps: readonly Ip[];
  /** Of these two what is no address: the rest of the Service is none the worse for it. */
  readonly badIps?: readonly string[];
  /** Of what comes to node ports and to the addresses above. */
  readonly externalTrafficPolicy: TrafficPolicy;
  /** Of what pods and nodes send to ClusterIPs. */
  readonly internalTrafficPolicy: TrafficPolicy;
  /** Where load balancers ask a node whether it has endpoints; only with `externalTrafficPolicy: Local`. */
  readonly healthCheckNodePort: number | undefined;
}

/** @throws ApiError */
export const parseService = (value: unknown): Service =>
  serviceOf(usualService(value) ?? parseWith(serviceSchema, value, describeRef(refOf('Service', value))));

const serviceOf = ({ metadata, spec, status }: ServiceFields): Service => {
  const externalIPs = spec.type === 'ExternalName' ? [] : spec.externalIPs;
  const ingress = spec.type === 'LoadBalancer' ? ingressIps(status?.loadBalancer) : [];
  const bad = [...externalIPs, ...ingress].filter((text) => addressesOf([text]).length === 0);
  const isPublished = spec.type === 'NodePort' || spec.type === 'LoadBalancer';
  return {
    metadata,
    type: spec.type,
    clusterIps: spec.type === 'ExternalName' ? [] : clusterIpsOf(spec),
    // A Service that is not of such a type any more may keep what it had.
    ports: isPublished ? spec.ports : spec.ports.map(({ nodePort: _, ...port }) => port),
    affinitySeconds: spec.sessionAffinity === 'ClientIP' ? secondsOf(spec) : undefined,
    externalIps: addressesOf(externalIPs),
    loadBalancerIps: addressesOf(ingress),
    ...(bad.length > 0 && { badIps: bad }),
    externalTrafficPolicy: spec.externalTrafficPolicy ?? 'Cluster',
    internalTrafficPolicy: spec.internalTrafficPolicy ?? 'Cluster',
    healthCheckNodePort:
      spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local'
        ? spec.healthCheckNodePort || undefined
        : undefined,
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

/** None is written as 0 by some. */
const optionalPort = z
  .number()
  .int()
  .min(0)
  .max(65_535)
  .nullish()
  .transform((port) => port || undefined);

const portSchema = z
  .object({
    name: z
      .string()
      .nullish()
      .transform((name) => name ?? ''),
    protocol: z
      .enum(SERVICE_PROTOCOLS)
      .nullish()
      .transform((protocol) => protocol ?? 'TCP'),
    port: portNumber,
    nodePort: optionalPort,
  })
  .transform(({ nodePort, ...port }): ServicePort => (nodePort === undefined ? port : { ...port, nodePort }));

const specSchema = z.object({
  type: z
    .enum(SERVICE_TYPES)
    .nullish()
    .transform((type) => type ?? 'ClusterIP'),
  clusterIP: clusterIpSchema.nullish(),
  clusterIPs: z.array(clusterIpSchema).nullish(),
  ports: z.array(portSchema).nullish().transform(none),
  externalIPs: z.array(z.string()).nullish().transform(none),
  externalTrafficPolicy: z.enum(TRAFFIC_POLICIES).nullish(),
  internalTrafficPolicy: z.enum(TRAFFIC_POLICIES).nullish(),
  healthCheckNodePort: optionalPort,
  sessionAffinity: z.enum(['None', 'ClientIP']).nullish(),
  sessionAffinityConfig: z
    .object({ clientIP: z.object({ timeoutSeconds: z.number().int().min(1).max(86_400).nullish() }).nullish() })
    .nullish(),
});

/** What a cloud has written: a name instead of an address is for DNS. */
const loadBalancerSchema = z.object({
  ingress: z
    .array(z.object({ ip: z.string().nullish(), ipMode: z.string().nullish() }))
    .nullish()
    .transform(none),
});

/** Exported for tests: `usualService` reads the same. */
export const serviceSchema = z.object({
  metadata: metadataSchema.extend({ namespace: z.string().min(1) }),
  spec: specSchema,
  status: z.object({ loadBalancer: loadBalancerSchema.nullish() }).nullish(),
});

export type ServiceFields = z.output<typeof serviceSchema>;
type Spec = ServiceFields['spec'];

const clusterIpsOf = ({ clusterIP, clusterIPs }: Spec): Ip[] =>
  (clusterIPs ?? [clusterIP]).filter((ip): ip is Ip => ip != null);

const ingressIps = (loadBalancer: z.output<typeof loadBalancerSchema> | null | undefined): string[] =>
  (loadBalancer?.ingress ?? []).flatMap(({ ip, ipMode }) => (ip && ipMode !== 'Proxy' ? [ip] : []));

const addressesOf = (texts: readonly string[]): Ip[] => texts.flatMap((text) => ipSchema.safeParse(text).data ?? []);

const secondsOf = ({ sessionAffinityConfig }: Spec): number =>
  sessionAffinityConfig?.clientIP?.timeoutSeconds ?? DEFAULT_AFFINITY_SECONDS;
