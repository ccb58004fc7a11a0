/** What a benchmark is given. */
import type { CniNode } from './cni/cni-node.ts';

export interface BenchContext {
  /** Aborts at Ctrl-C. */
  readonly signal: AbortSignal;
  /** Tells what is going on, for people. */
  readonly progress: (message: string) => void;
  /** Made when they are first asked for; they end with the run. */
  readonly smallNode: () => Promise<CniNode>;
  /** It knows of 1,000 networks and has a part of one. */
  readonly viewNode: () => Promise<CniNode>;
  /** It has a part of 1,000 networks. */
  readonly largeNode: () => Promise<CniNode>;
}
