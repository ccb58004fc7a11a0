/** Nodes as peers: which addresses a selector of nodes means. Labels of nodes are read here and become no fact. */
import type { ClusterConfig } from '../../../../api/cluster-config.ts';
import type { Labels } from '../../../../api/label-selector.ts';
import { addressOf } from '../../../../net/cidr.ts';
import { type Family, type Ip, ipFamily } from '../../../../net/ip.ts';
import type { FactStore } from '../../../model/fact-store.ts';
import type { TrackedView } from '../../../model/tracked-view.ts';
import { type NodeRanges, nodeRanges } from '../../node-ranges.ts';
import { type CanonicalSelector, isSelected } from '../canonical-selector.ts';
import { type ReadFailure, Watched } from '../watched.ts';
import { managementPeers } from './management-peers.ts';
import type { AdminTemplate } from './templates.ts';

export interface PolicyNode {
  readonly labels: Labels;
  /** Of its status, as the API has them for peers. */
  readonly ips: readonly Ip[];
}

export interface NodePeersOptions {
  readonly facts: FactStore;
  readonly view: TrackedView;
  readonly cluster: ClusterConfig;
  /** By a fact, other addresses belong to the selectors that select this node. */
  readonly onChange: (node: PolicyNode) => void;
  /** Those that it has by a fact are not known. */
  readonly onFailure: (name: string, failure: ReadFailure) => void;
}

interface KnownNode {
  readonly node: PolicyNode;
  /** Those of `node` that can be a node's. */
  readonly ips: readonly Ip[];
  readonly hostAddresses: Watched<readonly Ip[]>;
}

export class NodePeers {
  readonly #options: NodePeersOptions;
  readonly #ranges: NodeRanges;
  readonly #nodes = new Map<string, KnownNode>();
  /** By texts of selectors and by family, until a node changes: many policies select the same nodes. */
  readonly #found = new Map<string, readonly Ip[]>();

  constructor(options: NodePeersOptions) {
    this.#options = options;
    this.#ranges = nodeRanges(options.cluster);
  }

  /** Other addresses belong to selectors that select the node as it was, or as it is. @param after undefined when the node is gone */
  change(name: string, after: PolicyNode | undefined): void {
    const known = this.#nodes.get(name);
    this.#found.clear();
    if (after === undefined) {
      known?.hostAddresses.stop();
      this.#nodes.delete(name);
    } else {
      // What is in the cluster's own ranges is no node's, whatever it says.
      const ips = after.ips.filter((ip) => this.#ranges.refusalOf(ip) === undefined);
      const isKept = known !== undefined && known.hostAddresses.failure === undefined;
      const hostAddresses = isKept ? known.hostAddresses : this.#watch(name);
      if (!isKept) known?.hostAddresses.stop();
      this.#nodes.set(name, { node: after, ips, hostAddresses });
    }
  }

  get(name: string): PolicyNode | undefined {
    return this.#nodes.get(name)?.node;
  }

  stop(): void {
    for (const { hostAddresses } of this.#nodes.values()) hostAddresses.stop();
  }

  /** Of nodes that one of the selectors selects, sorted. */
  addressesOf(selectors: readonly CanonicalSelector[], family: Family): readonly Ip[] {
    const key = JSON.stringify([family, ...selectors.map(({ text }) => text)]);
    const known = this.#found.get(key);
    if (known !== undefined) return known;
    const ips = new Set(this.#selected(selectors).flatMap(([, node]) => [...node.hostAddresses.value, ...node.ips]));
    const found = [...ips].filter((ip) => ipFamily(ip) === family).sort();
    this.#found.set(key, found);
    return found;
  }

  /** Those that the same nodes have on a network. @param onChange by a fact these are others now */
  watchManagement(
    selectors: readonly CanonicalSelector[],
    network: string,
    onChange: () => void,
  ): Watched<readonly Ip[]> {
    const { facts, view } = this.#options;
    const names = this.#selected(selectors).map(([name]) => name);
    return new Watched(facts, view, (known) => managementPeers(names, network, known), onChange);
  }

  #selected(selectors: readonly CanonicalSelector[]): [name: string, node: KnownNode][] {
    return [...this.#nodes].filter(([, { node }]) => selectors.some((selector) => isSelected(selector, node.labels)));
  }

  #watch(name: string): Watched<readonly Ip[]> {
    const { facts, view, onChange, onFailure } = this.#options;
    return new Watched(
      facts,
      view,
      (known) => known.hostAddresses(name).map(addressOf),
      (failure) => {
        this.#found.clear();
        if (failure !== undefined) {
          onFailure(name, failure);
          return;
        }
        const node = this.#nodes.get(name)?.node;
        if (node !== undefined) onChange(node);
      },
    );
  }
}

/** That rules have, each once: many rules have the same. */
export const nodeSelectors = (templates: readonly AdminTemplate[]): readonly CanonicalSelector[] => {
  const found = new Map<string, CanonicalSelector>();
  for (const { peers } of templates)
    for (const peer of peers)
      if (peer.kind === 'nodes') for (const selector of peer.selectors) found.set(selector.text, selector);
  return [...found.values()];
};

/** Whether one of the selectors means one of these nodes. */
export const isAboutNodes = (selectors: readonly CanonicalSelector[], nodes: readonly PolicyNode[]): boolean =>
  selectors.some((selector) => nodes.some(({ labels }) => isSelected(selector, labels)));
