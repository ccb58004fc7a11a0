/**
 * `ports` of a Pod's containers that have a `hostPort`, as far as we read them: ports of the node that lead to the pod.
 * https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#ports
 */
import { z } from 'zod';
import { messageOf } from '../base/error-message.ts';
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
/** Of all pods of a node. */
export const MOST_HOST_PORTS_OF_NODE = 2000;

export interface HostPortRequests {
  readonly ports: readonly HostPort[];
  /** Why others are none: those that cannot be read, each, and how many are too many. */
  readonly refusals: readonly string[];
}

/**
 * Of containers, and of init containers that go on to run beside them: the scheduler and kubelets count the same. One that is wrong closes
 * no other. What it costs has a bound, whatever there are: it is parsed with each change of the pod.
 */
export const parseHostPorts = (spec: unknown): HostPortRequests => {
  const asked = requestsIn(spec);
  const ports = new Map<string, HostPort>();
  const refusals: string[] = [];
  for (const { path, port } of asked.slice(0, MOST_HOST_PORTS)) {
    const parsed = readHostPort(port, path);
    if (typeof parsed === 'string') refusals.push(parsed);
    else {
      const key = keyOf(parsed);
      const before = ports.get(key);
      if (before === undefined) ports.set(key, parsed);
      else if (before.containerPort !== parsed.containerPort)
        refusals.push(`${path}: ${hostPortText(parsed)} leads to port ${before.containerPort} already`);
    }
  }
  const more = asked.length - MOST_HOST_PORTS;
  if (more > 0) refusals.push(`a pod has at most ${MOST_HOST_PORTS} ports of the node, ${more} more are not open`);
  return { ports: [...ports.values()], refusals };
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

interface HostPortRequest {
  /** `spec.containers[0].ports[2]` */
  readonly path: string;
  readonly port: unknown;
}

/** Without a schema: nearly no pod has any. */
const requestsIn = (spec: unknown): HostPortRequest[] =>
  (['containers', 'initContainers'] as const).flatMap((field) =>
    listIn(spec, field).flatMap((container, index) => {
      if (field === 'initContainers' && fieldOf(container, 'restartPolicy') !== 'Always') return [];
      return listIn(container, 'ports').flatMap((port, at) =>
        hasHostPort(port) ? [{ path: `spec.${field}[${index}].ports[${at}]`, port }] : [],
      );
    }),
  );

const listIn = (object: unknown, field: string): readonly unknown[] => {
  const list = fieldOf(object, field);
  return Array.isArray(list) ? list : [];
};

const fieldOf = (object: unknown, field: string): unknown =>
  (object as Readonly<Record<string, unknown>> | null | undefined)?.[field];

/** 0 is what the API has for none. */
const hasHostPort = (port: unknown): boolean => {
  const number = fieldOf(port, 'hostPort');
  return number !== undefined && number !== null && number !== 0;
};

/** A text: why there is none. */
const readHostPort = (port: unknown, path: string): HostPort | string => {
  try {
    const { hostPort, containerPort, protocol, hostIP } = parseWith(portSchema, port, path);
    return { protocol: protocol ?? 'TCP', hostPort, containerPort, ...(hostIP !== undefined && { hostIp: hostIP }) };
  } catch (error) {
    return `${path}.${messageOf(error)}`;
  }
};

const portNumber = z.int().min(1).max(65_535);

const portSchema = z.object({
  containerPort: portNumber,
  hostPort: portNumber,
  protocol: z.enum(SERVICE_PROTOCOLS).nullish(),
  hostIP: z.preprocess((text) => (text === '' || text === null ? undefined : text), ipSchema.optional()),
});
