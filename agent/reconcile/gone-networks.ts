/**
 * What is left of networks that are gone, or not on this node any more, until nothing is: rows, flows, links and sets go first,
 * then the datapath and the kernel forget the connections, in the background. Until then the id of such a network is no other
 * network's on this node, and the node's report says so (ADR 63). What cannot be taken away or forgotten now is tried again. One
 * network after the other is forgotten: each is a dozen processes, which go through all connections that there are, and hundreds
 * may go at once. What OVN itself remembers of a network is in zones of ovn-controller, which flushes those of routers and ports
 * that go.
 */
import { networkMasqueradeAddresses } from '../../api/masquerade.ts';
import { DEFAULT_NETWORK_NAME } from '../../api/names.ts';
import type { Clock } from '../../base/clock.ts';
import type { Conntrack } from '../../datapath/conntrack/conntrack.ts';
import { DEFAULT_NETWORK_ID, MAX_NETWORKS, type NetworkId, parseNetworkId } from '../../net/ids.ts';
import type { FactStore } from '../model/fact-store.ts';
import { CT_ZONES, networkCtMark } from '../model/registry/marks.ts';
import type { LocalSettings } from '../model/view.ts';

export interface GoneNetworksOptions {
  readonly facts: FactStore;
  readonly settings: Pick<LocalSettings, 'cluster' | 'networkRendering'>;
  readonly conntrack: Pick<Conntrack, 'marks' | 'flushMark' | 'flushAddress'>;
  /** Resolves when nothing is programmed any more that no owner desires. @throws Error with what is left */
  readonly whenTakenAway: (signal: AbortSignal) => Promise<void>;
  readonly clock: Clock;
  readonly onError: (network: string, error: unknown) => void;
}

const RETRY_MS = 10_000;

export class GoneNetworks {
  readonly #options: GoneNetworksOptions;
  readonly #stop = new AbortController();
  readonly #unlisten: () => void;
  readonly #listeners = new Set<(id: NetworkId) => void>();
  /** Of networks that are here. */
  readonly #kept = new Map<string, NetworkId>();
  /** Of which something is left, by the name of the network that had it; in the order in which they went. */
  readonly #leaving = new Map<NetworkId, string>();
  #isKnown = false;
  #isBusy = false;
  #cancelRetry: (() => void) | undefined;

  constructor(options: GoneNetworksOptions) {
    this.#options = options;
    const { facts } = options;
    for (const name of facts.ids('network')) this.#keep(name);
    this.#unlisten = facts.listen((kind, network, present) => this.#changed(kind, network, present));
    this.#work();
  }

  /** All that was left by networks that went while nobody looked is known. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** Ids of networks that are gone of which something is left. */
  get leaving(): ReadonlyMap<NetworkId, string> {
    return this.#leaving;
  }

  /** Called when nothing is left of a network that had an id, and with 0 when `isKnown`. @returns what ends it */
  onGone(listener: (id: NetworkId) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  stop(): void {
    this.#stop.abort();
    this.#unlisten();
    this.#cancelRetry?.();
  }

  #changed(kind: string, network: string, present: boolean): void {
    const leavesUnused = this.#options.settings.networkRendering === 'on-demand';
    const concerned = kind === 'network' || (kind === 'networkInUse' && leavesUnused);
    if (!concerned || network === DEFAULT_NETWORK_NAME) return;
    if (present) {
      this.#keep(network);
      return;
    }
    const id = this.#kept.get(network);
    if (kind === 'network') this.#kept.delete(network);
    if (id !== undefined) this.#leave(id, network);
  }

  #keep(network: string): void {
    const id = this.#options.facts.get('network', network)?.id;
    if (id === undefined) return;
    this.#kept.set(network, id);
    // It is back. Another network with that id has to wait: what there is under it is not its own.
    if (this.#leaving.get(id) === network) this.#leaving.delete(id);
  }

