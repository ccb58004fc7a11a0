/** The other end of a connection, as far as this node knows it. */
import { DEFAULT_NETWORK_NAME, parseNadKey } from '../../../api/names.ts';
import { type Ip, isIp, parseIp } from '../../../net/ip.ts';
import { type HostView, hostPeers } from '../../inputs/policies/host-peers.ts';
import type { PolicyPod } from '../../inputs/policies/types.ts';
import { nodeSubnetsId } from '../../model/facts.ts';
import type { EndQuestion } from './pod-end.ts';
import { serviceProblem } from './service-address.ts';
import type { PolicyReportSources } from './sources.ts';

export interface PeerEnd {
  /** Where both ends meet. */
  readonly network?: string | undefined;
  /** Of the peer on it. */
  readonly addresses: readonly Ip[];
  readonly verdict: 'denied' | 'unknown';
  /** Absent: policies decide. */
  readonly problem?: string | undefined;
}

const hostView = (facts: PolicyReportSources['facts'], node: string): HostView => ({
  node,
  network: (name) => facts.get('network', name),
  nodeSubnets: (of, network) => facts.get('nodeSubnets', nodeSubnetsId(of, network)) ?? [],
  hostAddresses: (of) => facts.get('hostAddresses', of) ?? [],
});

/** @param network of the pod itself, where a policy selects it */
export const peersOf = (
  sources: PolicyReportSources,
  { peer, direction, packet }: EndQuestion,
  own: PolicyPod,
  network: string | undefined,
): PeerEnd => {
  const { facts, policyLookup } = sources;
  const here = network ?? networkOfNamespace(facts, own.namespace);
  if (here === undefined) return unknown(`namespace ${own.namespace} waits for its primary network`);
  if (isIp(peer)) {
    const ip = parseIp(peer);
    const services = { network: here, isHere: (namespace: string) => networkOfNamespace(facts, namespace) === here };
    const problem = direction === 'Egress' ? serviceProblem(sources, ip, services, packet) : undefined;
    return problem === undefined ? { network: here, addresses: [ip], verdict: 'unknown' } : unknown(problem, here);
  }
  const other = policyLookup.pod(peer);
  if (other === undefined) return unknown(`${peer} is not known: there is no such pod`, here);
  if (other.finished) return unknown(`${peer} has ended`, here);
  if (other.isHost === true && here !== DEFAULT_NETWORK_NAME)
    return unknown(`${peer} is on the network of its node, which policies of ${here} are not about`, here);
  if (other.isHost === true && other.node !== undefined)
    return { network: here, addresses: hostPeers(other.node, hostView(facts, other.node)), verdict: 'unknown' };
  const there = networkOfNamespace(facts, other.namespace);
  if (there !== undefined && there !== here) {
    const problem = `${peer} is on network ${there} and not on ${here}: networks are isolated from each other, whatever policies say`;
    return { network: here, addresses: [], verdict: 'denied', problem };
  }
  const addresses = addressesOn(facts, other, here);
  return addresses.length > 0
    ? { network: here, addresses, verdict: 'unknown' }
    : unknown(`${peer} has no address of network ${here} yet`, here);
};

/** Why a pod is under no policies of a secondary network; undefined: it is attached to it. */
export const notAttached = (
  facts: PolicyReportSources['facts'],
  key: string,
  pod: PolicyPod,
  network: string,
): string | undefined => {
  if (facts.get('network', network)?.role !== 'secondary')
    return `${network} is not a secondary network here: ask without it`;
  return isAttached(facts, pod, network) ? undefined : `${key} is not attached to network ${network}`;
};

/** On a secondary network. */
export const attachedPeer = ({ facts, policyLookup }: PolicyReportSources, peer: string, network: string): PeerEnd => {
  if (isIp(peer)) return { network, addresses: [parseIp(peer)], verdict: 'unknown' };
  const other = policyLookup.pod(peer);
  if (other === undefined) return unknown(`${peer} is not known: there is no such pod`, network);
  if (other.finished) return unknown(`${peer} has ended`, network);
  if (!isAttached(facts, other, network)) {
    const problem = `${peer} is not attached to network ${network}: networks are isolated from each other`;
    return { network, addresses: [], verdict: 'denied', problem };
  }
  const addresses = addressesOn(facts, other, network);
  return addresses.length > 0
    ? { network, addresses, verdict: 'unknown' }
    : unknown(`${peer} has no address of network ${network} that is known: ask by address`, network);
};

export const isAttached = (facts: PolicyReportSources['facts'], { addresses }: PolicyPod, network: string): boolean =>
  addresses.keys().some((nad) => networkOfNad(facts, nad) === network);

const addressesOn = (facts: PolicyReportSources['facts'], { addresses }: PolicyPod, network: string): readonly Ip[] =>
  [...addresses].flatMap(([nad, ips]) => (networkOfNad(facts, nad) === network ? ips : []));

const unknown = (problem: string, network?: string): PeerEnd => ({
  network,
  addresses: [],
  verdict: 'unknown',
  problem,
});

const networkOfNamespace = (facts: PolicyReportSources['facts'], name: string): string | undefined => {
  const namespace = facts.get('namespace', name);
  if (namespace === undefined) return undefined;
  return namespace.wantsPrimaryNetwork ? facts.get('primaryNad', name)?.network : DEFAULT_NETWORK_NAME;
};

/** Addresses of the default network are under its name. */
const networkOfNad = (facts: PolicyReportSources['facts'], key: string): string | undefined => {
  const nad = parseNadKey(key);
  return nad === undefined ? DEFAULT_NETWORK_NAME : facts.get('nad', `${nad.namespace}/${nad.name}`);
};
