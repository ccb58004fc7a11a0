/** The networks of a cluster, as the API knows them: one item each, whatever object it comes from. Pure. */
import { z } from 'zod';
import type { Labels } from '../../api/label-selector.ts';
import { networkStatusSchema } from '../../api/network-status.ts';
import { controllerUid, type NadFacts } from '../../cluster-manager/facts/nad-facts.ts';
import type { NetworkFacts } from '../../cluster-manager/facts/network-facts.ts';
import type { Scene } from '../why/allocations.ts';
import { desiredNamespaces, isDesiredIn, makerOf } from '../why/desired.ts';
import type { Cause, Diagnosis, Finding } from '../why/finding.ts';
import { whyNetwork } from '../why/network.ts';
import { whyNad } from '../why/subject.ts';

export interface NetworkItem {
  /** In annotations, in OVN and in metrics: `red_net`. */
  readonly name: string;
  /** `udn red/net`, `cudn shop`, `nad red/hand` */
  readonly object: string;
  readonly topology: string;
  readonly role: string;
  /** On layer 3 with the prefix length of a node's part: `10.0.0.0/16/24`. */
  readonly subnets: readonly string[];
  readonly id?: number;
  readonly vrf?: string;
  /** `unknown`: nodes are silent about it, and all that is known is well. */
  readonly state: 'ready' | 'not ready' | 'deleting' | 'unknown';
  /** Why it is not. */
  readonly cause?: Cause;
  readonly message?: string;
  /** Active pods with an address of it; absent: they may not be counted. */
  readonly pods?: number;
  /** How many have all of it, of all nodes; absent: they do not report. With rendering on demand most have no use of it. */
  readonly nodes?: { readonly ready: number; readonly total: number };
  /** Its own, or those that it selects. */
  readonly namespaces: readonly string[];
  readonly created: string;
}

export interface NetworkFilter {
  readonly hasLabels?: ((labels: Labels) => boolean) | undefined;
}

/** Sorted by the name of the network. */
export const networkItems = (scene: Scene, { hasLabels = () => true }: NetworkFilter = {}): readonly NetworkItem[] => {
  const networks = [...scene.networks.values()].filter((facts) => isInScope(facts, scene));
  const known = new Set([...scene.networks.values()].map(({ metadata }) => metadata.uid));
  const strangers = [...scene.nads.values()].filter((nad) => nad.conf !== undefined && !known.has(controllerUid(nad)));
  const byName = [...Map.groupBy(strangers, ({ conf }) => conf?.name ?? '')];
  return [
    ...networks.filter(({ metadata }) => hasLabels(metadata.labels)).map((facts) => itemOf(facts, scene)),
    ...byName.flatMap(([name, nads]) =>
      nads.some(({ metadata }) => hasLabels(metadata.labels)) ? nadItem(name, nads, scene) : [],
    ),
  ].sort((a, b) => (a.name < b.name ? -1 : 1));
};

/** Of one namespace: its own, and those of the cluster that it is selected by or has still a NAD of. */
const isInScope = (facts: NetworkFacts, scene: Scene): boolean =>
  scene.namespace === undefined ||
  isDesiredIn(facts, scene.namespace, scene) ||
  scene.nadsOwnedBy(facts.metadata.uid ?? '').length > 0;

