/**
 * Makes the datapath and the kernel forget the connections of networks that are gone, or not on this node any more, in the
 * background: nothing waits for it, and a network that cannot be forgotten now is tried again. One network after the other:
 * each is a dozen processes, which go through all connections that there are, and hundreds may go at once. What OVN itself
 * remembers of a network is in zones of ovn-controller, which flushes those of routers and ports that go.
 */
import { networkMasqueradeAddresses } from '../../api/masquerade.ts';
import { DEFAULT_NETWORK_NAME } from '../../api/names.ts';
import type { Conntrack } from '../../datapath/conntrack/conntrack.ts';
import type { Clock } from '../../kube/clock.ts';
import { DEFAULT_NETWORK_ID, MAX_NETWORKS, type NetworkId, parseNetworkId } from '../../net/ids.ts';
import type { FactStore } from '../model/fact-store.ts';
import { CT_ZONES, networkCtMark } from '../model/registry/marks.ts';
import type { LocalSettings } from '../model/view.ts';

export interface GoneNetworksOptions {
  readonly facts: FactStore;
  readonly settings: Pick<LocalSettings, 'cluster' | 'networkRendering'>;
  readonly conntrack: Pick<Conntrack, 'marks' | 'flushMark' | 'flushAddress'>;
  readonly clock: Clock;
  readonly onError: (network: string, error: unknown) => void;
}

const RETRY_MS = 10_000;

/** Also of those that went while nobody looked. @returns what ends it */
export const forgetGoneNetworks = (options: GoneNetworksOptions): (() => void) => {
  const { facts, settings, clock, onError } = options;
  const leavesUnused = settings.networkRendering === 'on-demand';
  const stop = new AbortController();
  const retries = new Map<NetworkId, () => void>();
  const ids = new Map<string, NetworkId>();
  for (const name of facts.ids('network')) {
    const id = facts.get('network', name)?.id;
    if (id !== undefined) ids.set(name, id);
  }
  /** Of networks that are here: what there is under such an id is theirs. */
  const kept = new Set<NetworkId>(ids.values());
  /** In the order in which they went. */
  const waiting = new Map<NetworkId, string>();
  let isBusy = false;

  const forget = (network: string, id: NetworkId): void => {
    waiting.set(id, network);
    if (!isBusy) void forgetWaiting();
  };
  const forgetWaiting = async (): Promise<void> => {
    isBusy = true;
    for (const [id, network] of waiting) {
      if (stop.signal.aborted) break;
      waiting.delete(id);
      await forgetOne(network, id);
    }
    isBusy = false;
  };
  const forgetOne = async (network: string, id: NetworkId): Promise<void> => {
    try {
      await flush(options, id, stop.signal);
    } catch (error) {
      if (stop.signal.aborted) return;
      onError(network, error);
      if (kept.has(id)) return;
      const again = (): void => {
        retries.delete(id);
        forget(network, id);
      };
      retries.set(id, clock.schedule(RETRY_MS, again));
    }
  };
  /** The id has a new owner, whose connections are none of ours to forget. */
  const keep = (id: NetworkId): void => {
    kept.add(id);
    waiting.delete(id);
    retries.get(id)?.();
    retries.delete(id);
  };
  const forgetStrangers = async (): Promise<void> => {
    try {
      const marks = await options.conntrack.marks(CT_ZONES.external, stop.signal);
      const strangers = networksOfMarks(marks.keys()).filter((id) => !kept.has(id));
      for (const id of strangers) forget(`with id ${id}`, id);
    } catch (error) {
      if (!stop.signal.aborted) onError('that was here before', error);
    }
  };
  void forgetStrangers();
  const unlisten = facts.listen((kind, network, present) => {
    const concerned = kind === 'network' || (kind === 'networkInUse' && leavesUnused);
    if (!concerned || network === DEFAULT_NETWORK_NAME) return;
    const id = facts.get('network', network)?.id ?? ids.get(network);
    if (id === undefined) return;
    if (present) {
      ids.set(network, id);
      keep(id);
    } else {
      if (kind === 'network') ids.delete(network);
      kept.delete(id);
      forget(network, id);
    }
  });
  return () => {
    stop.abort();
    unlisten();
    for (const cancel of retries.values()) cancel();
  };
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
