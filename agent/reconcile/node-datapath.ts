/** The places of this node that are no databases: the gateway bridge's flows, the host's network stack, nftables. */
import type { Clock } from '../../base/clock.ts';
import type { Backend } from '../../datapath/backend.ts';
import { type HostItem, hostItemKey } from '../../datapath/host/types.ts';
import { type NftItem, nftItemKey } from '../../datapath/nftables/types.ts';
import { type BridgeItem, bridgeItemKey } from '../../datapath/openflow/types.ts';
import type { Sinks } from '../desired/engine.ts';
import { type ItemProblem, type LoopObservation, ReconcileLoop } from './reconcile-loop.ts';

export const BACKEND_NAMES = ['openflow', 'host', 'nftables'] as const;
export type BackendName = (typeof BACKEND_NAMES)[number];

export interface Backends {
  readonly openflow: Backend<BridgeItem>;
  readonly host: Backend<HostItem>;
  readonly nftables: Backend<NftItem>;
}

export interface NodeDatapathOptions {
  readonly backends: Backends;
  readonly clock: Clock;
  readonly observe: (backend: BackendName, observation: LoopObservation) => void;
}

export class NodeDatapath {
  readonly openflow: ReconcileLoop<BridgeItem>;
  readonly host: ReconcileLoop<HostItem>;
  readonly nftables: ReconcileLoop<NftItem>;

  constructor({ backends, clock, observe }: NodeDatapathOptions) {
    const common = (name: BackendName) => ({
      clock,
      observe: (observation: LoopObservation) => observe(name, observation),
    });
    this.openflow = new ReconcileLoop({ ...common('openflow'), keyOf: bridgeItemKey, backend: backends.openflow });
    this.host = new ReconcileLoop({ ...common('host'), keyOf: hostItemKey, backend: backends.host });
    this.nftables = new ReconcileLoop({ ...common('nftables'), keyOf: nftItemKey, backend: backends.nftables });
  }

  get sinks(): Pick<Sinks, 'openflow' | 'host' | 'nftables'> {
    return { openflow: this.openflow.store, host: this.host.store, nftables: this.nftables.store };
  }

  /** To be called when everything that is wanted is known: what is ours and not wanted is removed from then on. */
  start(): void {
    for (const name of BACKEND_NAMES) this[name].start();
  }

  /**
   * Calls back when no flows are being written. Whoever is to change OVS ports asks first: ovs-vswitchd looks at all
   * of its ports again then, and answers nobody meanwhile.
   */
  afterFlows(callback: () => void): void {
    this.openflow.afterWrites(callback);
  }

  async whenIdle(signal: AbortSignal): Promise<void> {
    await Promise.all(BACKEND_NAMES.map((name) => this[name].whenIdle(signal)));
  }

  /** What is there stays. */
  async stop(): Promise<void> {
    await Promise.all(BACKEND_NAMES.map((name) => this[name].stop()));
  }

  /**
   * What is the matter with what an owner wants, the worst first. What this machine cannot have at all is not: it is a
   * matter of the node.
   */
  problemOf(owner: string): ItemProblem | undefined {
    let waiting: ItemProblem | undefined;
    for (const name of BACKEND_NAMES) {
      const { store, problems } = this[name];
      if (problems.size === 0) continue;
      for (const key of store.keysOf(owner)) {
        const problem = problems.get(key);
        if (problem?.kind === 'failed') return problem;
        if (problem?.kind === 'waiting') waiting ??= problem;
      }
    }
    return waiting;
  }

  /** The first place that has not been looked at since something changed of what an owner wants there. */
  unseenOf(owner: string): { readonly backend: BackendName; readonly because: string | undefined } | undefined {
    const backend = BACKEND_NAMES.find((name) => {
      const loop = this[name];
      return loop.queue().depth > 0 && [...loop.store.keysOf(owner)].some((key) => !loop.isLookedAt(key));
    });
    return backend && { backend, because: this[backend].queue().failing?.message };
  }

  /** Told after each look at a place, with the owners with whom something else is the matter. @returns what ends it */
  onLook(listener: (owners: ReadonlySet<string>) => void): () => void {
    const ends = BACKEND_NAMES.map((name) =>
      this[name].onLook((changed) => listener(new Set([...changed].flatMap((key) => this.ownersOf(name, key))))),
    );
    return () => {
      for (const end of ends) end();
    };
  }

  /** All that is not as it is wanted. */
  *problems(): Generator<{ readonly backend: BackendName; readonly key: string; readonly problem: ItemProblem }> {
    for (const backend of BACKEND_NAMES) {
      for (const [key, problem] of this[backend].problems) yield { backend, key, problem };
    }
  }

  /** How many things are in which state, of those that are not as wanted. */
  problemCounts(): { readonly backend: BackendName; readonly state: ItemProblem['kind']; readonly count: number }[] {
    return BACKEND_NAMES.flatMap((backend) =>
      (['failed', 'waiting', 'unsupported'] as const).map((state) => ({
        backend,
        state,
        count: this[backend].problemCounts[state],
      })),
    );
  }

  size(backend: BackendName): number {
    return this[backend].store.wanted.size;
  }

  /** Who wants a thing, the one that has its way first. */
  ownersOf(backend: BackendName, key: string): readonly string[] {
    return this[backend].store.ownersOf(key);
  }
}
