/** Nodes as peers: which addresses a selector of nodes means. Labels of nodes are read here and become no fact. */
import type { ClusterConfig } from '../../../../api/cluster-config.ts';
import type { Labels } from '../../../../api/label-selector.ts';
import { addressOf } from '../../../../net/cidr.ts';
import type { Ip } from '../../../../net/ip.ts';
import type { FactStore } from '../../../model/fact-store.ts';
import type { TrackedView } from '../../../model/tracked-view.ts';
import { type NodeRanges, nodeRanges } from '../../node-ranges.ts';
import { type CanonicalSelector, isSelected } from '../canonical-selector.ts';
import { Watched } from '../watched.ts';

export interface PolicyNode {
  readonly labels: Labels;
  /** Of its status, as the API has them for peers. */
  readonly ips: readonly Ip[];
}

interface NodePeersOptions {
  readonly facts: FactStore;
  readonly view: TrackedView;
  readonly cluster: ClusterConfig;
  /** By a fact, other addresses belong to the selectors that select this node. */
  readonly onChange: (node: PolicyNode) => void;
}

interface KnownNode {
  node: PolicyNode;
  readonly hostAddresses: Watched<readonly Ip[]>;
}

export class NodePeers {
  readonly #options: NodePeersOptions;
  readonly #ranges: NodeRanges;
  readonly #nodes = new Map<string, KnownNode>();

  constructor(options: NodePeersOptions) {
    this.#options = options;
    this.#ranges = nodeRanges(options.cluster);
  }

  /**
   * @param after undefined when the node is gone
   * @returns the node as it was and as it is: other addresses belong to the selectors that select one of them
   */
  change(name: string, after: PolicyNode | undefined): readonly PolicyNode[] {
    const known = this.#nodes.get(name);
    const before = known?.node;
    if (after === undefined) {
      known?.hostAddresses.stop();
      this.#nodes.delete(name);
    } else if (known === undefined) this.#nodes.set(name, { node: after, hostAddresses: this.#watch(name) });
    else known.node = after;
    return [before, after].filter((node) => node !== undefined);
  }

  /** Of nodes that one of the selectors selects, sorted. What is in the cluster's own ranges is no node's, whatever it says. */
  addressesOf(selectors: readonly CanonicalSelector[]): readonly Ip[] {
    const found = new Set<Ip>();
    for (const { node, hostAddresses } of this.#nodes.values()) {
      if (!selectors.some((selector) => isSelected(selector, node.labels))) continue;
      for (const ip of hostAddresses.value) found.add(ip);
      for (const ip of node.ips) if (this.#ranges.refusalOf(ip) === undefined) found.add(ip);
    }
    return [...found].sort();
  }

  #watch(name: string): Watched<readonly Ip[]> {
    const { facts, view, onChange } = this.#options;
    return new Watched(
      facts,
      view,
      (known) => known.hostAddresses(name).map(addressOf),
      () => {
        const node = this.#nodes.get(name)?.node;
        if (node !== undefined) onChange(node);
      },
    );
  }
}