const itemOf = (facts: NetworkFacts, scene: Scene): NetworkItem => {
  const { kind, key, networkName, spec, metadata } = facts;
  const config = spec?.layer3 ?? spec?.layer2;
  const status = statusSchema.catch({}).parse(facts.status);
  const nads = scene.nadsOwnedBy(metadata.uid ?? '');
  const id = status.networkID ?? nads.find(({ keys }) => keys !== undefined)?.keys?.id;
  return {
    name: networkName,
    object: `${kind === 'UserDefinedNetwork' ? 'udn' : 'cudn'} ${key}`,
    topology: (spec?.topology ?? '').toLowerCase(),
    role: (config?.role ?? (spec?.topology === 'Localnet' ? 'secondary' : '')).toLowerCase(),
    subnets: status.subnets ?? (config?.subnets ?? []).map(subnetText),
    ...(id !== undefined && { id }),
    ...(status.vrf !== undefined && { vrf: status.vrf.name }),
    ...stateOf(whyNetwork(facts, scene), metadata.deletionTimestamp != null),
    ...podsOf(nads, status.pods, scene),
    ...(status.nodes?.ready !== undefined && { nodes: { ready: status.nodes.ready, total: status.nodes.total } }),
    namespaces: desiredNamespaces(facts, scene),
    created: metadata.creationTimestamp ?? '',
  };
};

const statusSchema = z.object({
  networkID: networkStatusSchema.shape.networkID,
  vrf: networkStatusSchema.shape.vrf,
  subnets: networkStatusSchema.shape.subnets,
  pods: networkStatusSchema.shape.pods,
  nodes: networkStatusSchema.shape.nodes,
});

interface Subnet {
  readonly cidr: string;
  readonly hostSubnet?: number | undefined;
}

const subnetText = (subnet: string | Subnet): string =>
  typeof subnet === 'string'
    ? subnet
    : subnet.hostSubnet === undefined
      ? subnet.cidr
      : `${subnet.cidr}/${subnet.hostSubnet}`;

const nadItem = (name: string, nads: readonly NadFacts[], scene: Scene): NetworkItem[] => {
  const [first] = nads;
  const conf = first?.conf;
  if (first === undefined || conf === undefined) return [];
  const maker = makerOf(first);
  const id = nads.find(({ keys }) => keys !== undefined)?.keys?.id;
  return [
    {
      name,
      // The object behind it may not be read, but the NAD says what it is.
      object: maker.startsWith('of ') ? shortName(maker.slice(3)) : `nad ${first.key}`,
      topology: conf.topology,
      role: conf.role,
      subnets: conf.subnets.map(({ cidr, hostPrefix }) => (hostPrefix === undefined ? cidr : `${cidr}/${hostPrefix}`)),
      ...(id !== undefined && { id }),
      ...stateOf(whyNad(first, scene), first.metadata.deletionTimestamp != null),
      ...podsOf(nads, undefined, scene),
      namespaces: [...new Set(nads.map(({ metadata }) => metadata.namespace))].sort(),
      created: first.metadata.creationTimestamp ?? '',
    },
  ];
};

const shortName = (text: string): string =>
  text.replace(/^ClusterUserDefinedNetwork /, 'cudn ').replace(/^UserDefinedNetwork /, 'udn ');

const stateOf = (
  { isReady, cause, summary, findings }: Diagnosis,
  isLeaving: boolean,
): Pick<NetworkItem, 'state' | 'cause' | 'message'> => {
  const doubt = findings.find(isOfAgents);
  if (isReady && !isLeaving && doubt !== undefined) return { state: 'unknown', message: doubt.found };
  return {
    state: isLeaving ? 'deleting' : isReady ? 'ready' : 'not ready',
    ...(cause !== undefined && { cause, message: summary }),
  };
};

/** As its condition `Ready`, and not what the user may not read. */
const isOfAgents = ({ what, state }: Finding): boolean => what === 'agents' && state === 'unknown';

const podsOf = (
  nads: readonly NadFacts[],
  reportedPods: number | undefined,
  scene: Scene,
): Pick<NetworkItem, 'pods'> => {
  const isHidden = scene.unread.some(({ resource }) => resource === 'pods');
  const isPart = scene.namespace !== undefined && nads.some(({ metadata }) => metadata.namespace !== scene.namespace);
  if (!isHidden && !isPart) {
    return { pods: nads.reduce((sum, { key }) => sum + scene.podsUsing(key).length, 0) };
  }
  return reportedPods === undefined ? {} : { pods: reportedPods };
};
