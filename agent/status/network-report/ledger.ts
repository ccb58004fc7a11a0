/**
 * What this node has of each network, ready to be reported. Pure: one network changes one entry; a report is made from all of
 * them, when one is to be written.
 */
import {
  MAX_EXCEPTIONS,
  MAX_MESSAGE,
  MAX_REPORTED_NAME,
  type NetworkException,
  type NetworkState,
  type ReportStatus,
} from '../../../api/node-network-report.ts';
import { formatRanges, rangesOf } from '../../../net/id-ranges.ts';

/** A network that this node is to have. */
export interface NetworkOnNode {
  readonly id: number;
  /** Of the NAD that defines it, as the API writes times; empty: of the default network. */
  readonly createdAt: string;
  readonly state: NetworkState;
  /** A message; of what is not ready. */
  readonly message?: string | undefined;
}

/** What is said of ids of networks that are gone. */
export interface ReportedIds {
  /** The last retirement that was seen; undefined: it is not known yet what is left of those before. */
  readonly retirement: number | undefined;
  /** Something of them is left. */
  readonly leaving: readonly number[];
}

const NO_RETIREMENT: ReportedIds = { retirement: undefined, leaving: [] };

interface Entry extends NetworkOnNode {
  readonly since: string;
}

export class ReportLedger {
  readonly #entries = new Map<string, Entry>();
  readonly #unready = new Map<string, Entry>();
  /** From an earlier report: a network that is still in that state has been since then. */
  readonly #earlier: Map<string, NetworkException>;

  constructor(earlier: readonly NetworkException[] = []) {
    this.#earlier = new Map(earlier.map((one) => [one.network, one]));
  }

  get isAllReady(): boolean {
    return this.#unready.size === 0;
  }

  /** Networks that are not ready. */
  get unready(): Iterable<string> {
    return this.#unready.keys();
  }

  /** @param seen undefined: this node is not to have the network @param now as the API writes times */
  set(network: string, seen: NetworkOnNode | undefined, now: string): void {
    const before = this.#entries.get(network) ?? this.#earlier.get(network);
    this.#earlier.delete(network);
    this.#unready.delete(network);
    if (seen === undefined) {
      this.#entries.delete(network);
      return;
    }
    const entry = { ...seen, since: before?.state === seen.state ? before.since : now };
    this.#entries.set(network, entry);
    if (seen.state !== 'Ready') this.#unready.set(network, entry);
  }

  /** The same entries give the same report. */
  status(rendering: ReportStatus['rendering'], { retirement, leaving }: ReportedIds = NO_RETIREMENT): ReportStatus {
    const ids: Record<NetworkState, number[]> = { Ready: [], Pending: [], Failed: [] };
    let observed = '';
    for (const { id, state, createdAt } of this.#entries.values()) {
      ids[state].push(id);
      if (createdAt > observed) observed = createdAt;
    }
    const left = textOf(leaving);
    const { Ready: ready, Pending: pending, Failed: failed } = ids;
    return {
      rendering,
      ...(observed !== '' && { observed }),
      ...(retirement !== undefined && { retirement }),
      networks: { ready: ready.length, pending: pending.length, failed: failed.length },
      ids: {
        ready: textOf(ready),
        pending: textOf(pending),
        failed: textOf(failed),
        ...(left !== '' && { leaving: left }),
      },
      ...(this.#unready.size > 0 && { exceptions: this.#exceptions() }),
    };
  }

  /** A name for which there is no room must not keep the report from being taken: its id is there. */
  #exceptions(): NetworkException[] {
    return [...this.#unready]
      .filter(([network]) => network.length <= MAX_REPORTED_NAME)
      .map(([network, { state, message = UNWRITTEN, since }]) => ({
        network,
        state: state === 'Failed' ? ('Failed' as const) : ('Pending' as const),
        message: shortened(message),
        since,
      }))
      .sort((a, b) => compare(orderOf(a), orderOf(b)))
      .slice(0, MAX_EXCEPTIONS);
  }
}

const UNWRITTEN = 'it is being written';

const textOf = (ids: readonly number[]): string => formatRanges(rangesOf(ids));

const orderOf = ({ state, since, network }: NetworkException): string => `${state} ${since} ${network}`;

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** As long as a report takes it. */
export const shortened = (message: string): string =>
  message.length <= MAX_MESSAGE ? message : `${message.slice(0, MAX_MESSAGE - 4)} ...`;
