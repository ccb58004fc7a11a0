/** Pods that are attached to secondary networks, and MultiNetworkPolicies for these, as plain objects: for tests of the index that follows them. */
import type { Labels } from '../../api/label-selector.ts';
import { POLICY_FOR_ANNOTATION } from '../../api/multi-network-policy.ts';
import { MultiIndex } from '../inputs/policies/multi-index.ts';
import { projectMultiPolicy } from '../inputs/policies/multi-projection.ts';
import type { FactStore } from '../model/fact-store.ts';
import type { FactKind } from '../model/facts.ts';
import { type NetworkInput, TestCluster } from './cluster.ts';
import { type WorldPod, worldPod } from './policy-world.ts';

/** By the NAD that is its first. `wide` is of layer 3, and `bare` has no IPAM. */
export const SECONDARY_NETWORKS = {
  'a/flat': { topology: 'layer2', id: 11, subnets: ['10.1.0.0/16', 'fd01::/64'], name: 'cluster_udn_flat' },
  'b/flat': { topology: 'layer2', id: 11, subnets: ['10.1.0.0/16', 'fd01::/64'], name: 'cluster_udn_flat' },
  'a/wide': { topology: 'layer3', id: 12, subnets: ['10.2.0.0/16', 'fd02::/48'], name: 'a_wide' },
  'a/bare': { topology: 'layer2', id: 13, subnets: [], name: 'a_bare' },
  'default/all': { topology: 'localnet', id: 14, subnets: ['10.4.0.0/24'], name: 'all', handmade: true },
} as const;
export type SecondaryNad = keyof typeof SECONDARY_NETWORKS;

export class MultiWorld {
  readonly cluster = new TestCluster('node1').node('node1', {
    ...{ id: 2, subnets: { default: ['10.128.0.0/23'], a_wide: ['10.2.1.0/24', 'fd02:0:0:1::/64'] } },
  });
  readonly facts: FactStore = this.cluster.facts;
  readonly index = this.newIndex();

  newIndex(facts: FactStore = this.facts): MultiIndex {
    return new MultiIndex({ facts, writer: facts, settings: this.cluster.settings, onFailure: () => undefined });
  }

  /** @param labels undefined: it is gone */
  namespace(name: string, labels: Labels | undefined = {}): this {
    this.cluster.namespace(name);
    this.index.changeNamespace(name, labels && { name, labels, problems: [] });
    return this;
  }

  nad(nad: SecondaryNad, isThere = true): this {
    const [namespace = '', name = ''] = nad.split('/');
    const { name: network, ...input } = SECONDARY_NETWORKS[nad];
    const full: NetworkInput = { ...input, role: 'secondary', namespace, nad: name };
    if (isThere) this.cluster.network(network, full);
    else this.facts.set('nad', nad, undefined);
    return this;
  }

  pod(key: string, pod: WorldPod | undefined): this {
    this.index.changePod(key, pod && worldPod(key, { node: pod.isLocal === false ? 'node2' : 'node1', ...pod }));
    return this;
  }

  /** @param policyFor its annotation; null: it has none */
  policy(key: string, policyFor: string | null, spec: unknown): this {
    const [namespace = '', name = ''] = key.split('/');
    const annotations = policyFor === null ? {} : { [POLICY_FOR_ANNOTATION]: policyFor };
    const metadata = { namespace, name, uid: `uid-${name}`, annotations };
    this.index.changePolicy(key, spec === undefined ? undefined : projectMultiPolicy({ metadata, ...{ spec } }));
    return this;
  }

  /** All facts that policies make. */
  made(): Readonly<Record<string, unknown>> {
    return madeOf(this.facts);
  }
}

export const madeOf = (facts: FactStore): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    MADE.flatMap((kind) => [...facts.ids(kind)].sort().map((id) => [`${kind} ${id}`, facts.get(kind, id)])),
  );

const MADE = [
  ...(['policyRule', 'peerSet', 'denyGroup', 'podPolicy', 'policyPeer', 'decidedPod', 'multiPolicies'] as const),
] satisfies readonly FactKind[];
