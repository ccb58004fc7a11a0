/** What the agent knows of a Service, and what it wants for it on this node, for people. */
import type { BalancerStatus, ServiceStatus } from '../../api/agent-status.ts';
import type { ClusterConfig } from '../../api/cluster-config.ts';
import { DEFAULT_NETWORK_NAME } from '../../api/names.ts';
import type { Ip } from '../../net/ip.ts';
import type { AnyFragment, AnyMember } from '../../ovsdb/desired/types.ts';
import type { FactStore } from '../model/fact-store.ts';
import type { NetworkFact, ServiceFact, SliceFact } from '../model/facts.ts';
import { networkSlices } from '../model/services/endpoints.ts';

export interface ServiceSources {
  readonly facts: FactStore;
  /** Whether this node is to have what a network has: on demand only while something uses it. */
  readonly isHere: (network: string) => boolean;
  readonly cluster: ClusterConfig;
  /** What each fragment that is about the Service wants of the northbound database. @param key `namespace/name` */
  readonly desiredFor: (key: string) => readonly AnyFragment[];
}

/** @param asked `namespace/name`, or `address:port`: there may be several that have the address */
export const reportServices = (sources: ServiceSources, asked: string): ServiceStatus[] => {
  const { facts } = sources;
  const found = asked.includes('/')
    ? [facts.get('service', asked)].flatMap((one) => one ?? [])
    : [...facts.ids('service')].flatMap((key) => facts.get('service', key) ?? []).filter(hasAddress(sources, asked));
  return found.map((service) => serviceStatus(service, sources));
};

/** An address of its own, also with another port; of the node's, only with a port that is the Service's. */
const hasAddress =
  ({ desiredFor }: ServiceSources, vip: string) =>
  ({ namespace, name, clusterIps, externalIps, loadBalancerIps }: ServiceFact): boolean => {
    const address = /^\[?(.*?)\]?:[0-9]+$/.exec(vip)?.[1];
    const own: readonly string[] = [...clusterIps, ...externalIps, ...loadBalancerIps];
    if (address !== undefined && own.includes(address)) return true;
    return balancersOf(desiredFor(`${namespace}/${name}`)).some(({ vips }) => vip in vips);
  };

const serviceStatus = (service: ServiceFact, sources: ServiceSources): ServiceStatus => {
  const { facts, cluster, desiredFor } = sources;
  const { namespace, name, clusterIps, externalIps, loadBalancerIps, ports } = service;
  const key = `${namespace}/${name}`;
  const found = networkFound(service, sources);
  const slices = facts.get('serviceSlices', key) ?? [];
  const isNodeAddress = (ip: Ip): boolean => facts.get('nodeAddress', ip) === true;
  const isLockedAddress = (ip: Ip): boolean => facts.get('lockedAddress', ip) === true;
  const counting = found.fact && networkSlices(found.fact, slices, { cluster, isNodeAddress, isLockedAddress });
  const used = new Set(counting?.slices.map((slice) => slice.name));
  return {
    namespace,
    name,
    ...(found.network !== undefined && { network: found.network }),
    ...(found.message !== undefined && { message: found.message }),
    clusterIps: [...clusterIps],
    otherIps: [...externalIps, ...loadBalancerIps],
    ports: ports.map(({ name: of, protocol, port }) => ({ name: of, protocol, port })),
    slices: slices.map((slice) => sliceStatus(slice, used.has(slice.name))),
    refused: [...(counting?.refused ?? [])],
    loadBalancers: balancersOf(desiredFor(key)),
  };
};

interface FoundNetwork {
  readonly network?: string;
  readonly fact?: NetworkFact;
  /** Why nothing is desired for it here. */
  readonly message?: string;
}

const networkFound = ({ namespace: name }: ServiceFact, { facts, isHere }: ServiceSources): FoundNetwork => {
  const namespace = facts.get('namespace', name);
  if (namespace === undefined) return { message: `namespace ${name} is not known` };
  const network = namespace.wantsPrimaryNetwork ? facts.get('primaryNad', name)?.network : DEFAULT_NETWORK_NAME;
  if (network === undefined) return { message: `namespace ${name} waits for its primary network` };
  const fact = facts.get('network', network);
  if (fact === undefined) return { network, message: `network ${network} is not known yet` };
  return isHere(network)
    ? { network, fact }
    : { network, fact, message: `network ${network} is not on this node: unused here` };
};

const sliceStatus = (
  { name, madeFor, network, family, ports, ready, terminating }: SliceFact,
  counts: boolean,
): ServiceStatus['slices'][number] => {
  const endpoints = (of: SliceFact['ready']) => of.map(({ ip, node }) => ({ ip, ...(node !== undefined && { node }) }));
  return {
    ...{ name, madeFor, ...(network !== undefined && { network }), family, counts },
    ports: ports.map((port) => ({ ...port })),
    ready: endpoints(ready),
    terminating: endpoints(terminating),
  };
};

/** With the rows that refer to them, by their keys: groups, switches, routers. */
const balancersOf = (fragments: readonly AnyFragment[]): BalancerStatus[] => {
  const members = fragments.flatMap((fragment) => fragment.members ?? []);
  return fragments
    .flatMap((fragment) => fragment.rows ?? [])
    .filter(({ table }) => table === 'Load_Balancer')
    .map(({ key, columns }) => ({
      key,
      name: String(columns['name']),
      protocol: String(columns['protocol']),
      vips: textMap(columns['vips']),
      places: members.flatMap((member) =>
        refersTo(member, key) && typeof member.row === 'string' ? [member.row] : [],
      ),
    }));
};

const refersTo = ({ value }: AnyMember, key: string): boolean =>
  typeof value === 'object' && 'ref' in value && value.ref === key;

const textMap = (value: unknown): Record<string, string> =>
  Object.fromEntries(Object.entries(value ?? {}).map(([key, one]) => [key, String(one)]));
