/**
 * `ports` of a Pod's containers that have a `hostPort`, as far as we read them: ports of the node that lead to the pod.
 * https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#ports
 */
import { z } from 'zod';
import { cidrContainsIp, parseCidr } from '../net/cidr.ts';
import { type Ip, ipFamily } from '../net/ip.ts';
import { parseWith } from './parse.ts';
import { ipSchema } from './scalars.ts';
import { SERVICE_PROTOCOLS, type ServiceProtocol } from './service.ts';

export interface HostPort {
  readonly protocol: ServiceProtocol;
  readonly hostPort: number;
  readonly containerPort: number;
  /** Absent: all addresses of the node, of both families. An unspecified address: all of its family. */
  readonly hostIp?: Ip | undefined;
}

/** Each is several rows, flows and elements on the node. */
export const MOST_HOST_PORTS = 256;

/**
 * Of containers, and of init containers that go on to run beside them: the scheduler and kubelets count the same.
 * @throws ApiError: then none is open
 */
export const parseHostPorts = (spec: unknown, pod: string): readonly HostPort[] => {
  if (!mayHaveHostPorts(spec)) return [];
  const { containers, initContainers } = parseWith(specSchema, spec, `spec of Pod ${pod}`);
  const running = [...containers, ...initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always')];
  const found = running.flatMap(({ ports }) => ports.flatMap(hostPortOf));
  return [...new Map(found.map((one) => [keyOf(one), one])).values()];
};

/** `127.0.0.0/8`, `::1`: only processes of the node itself reach these. */
export const isLoopback = (ip: Ip): boolean => LOOPBACK.some((range) => cidrContainsIp(range, ip));
const LOOPBACK = ['127.0.0.0/8', '::1/128'].map(parseCidr);

/** `0.0.0.0`, `::` */
export const isUnspecified = (ip: Ip): boolean => ip === (ipFamily(ip) === 4 ? '0.0.0.0' : '::');

/** `TCP port 80 at 127.0.0.1` */
export const hostPortText = ({ protocol, hostPort, hostIp }: HostPort): string =>
  `${protocol} port ${hostPort}${hostIp === undefined ? '' : ` at ${hostIp}`}`;

const keyOf = ({ protocol, hostPort, hostIp }: HostPort): string => `${protocol} ${hostPort} ${hostIp ?? ''}`;

/** Nearly no pod has any: those are not parsed by a schema with each of their changes. */
const mayHaveHostPorts = (spec: unknown): boolean => {
  const { containers, initContainers } = (spec ?? {}) as Partial<Record<string, unknown>>;
  return [containers, initContainers].flat().some((container) => {
    const ports = (container as { readonly ports?: unknown } | null | undefined)?.ports;
    return Array.isArray(ports) && ports.some((port) => hasHostPort(port));
  });
};

const hasHostPort = (port: unknown): boolean => {
  const number = (port as { readonly hostPort?: unknown } | null)?.hostPort;
  return number !== undefined && number !== null && number !== 0;
};

const portNumber = z.int().min(1).max(65_535);

/** 0 is what the API has for none. */
const portSchema = z.object({
  containerPort: portNumber,
  hostPort: z.union([z.literal(0), portNumber]).nullish(),
  protocol: z.enum(SERVICE_PROTOCOLS).nullish(),
  hostIP: z.union([z.literal(''), ipSchema]).nullish(),
});

const containerSchema = z.object({
  restartPolicy: z.string().nullish(),
  ports: z
    .array(portSchema)
    .nullish()
    .transform((ports) => ports ?? []),
});

const specSchema = z.object({
  containers: z.array(containerSchema),
  initContainers: z
    .array(containerSchema)
    .nullish()
    .transform((containers) => containers ?? []),
});

const hostPortOf = ({ hostPort, containerPort, protocol, hostIP }: z.output<typeof portSchema>): HostPort[] => {
  if (hostPort === undefined || hostPort === null || hostPort === 0) return [];
  const hostIp = hostIP === '' || hostIP === null || hostIP === undefined ? {} : { hostIp: hostIP };
  return [{ protocol: protocol ?? 'TCP', hostPort, containerPort, ...hostIp }];
};
