/** Nodes that come, change and go, as peers of administrators' policies. A change that fails is told again, with all that rules may still have. */
import type { AdminFailures } from './admin-failures.ts';
import { NodePeers, type NodePeersOptions, type PolicyNode } from './node-peers.ts';

interface NodeChangesOptions extends Omit<NodePeersOptions, 'onChange' | 'onFailure'> {
  readonly failures: AdminFailures;
  /** Policies about one of these have other rules now. */
  readonly mark: (nodes: readonly PolicyNode[]) => void;
  /** Facts changed that policies depend on. */
  readonly settle: () => void;
}

export class NodeChanges {
  readonly peers: NodePeers;
  readonly #options: NodeChangesOptions;

  constructor(options: NodeChangesOptions) {
    const { failures, mark, settle } = options;
    this.#options = options;
    this.peers = new NodePeers({
      ...options,
      onChange: (node) => {
        mark([node]);
        settle();
      },
      onFailure: (name, { error }) => {
        const node = this.peers.get(name);
        failures.addNode(name, { before: optional(node), after: node }, error);
      },
    });
  }

  /** Undefined when the node is gone. What throws leaves rules as they are. */
  change(name: string, after: PolicyNode | undefined): void {
    const { failures, mark } = this.#options;
    const before = new Set([...failures.deleteNode(name), ...optional(this.peers.get(name))]);
    try {
      this.peers.change(name, after);
      mark([...before, ...optional(after)]);
    } catch (error) {
      failures.addNode(name, { before: [...before], after }, error);
    }
  }

  stop(): void {
    this.peers.stop();
  }
}

const optional = <T>(one: T | undefined): readonly T[] => (one === undefined ? [] : [one]);
