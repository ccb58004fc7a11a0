/** The switch port of one attachment of a pod. */
import type { PodNetworkEntry } from '../../../api/annotations/pod-networks.ts';
import { DEFAULT_NETWORK_NAME, parseNadKey } from '../../../api/names.ts';
import { addressOf } from '../../../net/cidr.ts';
import type { DesiredFragment } from '../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../ovsdb/models/ovn-northbound.gen.ts';
import { type NetworkFact, type PodFact, podKey } from '../../model/facts.ts';
import { layer2SwitchName, localnetSwitchName, nodeSwitchName, podPortName } from '../../model/names.ts';
import type { View } from '../../model/view.ts';
import { merge } from '../shared/ovn/merge.ts';
import { switchPort } from '../shared/ovn/port-rows.ts';
import { machineDhcp } from './machine-dhcp.ts';
import { bandwidthOf, portLimits } from './pod-limits.ts';
import { denyGroupKeys, isDecided, policyMembers, policySubject, subjectSetKeys } from './pod-policy.ts';

type Northbound = DesiredFragment<OvnNorthbound>;

/** Nothing where the pod has no port in this zone, or while its network or its node's chassis is not known. */
export const podPort = (pod: PodFact, nadKey: string, entry: PodNetworkEntry, view: View): Northbound => {
  const network = attachedNetwork(nadKey, view);
  const chassis = view.nodeFact(pod.node ?? '')?.chassisId;
  if (network === undefined || chassis === undefined || !view.isNetworkHere(network.name)) return {};
  const isLocal = pod.node === view.node;
  const logicalSwitch = switchOf(network, view.node, isLocal);
  if (logicalSwitch === undefined || !hasItsKey(network, entry)) return {};
  const name = podPortName(nadKey, pod.namespace, pod.name);
  const address = [entry.mac, ...entry.ipAddresses.map(addressOf)].join(' ');
  const asked = isLocal ? policySubject(podKey(pod), entry, network) : undefined;
  // A pod that nobody knows to be free of policies would be open to all.
  if (asked !== undefined && !isDecided(asked, view)) return {};
  const policy = asked && view.podPolicy(asked.id);
  const dhcp = machineDhcp(isLocal ? pod : {}, name, { network, entry }, view);
  const columns = {
    name,
    type: isLocal ? '' : 'remote',
    ...openOrClosed(address, pod.standby?.has(nadKey) === true),
    port_security: [address],
    options: { ...portOptions(pod, network, entry, chassis), ...dhcp.options },
    ...dhcp.columns,
    external_ids: portIds(pod, network, nadKey),
  };
  const limits = isLocal
    ? portLimits({ name, network: network.name, logicalSwitch }, bandwidthOf(pod, nadKey, entry))
    : {};
  if (policy === undefined) return merge(dhcp.northbound, switchPort(logicalSwitch, columns), limits);
  // The port first: a bulk load puts an element where it belongs once its row is placed.
  const needs = [...denyGroupKeys(policy), ...(policy.network === network.name ? subjectSetKeys(policy, entry) : [])];
  return merge(dhcp.northbound, switchPort(logicalSwitch, columns, needs), limits, {
    members: policyMembers(policy, { name, network, entry }, view),
  });
};

/**
 * While a virtual machine moves, the port of the pod that it is not in drops what is sent to it and by it, and no packet is for it: the
 * addresses are the other port's (ADR 131). ovn-nb(5), `enabled`.
 */
const openOrClosed = (address: string, isClosed: boolean) =>
  isClosed ? { addresses: [], enabled: false } : { addresses: [address], enabled: undefined };

const attachedNetwork = (key: string, view: View): NetworkFact | undefined => {
  if (key === DEFAULT_NETWORK_NAME) return view.network(DEFAULT_NETWORK_NAME);
  const nad = parseNadKey(key);
  const network = nad === undefined ? undefined : view.networkOfNad(`${nad.namespace}/${nad.name}`);
  return network !== undefined && network.role !== 'default' ? network : undefined;
};

const switchOf = ({ name, topology }: NetworkFact, node: string, isLocal: boolean): string | undefined => {
  if (topology === 'layer2') return layer2SwitchName(name);
  if (!isLocal) return undefined;
  return topology === 'localnet' ? localnetSwitchName(name) : nodeSwitchName(name, node);
};

/** Without the key that the other zones use, packets for the port would arrive at another one, or nowhere. */
const hasItsKey = ({ topology }: NetworkFact, { tunnelId }: PodNetworkEntry): boolean =>
  topology !== 'layer2' || tunnelId !== undefined;

const portOptions = (
  pod: PodFact,
  { topology }: NetworkFact,
  { tunnelId }: PodNetworkEntry,
  chassis: string,
): Record<string, string> => ({
  'requested-chassis': chassis,
  // ovn-controller binds only an interface with the same version: not one that an earlier pod of this name left behind.
  'iface-id-ver': pod.uid,
  ...(topology === 'layer2' && { 'requested-tnl-key': String(tunnelId) }),
});

const portIds = (pod: PodFact, network: NetworkFact, nadKey: string): Record<string, string> => ({
  namespace: pod.namespace,
  pod: 'true',
  ...(network.role !== 'default' && {
    'k8s.ovn.org/network': network.name,
    'k8s.ovn.org/nad': nadKey,
    'k8s.ovn.org/topology': network.topology,
  }),
});
