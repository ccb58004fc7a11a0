/** Where each port of a Service sends to on its network: what agents render, by their own code. Pure. */

import type { SliceFact } from '../../agent/model/facts.ts';
import {
  type Backends,
  backendsOf,
  type EndpointNetwork,
  type EndpointView,
  networkSlices,
  type ReservedRanges,
  withPort,
} from '../../agent/model/services/endpoints.ts';
import type { Service, ServicePort } from '../../api/service.ts';
import { type Ip, ipFamily } from '../../net/ip.ts';
import { named } from '../why/finding.ts';
import type { SliceState } from './slice-state.ts';

/** A ClusterIP; without counts where endpoints are not known. */
export interface ClusterIpItem {
  readonly ip: Ip;
  /** Addresses of its family that its ports send to. */
  readonly ready?: number;
  /** About to end, but they still answer: used where none is ready. */
  readonly terminating?: number;
  /** By the port of the ClusterIP. */
  readonly ports?: readonly PortItem[];
}

export interface PortItem extends ServicePort {
  /** `address:port`; none: it is refused at once. */
  readonly backends: readonly string[];
}

export interface ServiceEndpoints {
  readonly clusterIps: readonly ClusterIpItem[];
  /** What does not come to be as it was meant. */
  readonly notes: readonly string[];
}

export const serviceEndpoints = (
  { clusterIps, ports }: Pick<Service, 'clusterIps' | 'ports'>,
  network: EndpointNetwork,
  states: readonly SliceState[],
): ServiceEndpoints => {
  const slices = states.flatMap(({ fact }) => fact ?? []);
  const backends = networkSlices(network, slices, UNKNOWN);
  const items = clusterIps.map((ip) => clusterIpItem(ip, ports, backends));
  return {
    clusterIps: items,
    notes: [
      ...refusedNotes(network, backends),
      ...mirrorNotes(network, slices, items),
      ...items.flatMap(portNotes),
      ...states.flatMap(({ problems }) => problems),
    ],
  };
};

/** Settings of the programs, which the API does not show: better to count an address too many than to deny one that is used. */
export const UNKNOWN_RANGES: ReservedRanges = {
  serviceSubnets: [],
  joinSubnets: [],
  udnJoinSubnets: [],
  transitSubnets: [],
  masqueradeSubnets: [],
};

/** A tenant may not read nodes either: the cluster manager says which pods are on them. */
const UNKNOWN: EndpointView = { cluster: UNKNOWN_RANGES, isNodeAddress: () => true, isLockedAddress: () => false };

const clusterIpItem = (ip: Ip, ports: readonly ServicePort[], backends: Backends): ClusterIpItem => {
  const family = ipFamily(ip);
  const used = backends.slices.filter(
    (slice) =>
      slice.family === family &&
      slice.ports.some((one) => ports.some(({ name, protocol }) => one.name === name && one.protocol === protocol)),
  );
  const ready = new Set(used.flatMap((slice) => slice.ready.map(({ ip: at }) => at)));
  const terminating = new Set(used.flatMap((slice) => slice.terminating.map(({ ip: at }) => at))).difference(ready);
  return {
    ip,
    ready: ready.size,
    terminating: terminating.size,
    ports: ports.map((port) => ({ ...port, backends: backendsOf(backends, port, family) })),
  };
};

const refusedNotes = ({ name, role }: EndpointNetwork, { refused }: Backends): string[] => {
  const addresses = [...new Set(refused)];
  if (addresses.length === 0) return [];
  const why = role === 'default' ? 'traffic to this address is not allowed' : `no address of network ${name}`;
  return [`left out, ${why}: ${named(addresses)}`];
};

/** Kubernetes has endpoints, and the cluster manager has made nothing of them that could be sent to. */
const mirrorNotes = (
  { name, role }: EndpointNetwork,
  slices: readonly SliceFact[],
  items: readonly ClusterIpItem[],
): string[] => {
  if (role === 'default' || items.some(({ ready, terminating }) => ready || terminating)) return [];
  const own = new Set(slices.flatMap(({ madeFor, ready }) => (madeFor === 'default' ? ready.map(({ ip }) => ip) : [])));
  const isMirrored = slices.some(({ madeFor, network }) => madeFor === 'primary' && network === name);
  if (own.size === 0 || isMirrored) return [];
  return [
    `Kubernetes has ${own.size} ready on the default network, but no slice has their addresses on network ${name}`,
  ];
};

/** Of a ClusterIP that has some: one that has none says so in its own column. */
const portNotes = ({ ip, ports = [] }: ClusterIpItem): string[] => {
  const empty = ports.filter(({ backends }) => backends.length === 0);
  if (empty.length === 0 || empty.length === ports.length) return [];
  return [
    `no endpoints, connections are rejected: ${named(empty.map((one) => `${withPort(ip, one.port)}/${one.protocol}`))}`,
  ];
};
