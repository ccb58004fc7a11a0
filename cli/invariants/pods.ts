/** Addresses, MACs and tunnel ids of pods, and those of claims. Pure. */
import type { PodNetworkEntry } from '../../api/annotations/pod-networks.ts';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { ApiError, describeFinding } from '../../api/errors.ts';
import { DEFAULT_NETWORK_NAME } from '../../api/names.ts';
import {
  defaultNetwork,
  gatewayIp,
  hasGateway,
  managementIp,
  type Network,
  networkOfNetConf,
} from '../../api/network.ts';
import { addressOf, type Cidr, cidrContainsIp, type InterfaceAddress, prefixLength } from '../../net/cidr.ts';
import type { PodState } from '../cluster/pod-state.ts';
import type { Snapshot } from '../cluster/snapshot.ts';
import { podEntries } from '../why/pod-entries.ts';
import type { KnownNetwork } from './networks.ts';
import { givenTwice, type Held, type Violation } from './violation.ts';

export const podViolations = (
  snapshot: Snapshot,
  networks: ReadonlyMap<string, KnownNetwork>,
): readonly Violation[] => {
  const active = [...snapshot.pods.values()].filter(({ isActive }) => isActive);
  const read = active.map((pod) => readPod(pod, snapshot));
  const held = read.flatMap((one) => one.held);
  const claimed = claimedAddresses(snapshot);
  const value = (one: HeldEntry, text: string) => ({
    value: `${one.network} ${text}`,
    holder: one.holder,
    object: one.object,
  });
  return [
    ...read.flatMap(({ violations }) => violations),
    ...givenTwice(
      'pod-address',
      held.flatMap((one) => one.entry.ipAddresses.map((ip) => value(one, addressOf(ip)))),
      named('address'),
    ),
    ...givenTwice(
      'pod-mac',
      held.map((one) => value(one, one.entry.mac)),
      named('MAC'),
    ),
    ...givenTwice(
      'pod-tunnel-id',
      held.flatMap((one) => (one.entry.tunnelId === undefined ? [] : [value(one, String(one.entry.tunnelId))])),
      named('tunnel id'),
    ),
    ...givenTwice('claim', claimed, named('address')),
    ...held.flatMap((one) => outside(one, snapshot, networks)),
  ];
};

const named = (what: string) => (value: string) => {
  const [network = '', text = ''] = value.split(' ');
  return `${what} ${text} of network ${network}`;
};

interface HeldEntry {
  readonly network: string;
  readonly pod: PodState;
  /** Pods of one virtual machine have its addresses together while it moves. */
  readonly holder: string;
  readonly object: string;
  readonly entry: PodNetworkEntry;
}

const readPod = (
  pod: PodState,
  { nads }: Snapshot,
): { held: readonly HeldEntry[]; violations: readonly Violation[] } => {
  const object = `Pod/${pod.key}`;
  const entries = podEntries(pod);
  if (entries instanceof ApiError) {
    return { held: [], violations: [{ rule: 'unreadable', objects: [object], message: describeFinding(entries) }] };
  }
  const holder = pod.machine === undefined ? `pod ${pod.key}` : `machine ${pod.namespace}/${pod.machine}`;
  const held: HeldEntry[] = [];
  const violations: Violation[] = [];
  for (const [key, entry] of entries) {
    const network = networkOf(key, nads);
    if (entry instanceof ApiError) {
      violations.push({ rule: 'unreadable', objects: [object], message: `${key}: ${describeFinding(entry)}` });
    } else if (network === undefined) {
      const message = `pod ${pod.key} has addresses of NAD ${key}, which does not exist`;
      violations.push({ rule: 'orphan', objects: [object], message });
    } else held.push({ network, pod, holder, object, entry });
  }
  return { held, violations };
};

/** `ns/nad/1` is a second attachment to `ns/nad`. */
const networkOf = (key: string, nads: Snapshot['nads']): string | undefined =>
  key === DEFAULT_NETWORK_NAME ? key : nads.get(key.split('/').slice(0, 2).join('/'))?.conf?.name;

const outside = (
  { network, pod, object, entry }: HeldEntry,
  { nodes }: Snapshot,
  networks: ReadonlyMap<string, KnownNetwork>,
): readonly Violation[] => {
  const conf = networks.get(network)?.conf;
  // What comes from the cluster's own ranges is not looked at: the subnets are what the network says.
  const known = conf === undefined ? undefined : networkOfNetConf(conf, parseClusterConfig());
  const isCentral = known !== undefined && known.topology !== 'layer3';
  const ranges = isCentral
    ? known.subnets.map(({ cidr }) => cidr)
    : nodes.get(pod.node ?? '')?.held.subnets.get(network);
  // Whether the node has a part at all is said of the node.
  if (ranges === undefined) return [];
  return entry.ipAddresses.flatMap((address) => {
    const problem = problemOf(address, ranges, known ?? defaultNetwork(parseClusterConfig()));
    const message = `address ${address} of pod ${pod.key} ${problem} of network ${network}`;
    return problem === undefined ? [] : [{ rule: 'pod-address' as const, objects: [object], message }];
  });
};

const problemOf = (address: InterfaceAddress, ranges: readonly Cidr[], network: Network): string | undefined => {
  const ip = addressOf(address);
  const range = ranges.find((cidr) => cidrContainsIp(cidr, ip));
  if (range === undefined) return `is not in ${ranges.join(', ')}, the part`;
  if (prefixLength(address) !== prefixLength(range)) return `does not have the prefix length of ${range}, a subnet`;
  const infrastructure = network.infrastructureSubnets.find((cidr) => cidrContainsIp(cidr, ip));
  if (infrastructure !== undefined) return `is in ${infrastructure}, which is for infrastructure`;
  const own = !hasGateway(network) ? [] : [gatewayIp(network, range), managementIp(network, range)];
  return own.includes(ip) ? 'is that of the gateway or the management port' : undefined;
};

const claimedAddresses = ({ claims }: Snapshot): Held[] =>
  [...claims.values()].flatMap(({ key, claim }) =>
    (claim?.addresses ?? []).map((address) => ({
      value: `${claim?.network} ${addressOf(address)}`,
      holder: `claim ${key}`,
      object: `IPAMClaim/${key}`,
    })),
  );
