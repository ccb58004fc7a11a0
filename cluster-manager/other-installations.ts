/**
 * One installation of a cluster works. Two of them have Leases in two namespaces, so that no election excludes one: the one whose
 * instance leads for longer works, the other waits, and is not ready.
 */
import type { Logger } from 'pino';
import { type Clock, delay } from '../base/clock.ts';
import { isForbidden } from '../kube/errors.ts';
import { type LeaseRecord, readLease } from '../kube/lease/lease-record.ts';
import { LEASES } from '../kube/resources.ts';
import type { KubeClient } from '../kube/types.ts';

export interface OtherInstallationsOptions {
  readonly client: Pick<KubeClient, 'list'>;
  readonly lease: { readonly namespace: string; readonly name: string };
  readonly clock: Clock;
  readonly log: Logger;
  /** Why this one waits; undefined: it does not any more. */
  readonly onWaiting: (reason: string | undefined) => void;
}

/** As candidates of an election do. */
const WAITING_MS = 2_000;
/** While it works: only clocks that do not agree let an older one come. */
const WORKING_MS = 10_000;

/**
 * Does the work once no other installation works.
 * @throws when an older one comes meanwhile; what the work throws
 */
export const whileSole = async (
  options: OtherInstallationsOptions,
  work: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> => {
  const others = new OtherInstallations(options);
  await others.whenGone(signal);
  if (signal.aborted) return;
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const watching = others.whenOneWorks(either).then((reason) => {
    if (reason === undefined) return;
    stop.abort();
    throw new Error(reason);
  });
  try {
    await work(either);
  } finally {
    stop.abort();
    // Its error explains every other one.
    await watching;
  }
};

class OtherInstallations {
  readonly #options: OtherInstallationsOptions;
  /** Namespace → when its Lease was renewed last, as it was seen: clocks need not agree. */
  readonly #renewed = new Map<string, string>();
  #isBlind = false;

  constructor(options: OtherInstallationsOptions) {
    this.#options = options;
  }

  async whenGone(signal: AbortSignal): Promise<void> {
    const { clock, log, onWaiting } = this.#options;
    let said: string | undefined;
    while (!signal.aborted) {
      const found = await this.#look(signal);
      const reason = found === 'unsure' ? said : found;
      if (reason !== said) {
        onWaiting(reason);
        if (reason !== undefined) log.error({ reason }, 'waiting for another installation');
      }
      said = reason;
      if (found === undefined) return;
      await delay(clock, WAITING_MS, signal).catch(() => {});
    }
  }

  /** @returns why this one has to end; undefined when the signal has aborted */
  async whenOneWorks(signal: AbortSignal): Promise<string | undefined> {
    while (!signal.aborted) {
      await delay(this.#options.clock, WORKING_MS, signal).catch(() => {});
      if (signal.aborted) return undefined;
      const found = await this.#look(signal);
      if (found !== undefined && found !== 'unsure') return found;
    }
    return undefined;
  }

  /** @returns which one works; `unsure` when that is to be seen by the next look, or the API server did not answer */
  async #look(signal: AbortSignal): Promise<string | 'unsure' | undefined> {
    const { client, clock, log, lease } = this.#options;
    try {
      const { items } = await client.list(LEASES, { fieldSelector: `metadata.name=${lease.name}` }, signal);
      const leases = items.map((item) => ({ namespace: item.metadata.namespace ?? '', record: readLease(item) }));
      const own = leases.find(({ namespace }) => namespace === lease.namespace)?.record;
      let isUnsure = false;
      for (const { namespace, record } of leases) {
        if (namespace === lease.namespace || record.holder === '') continue;
        const before = this.#renewed.get(namespace);
        if (record.renewTime !== undefined) this.#renewed.set(namespace, record.renewTime);
        if (!isOlder({ namespace, record }, { namespace: lease.namespace, record: own })) continue;
        if (isCurrent(record, clock.wall()) || (before !== undefined && before !== record.renewTime))
          return this.#reason(namespace, record);
        isUnsure ||= before === undefined;
      }
      return isUnsure ? 'unsure' : undefined;
    } catch (error) {
      if (signal.aborted) return 'unsure';
      if (!isForbidden(error)) {
        log.warn({ err: error }, 'lease not reachable');
        return 'unsure';
      }
      // Roles of an earlier version: better one that works than none.
      if (!this.#isBlind) log.warn({ err: error }, 'other installations cannot be looked for');
      this.#isBlind = true;
      return undefined;
    }
  }

  #reason(namespace: string, { holder }: LeaseRecord): string {
    const { lease } = this.#options;
    return `another installation works in this cluster: ${holder} holds the Lease ${namespace}/${lease.name}. Uninstall one of them: both would allocate subnets and addresses`;
  }
}

interface Held {
  readonly namespace: string;
  readonly record: LeaseRecord | undefined;
}

/** Both come to the same answer. One that works without a Lease has no time, and is the younger one. */
const isOlder = (a: Held, b: Held): boolean => {
  const [timeOfA, timeOfB] = [a, b].map(({ record }) => Date.parse(record?.acquireTime ?? '') || Number.MAX_VALUE);
  if (timeOfA === undefined || timeOfB === undefined || timeOfA === timeOfB) return a.namespace < b.namespace;
  return timeOfA < timeOfB;
};

const isCurrent = ({ renewTime, durationMs }: LeaseRecord, now: number): boolean =>
  renewTime === undefined || Date.parse(renewTime) + durationMs >= now;
