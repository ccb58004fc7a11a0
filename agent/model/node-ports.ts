/** What Services and pods want of the node's own ports: servers on some, and that nobody else uses others. */
import type { ServiceProtocol } from '../../api/service.ts';
import type { Family, Ip } from '../../net/ip.ts';

/** A server on all addresses of the node that says whether a Service has endpoints here. */
export interface HealthCheck {
  readonly kind: 'health-check';
  /** `namespace/name` */
  readonly service: string;
  readonly port: number;
  /** Endpoints on this node that are ready, of each family that the Service has; at least one. */
  readonly localEndpoints: Readonly<Partial<Record<Family, number>>>;
}

/** What comes to this port of the node goes to a Service or a pod, and not to a process that may listen there. */
export interface PortClaim {
  readonly kind: 'claim';
  readonly object: NodePortOwner;
  /** Linux has no interface, common to all kernels, that lists who listens for SCTP. */
  readonly protocol: Exclude<ServiceProtocol, 'SCTP'>;
  readonly port: number;
  /** Absent: a node port, on all addresses of the node. */
  readonly ip?: Ip;
  /** Of the Service, or of `ip`. */
  readonly families: readonly Family[];
}

/** Kind, namespace and name. */
export type NodePortOwner = `${'Service' | 'Pod'}/${string}`;

export const ownerOf = (item: NodePortItem): NodePortOwner =>
  item.kind === 'claim' ? item.object : `Service/${item.service}`;

export type NodePortItem = HealthCheck | PortClaim;

/** With the Service: two that want one port are two things, of which one is refused. */
export const nodePortKey = (item: NodePortItem): string =>
  item.kind === 'health-check'
    ? `health-check ${item.service}`
    : `claim ${item.object} ${item.protocol} ${item.ip ?? '*'} ${item.port}`;
