/** Keeps the facts as the caches of the API's objects are. */
import { DEFAULT_NETWORK_NAME, parseNadKey } from '../../api/names.ts';
import { defaultNetwork } from '../../api/network.ts';
import type { Clock } from '../../base/clock.ts';
import type { ObjectCache } from '../../kube/reflector/types.ts';
import { DEFAULT_NETWORK_ID } from '../../net/ids.ts';
import type { FactStore } from '../model/fact-store.ts';
import { LOCAL, type NamespaceFact, type ServiceFact } from '../model/facts.ts';
import type { LocalSettings } from '../model/view.ts';
import { type ForeignNad, type NadProjection, ownNad } from './nad-projection.ts';
import { NetworkIndex } from './network-index.ts';
import { NodeIndex } from './node-index.ts';
import type { NodeProjection } from './node-projection.ts';
import { PodIndex } from './pod-index.ts';
import type { PodProjection } from './pod-projection.ts';
import { DomainTable } from './policies/domain-table.ts';
import type { PolicyCaches } from './policy-caches.ts';
import { PolicyKeeper, type PolicyKeeperOptions } from './policy-keeper.ts';
import { ServiceIndex } from './service-index.ts';
import type { SliceProjection } from './slice-projection.ts';

export interface ClusterCaches {
  readonly nodes: ObjectCache<NodeProjection>;
  readonly namespaces: ObjectCache<NamespaceFact>;
  readonly nads: ObjectCache<NadProjection | ForeignNad>;
  readonly pods: ObjectCache<PodProjection>;
  readonly services: ObjectCache<ServiceFact>;
  /** With `SLICE_INDEXES`. */
  readonly slices: ObjectCache<SliceProjection, 'service'>;
  /** Absent: there are no network policies. */
  readonly policies?: PolicyCaches;
}

export interface FactFeeder {
  /** Networks whose NADs contradict each other, and how old they are. */
  readonly networks: Pick<NetworkIndex, 'problems' | 'createdAt' | 'onRedefined' | 'withhold' | 'review'>;
  /** Nodes that have what is another's. */
  readonly nodes: Pick<NodeIndex, 'problems'>;
  readonly policies: PolicyKeeper;
  stop(): void;
}

/**
 * @param clock absent: what policies could not be followed is not tried again
 * @param onHeldFailure hears of policies that were held for a moment and could not be followed then
 * @param own the node whose gateway and addresses another source knows first-hand; absent: annotations give those of all
 */
export const feedFacts = (
  facts: FactStore,
  caches: ClusterCaches,
  settings: LocalSettings,
  own?: string,
  clock?: Clock,
  onHeldFailure?: PolicyKeeperOptions['onHeldFailure'],
): FactFeeder => {
  const { cluster } = settings;
  const networks = new NetworkIndex(facts, cluster);
  const pods = new PodIndex(
    facts,
    settings,
    (key) => caches.pods.get(key),
    (nadKey) => {
      const nad = parseNadKey(nadKey);
      return (nad && ownNad(caches.nads.get(`${nad.namespace}/${nad.name}`))?.conf.name) ?? nadKey;
    },
  );
  const services = new ServiceIndex(facts);
  const nodes = new NodeIndex(facts, { cluster, own, get: (name) => caches.nodes.get(name) });
  facts.set('network', DEFAULT_NETWORK_NAME, { ...defaultNetwork(cluster), id: DEFAULT_NETWORK_ID, tunnelKeys: [] });
  if (caches.policies !== undefined) facts.set('policiesFollowed', LOCAL, true);
  const subscriptions = [
    caches.nodes.subscribe(({ key, after }) => nodes.change(key, after)),
    caches.namespaces.subscribe(({ key, after }) => facts.set('namespace', key, after)),
    caches.nads.subscribe(({ key, before, after }) => {
      facts.set('foreignNad', key, after !== undefined && 'isForeign' in after ? after.fact : undefined);
      networks.change(ownNad(before), ownNad(after));
    }),
    caches.pods.subscribe(({ key, after }) => pods.change(key, after)),
    caches.services.subscribe(({ key, after }) => services.change(key, after)),
    caches.slices.subscribe(({ before, after }) => {
      for (const service of new Set([before?.service, after?.service])) changeSlices(facts, caches, service);
    }),
  ];
  const domains = new DomainTable(facts);
  const policies = new PolicyKeeper({ facts, settings, domains, caches: caches.policies, clock, onHeldFailure });
  return {
    networks,
    nodes,
    policies,
    stop: () => {
      for (const unsubscribe of subscriptions) unsubscribe();
      policies.stop();
    },
  };
};

/** One fact for all slices of a Service: whoever reads one needs them all. */
const changeSlices = (
  facts: FactStore,
  { slices }: Pick<ClusterCaches, 'slices'>,
  service: string | undefined,
): void => {
  if (service === undefined) return;
  const found = slices.byIndex('service', service).map(({ fact }) => fact);
  const ordered = found.sort((a, b) => (a.name < b.name ? -1 : 1));
  facts.set('serviceSlices', service, ordered.length === 0 ? undefined : ordered);
};
