/**
 * What is taken from a NAD that was rendered from a network. An edit of it is undone; in between, nothing is taken away from a
 * network in use: what it is comes from the network then, and from what the NAD said before. Pure.
 */
import { matchesSelector } from '../../api/label-selector.ts';
import { isNamedByOwner, type NadOwner, nadOwner } from '../../api/nad-owner.ts';
import { cudnOfNetworkName } from '../../api/names.ts';
import { formatNetConf, type NetConf, sameMeaning } from '../../api/net-conf.ts';
import type { NadRecord } from '../allocation/network-registry.ts';
import type { NadFacts } from '../facts/nad-facts.ts';
import type { NetworkFacts } from '../facts/network-facts.ts';
import type { Rendered } from '../render/plan-network.ts';
import type { Sources } from './sources.ts';

export interface KnownNad {
  /** With the configuration that counts. */
  readonly nad: NadFacts;
  /** It was rendered from the network that its network name belongs to. */
  readonly isOwn: boolean;
}

interface Known {
  /** The NAD as it is known so far. */
  readonly before: NadRecord | undefined;
  /** Undefined: there is nothing but NADs. */
  readonly sources: Sources | undefined;
  /** It was there when the cluster manager started. */
  readonly isRecovered: boolean;
}

export const knownNad = (
  nad: NadFacts,
  { before, sources, isRecovered }: Known,
  rendered: (facts: NetworkFacts) => Rendered,
): KnownNad => {
  const owner = nadOwner(nad) ?? lastOwner(nad, before);
  if (sources === undefined) return { nad, isOwn: isNamedByOwner(nad) };
  const network = owner === undefined ? undefined : sources.network(owner.kind, owner.key);
  if (owner === undefined || (network !== undefined && network.metadata.uid !== owner.uid)) {
    return { nad, isOwn: wasOwn(nad, { before, owner, sources }) };
  }
  const conf = confOf(nad, owner, before, network === undefined ? undefined : rendered(network));
  const known = conf === nad.conf ? nad : { ...nad, conf };
  if (conf?.name !== owner.networkName) return { nad: known, isOwn: false };
  // An owner that nobody knows may be made up: then it counts only for what was the network's before.
  const mayBeOwn = network !== undefined || isRecovered || before?.isOwn === true;
  return { nad: known, isOwn: (mayBeOwn && isGiven(known)) || isDesired(known, network, sources) };
};

/** What the reference says was edited, and will be put right. */
const lastOwner = ({ metadata }: NadFacts, before: NadRecord | undefined): NadOwner | undefined => {
  const owner = before?.isOwn === true ? nadOwner(before) : undefined;
  return metadata.ownerReferences.some(({ uid }) => uid === owner?.uid) ? owner : undefined;
};

/**
 * Without its owner reference it is found by nobody, but what uses it runs on. A network of the cluster that was created anew, or that
 * does not select the namespace, has no part in it: else a tenant's administrator who edits the reference would stay on the network.
 */
const wasOwn = (
  nad: NadFacts,
  { before, owner, sources }: Pick<Known, 'before'> & { owner: NadOwner | undefined; sources: Sources },
): boolean => {
  if (before?.isOwn !== true || nad.conf?.name !== before.conf.name || !isGiven(nad)) return false;
  const name = cudnOfNetworkName(before.conf.name);
  if (name === undefined) return true;
  if (owner?.kind === 'ClusterUserDefinedNetwork') return false;
  const network = sources.network('ClusterUserDefinedNetwork', name);
  return network === undefined || isDesired(nad, network, sources);
};

/** The id of the network was written to it: by us, nobody else may. */
const isGiven = ({ annotatedNetwork, conf }: NadFacts): boolean => annotatedNetwork === conf?.name;

/** Who may write NADs can name a network of the cluster as the owner in a namespace that it does not select. */
const isDesired = ({ metadata }: NadFacts, network: NetworkFacts | undefined, { labelsOf }: Sources): boolean => {
  if (network === undefined || network.kind === 'UserDefinedNetwork') return network !== undefined;
  const labels = labelsOf(metadata.namespace);
  return network.selector !== undefined && labels !== undefined && matchesSelector(network.selector, labels);
};

const confOf = (
  nad: NadFacts,
  { networkName }: NadOwner,
  before: NadRecord | undefined,
  rendered: Rendered | undefined,
): NetConf | undefined => {
  const last = before?.conf.name === networkName ? before.conf : undefined;
  if (nad.conf !== undefined && nad.conf === last) return nad.conf;
  // It can't be rendered (any more): then nothing is known but its name.
  if (rendered === undefined || typeof rendered === 'string') {
    return nad.conf?.name === networkName ? nad.conf : (last ?? nad.conf);
  }
  const desired = rendered(nad.metadata.namespace);
  if (nad.config === formatNetConf(desired) || (nad.conf !== undefined && sameMeaning(nad.conf, desired)))
    return nad.conf;
  // After a restart the network says it: from what it was before, it can only have grown.
  return last ?? desired;
};
