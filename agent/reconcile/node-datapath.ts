/** The backends of this node that are no databases: the gateway bridge's flows, the host's network stack, nftables. */
import type { Clock } from '../../base/clock.ts';
import type { Backend } from '../../datapath/backend.ts';
import { type HostItem, hostItemKey } from '../../datapath/host/types.ts';
import { type NftItem, nftItemKey } from '../../datapath/nftables/types.ts';
import { type BridgeItem, bridgeItemKey } from '../../datapath/openflow/types.ts';
import type { Sinks } from '../desired/engine.ts';
import { type LoopObservation, ReconcileLoop } from './reconcile-loop.ts';

export const DATAPATH_BACKENDS = ['openflow', 'host', 'nftables'] as const;
export type DatapathBackend = (typeof DATAPATH_BACKENDS)[number];

export interface Backends {
  readonly openflow: Backend<BridgeItem>;
  readonly host: Backend<HostItem>;
  readonly nftables: Backend<NftItem>;
}

export interface NodeDatapathOptions {
  readonly backends: Backends;
  readonly clock: Clock;
  readonly observe: (backend: DatapathBackend, observation: LoopObservation) => void;
}

export class NodeDatapath {
  readonly openflow: ReconcileLoop<BridgeItem>;
  readonly host: ReconcileLoop<HostItem>;
  readonly nftables: ReconcileLoop<NftItem>;

  constructor({ backends, clock, observe }: NodeDatapathOptions) {
    const common = (name: DatapathBackend) => ({
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

  /** To be called when the whole desired state is known: owned state that is not desired is removed from then on. */
  start(): void {
    for (const name of DATAPATH_BACKENDS) this[name].start();
  }

  /**
   * Calls back when no flows are being written. Whoever is to change OVS ports asks first: ovs-vswitchd looks at all
   * of its ports again then, and answers nobody meanwhile.
   */
  afterFlows(callback: () => void): void {
    this.openflow.afterWrites(callback);
  }

  /** What is there stays. */
  async stop(): Promise<void> {
    await Promise.all(DATAPATH_BACKENDS.map((name) => this[name].stop()));
  }

  /** Called after each look at a backend, with the owners whose status has changed. @returns what ends it */
  onLook(listener: (owners: ReadonlySet<string>) => void): () => void {
    const ends = DATAPATH_BACKENDS.map((name) =>
      this[name].onLook((changed) => listener(new Set([...changed].flatMap((key) => this[name].store.ownersOf(key))))),
    );
    return () => {
      for (const end of ends) end();
    };
  }
}