  #leave(id: NetworkId, network: string): void {
    this.#leaving.delete(id);
    this.#leaving.set(id, network);
    this.#work();
  }

  #work(): void {
    if (this.#isBusy || this.#cancelRetry !== undefined || this.#stop.signal.aborted) return;
    this.#isBusy = true;
    void this.#takeAway().finally(() => {
      this.#isBusy = false;
    });
  }

  async #takeAway(): Promise<void> {
    const { clock } = this.#options;
    let isDone = true;
    do {
      // What goes at once goes together.
      await Promise.resolve();
      const batch = [...this.#leaving];
      const names = batch.length === 0 ? EARLIER : namesOf(batch.map(([, name]) => name));
      isDone = await this.#tryTo(names, () => this.#options.whenTakenAway(this.#stop.signal));
      if (isDone && !this.#isKnown) isDone = await this.#tryTo(EARLIER, () => this.#findStrangers());
      // What is back by its turn, or has gone once more meanwhile, is not what was taken away.
      for (const [id, network] of isDone ? batch : []) {
        if (this.#leaving.get(id) === network && !this.#stop.signal.aborted)
          isDone = (await this.#forget(id, network)) && isDone;
      }
    } while (isDone && this.#leaving.size > 0 && !this.#stop.signal.aborted);
    if (isDone || this.#stop.signal.aborted) return;
    this.#cancelRetry = clock.schedule(RETRY_MS, () => {
      this.#cancelRetry = undefined;
      this.#work();
    });
  }

  /** @returns whether that worked */
  async #tryTo(networks: string, work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#options.onError(networks, error);
      return false;
    }
  }

  async #forget(id: NetworkId, network: string): Promise<boolean> {
    const isDone = await this.#tryTo(network, () => flush(this.#options, id, this.#stop.signal));
    if (!isDone || this.#leaving.get(id) !== network) return isDone;
    this.#leaving.delete(id);
    this.#notify(id);
    return true;
  }

  /** Connections of networks that went while the agent was away. */
  async #findStrangers(): Promise<void> {
    const marks = await this.#options.conntrack.marks(CT_ZONES.external, this.#stop.signal);
    const kept = new Set(this.#kept.values());
    for (const id of networksOfMarks(marks.keys())) {
      if (!kept.has(id) && !this.#leaving.has(id)) this.#leaving.set(id, `with id ${id}`);
    }
    this.#isKnown = true;
    this.#notify(DEFAULT_NETWORK_ID);
  }

  #notify(id: NetworkId): void {
    for (const listener of this.#listeners) listener(id);
  }
}

/** Instead of the name of a network. */
const EARLIER = 'that was here before';
const MAX_NAMED = 10;

const namesOf = (networks: readonly string[]): string => {
  const others = networks.length > MAX_NAMED ? `, and ${networks.length - MAX_NAMED} others` : '';
  return `${networks.slice(0, MAX_NAMED).join(', ')}${others}`;
};

/** Of user-defined networks. */
const networksOfMarks = (marks: Iterable<number>): NetworkId[] =>
  [...marks].flatMap((mark) => {
    const id = mark - networkCtMark(DEFAULT_NETWORK_ID);
    return id > DEFAULT_NETWORK_ID && id < MAX_NETWORKS ? [parseNetworkId(id)] : [];
  });

const flush = async (
  { conntrack, settings }: Pick<GoneNetworksOptions, 'conntrack' | 'settings'>,
  id: NetworkId,
  signal: AbortSignal,
): Promise<void> => {
  const mark = networkCtMark(id);
  for (const zone of [CT_ZONES.external, CT_ZONES.hostMasquerade, CT_ZONES.ovnMasquerade]) {
    await conntrack.flushMark(zone, mark, signal);
  }
  for (const address of networkMasqueradeAddresses(settings.cluster, id, 'management') ?? []) {
    if (!(await conntrack.flushAddress(address, signal))) return;
  }
};
