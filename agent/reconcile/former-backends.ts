/**
 * Makes OVS' datapath forget the connections of UDP to endpoints that a Service no longer has, once more. ovn-controller does when
 * it has changed the flows (`ct_flush`), but the datapath goes by cached flows until its revalidators have looked at them, and a
 * client that sends meanwhile, from one port, is led to the former endpoint for as long as it goes on. Nor does an ovn-controller
 * that was away meanwhile know what it would have to forget. What the kernel remembers is of `ServiceConnections`.
 *
 * And those to an address and port before a Service had them: a connection that began untranslated is never translated (only the
 * first packet is, `ct.new`), and a client that goes on to send would not reach the Service for as long. As a translation, it is one
 * to the address and port itself.
 */
import type { Clock } from '../../base/clock.ts';
import type { Conntrack } from '../../datapath/conntrack/conntrack.ts';
import type { Translation, TranslationReader } from '../../datapath/conntrack/translations.ts';
import type { RowChange } from '../../ovsdb/replica/row.ts';

export interface FormerBackendsOptions {
  readonly conntrack: Pick<Conntrack, 'whenRevalidated' | 'flushTranslation'> & TranslationReader;
  /** Resolves when ovn-controller has made flows of the northbound database as it is now. @throws Error when it does not answer */
  readonly whenInstalled: (signal: AbortSignal) => Promise<void>;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

const RETRY_MS = 10_000;

/** Each is a program that goes through all connections; of more, one program first lists which there are. */
const FEW = 4;

/** One wait for all that went meanwhile. */
export class FormerBackends {
  readonly #options: FormerBackendsOptions;
  readonly #stop = new AbortController();
  #former = new Map<string, Translation>();
  #isBusy = false;
  #cancelRetry: (() => void) | undefined;

  constructor(options: FormerBackendsOptions) {
    this.#options = options;
  }

  /** @param changes of the northbound database, of any tables */
  changed(changes: readonly RowChange[]): void {
    for (const { table, before, after } of changes) {
      if (table !== 'Load_Balancer') continue;
      const [former, current] = [translationsOf(before), translationsOf(after)];
      for (const [key, one] of former) if (!current.has(key)) this.#former.set(key, one);
      // It may be back before it was forgotten.
      for (const key of current.keys()) this.#former.delete(key);
      for (const [key, one] of untranslated(former, current)) this.#former.set(key, one);
    }
    if (this.#former.size > 0 && !this.#isBusy && this.#cancelRetry === undefined) void this.#forget();
  }

  stop(): void {
    this.#stop.abort();
    this.#cancelRetry?.();
  }

  async #forget(): Promise<void> {
    const { signal } = this.#stop;
    this.#isBusy = true;
    this.#cancelRetry = undefined;
    try {
      while (this.#former.size > 0 && !signal.aborted) await this.#forgetAll(signal);
    } catch (error) {
      if (!signal.aborted) {
        this.#options.onError(error);
        this.#cancelRetry = this.#options.clock.schedule(RETRY_MS, () => void this.#forget());
      }
    }
    this.#isBusy = false;
  }

  async #forgetAll(signal: AbortSignal): Promise<void> {
    const { conntrack, whenInstalled } = this.#options;
    const former = new Map(this.#former);
    await whenInstalled(signal);
    await conntrack.whenRevalidated(signal);
    const all = [...former].flatMap(([key, one]) => (this.#former.get(key) === one ? [one] : []));
    const found = all.length > FEW ? await conntrack.translations(all, signal) : all;
    for (const one of found) await conntrack.flushTranslation(one, signal);
    // What came back and went again meanwhile is another: its flows are newer than this wait.
    for (const [key, one] of former) if (this.#former.get(key) === one) this.#former.delete(key);
  }
}

/** Of a row of Load_Balancer whose connections are to be forgotten (ovn-nb(5), `ct_flush`); of any other, none. */
const translationsOf = (row: RowChange['before']): ReadonlyMap<string, Translation> => {
  const { protocol, options, vips } = (row ?? {}) as {
    readonly protocol?: string;
    readonly options?: Readonly<Record<string, string>>;
    readonly vips?: Readonly<Record<string, string>>;
  };
  if (protocol !== 'udp' || options?.['ct_flush'] !== 'true') return NONE;
  return new Map(
    Object.entries(vips ?? {}).flatMap(([vip, backends]) =>
      backends
        .split(',')
        .filter((backend) => backend !== '')
        .map((backend) => [`${vip} ${backend}`, { vip, backend }] as const),
    ),
  );
};

/** To VIPs that nobody answered, and somebody does. */
const untranslated = (
  former: ReadonlyMap<string, Translation>,
  current: ReadonlyMap<string, Translation>,
): ReadonlyMap<string, Translation> => {
  if (current.size === 0) return NONE;
  const known = new Set([...former.values()].map(({ vip }) => vip));
  return new Map(
    [...current.values()].flatMap(({ vip }) => (known.has(vip) ? [] : [[`${vip} ${vip}`, { vip, backend: vip }]])),
  );
};

const NONE: ReadonlyMap<string, Translation> = new Map();
