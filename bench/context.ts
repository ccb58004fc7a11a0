/** What a benchmark is given. */
import type { CniNode } from './cni/cni-node.ts';
import type { Fleet } from './control/fleet.ts';
import type { WholeNode } from './datapath/whole-node.ts';
import type { BenchResult } from './report/result.ts';
import type { Measure } from './runs.ts';

/** What several benchmarks use. */
export type SharedName = 'small node' | 'view node' | 'large node' | 'few networks' | 'many networks' | 'fleet';

export interface BenchContext {
  /** Aborts at Ctrl-C. */
  readonly signal: AbortSignal;
  /** Reports progress, for people. */
  readonly progress: (message: string) => void;
  /** Measures as often as there are runs, on what is prepared before. @returns see `eachRun` */
  readonly eachRun: (measure: Measure) => Promise<BenchResult[]>;
  /** Made when they are first asked for; they end with the last benchmark that shares them. */
  readonly smallNode: () => Promise<CniNode>;
  /** It knows of 1,000 networks and has a part of one. */
  readonly viewNode: () => Promise<CniNode>;
  /** It has a part of 1,000 networks. */
  readonly largeNode: () => Promise<CniNode>;
  /** With the agent's parts and few networks, and with many; northd and ovn-controller stand still. */
  readonly fewNetworks: () => Promise<WholeNode>;
  readonly manyNetworks: () => Promise<WholeNode>;
  /** A real API server with 1,000 tenants. */
  readonly fleet: () => Promise<Fleet>;
}
