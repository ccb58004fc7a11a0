/**
 * Which reports still count. An agent renews its report; one that has not done so for as long as the report promises has
 * stopped, hangs, or does not reach the API server. As with a Lease, our own clock decides, from when we saw the renewal: clocks of
 * nodes need not agree. Only what is there at the start counts from the time that it says itself, or a restart would take
 * all nodes for alive. Of such a one nothing is claimed on its Node before we have heard nothing of it for as long ourselves.
 * While the API server is away nobody can renew anything: a report counts for its full time after the server is back.
 */
import { onAbort } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import type { Outage } from '../../kube/outage.ts';
import type { Change } from '../../kube/reflector/types.ts';
import type { ReportFacts } from '../facts/report-facts.ts';

export interface ReportFreshness {
  /** Of each change of a report, also of those that are there at the start. */
  follow(change: Change<ReportFacts>): void;
  isStale(node: string): boolean;
  /**
   * We have heard nothing for as long ourselves: the agent has stopped, whatever clocks say. Where the server turns out to have been away
   * meanwhile, it is not yet, and `onSilent` comes again when it is.
   */
  isSilent(node: string): boolean;
}

interface Renewal {
  due: number;
  leaseMs: number;
  /** It was not renewed in time. */
  isOver: boolean;
  readonly cancel: () => void;
}

export interface FreshnessOptions {
  readonly clock: Clock;
  readonly outage?: Pick<Outage, 'since' | 'endedAt'> | undefined;
  /** The report of the node has become stale, or counts again. */
  readonly onChange: (node: string) => void;
  /** `isSilent` of the node, from now on. */
  readonly onSilent?: (node: string) => void;
}

export const createReportFreshness = (
  { clock, outage, onChange, onSilent = () => undefined }: FreshnessOptions,
  signal: AbortSignal,
): ReportFreshness => {
  const renewals = new Map<string, Renewal>();
  const stale = new Set<string>();

  const forget = (node: string): void => {
    renewals.get(node)?.cancel();
    renewals.delete(node);
  };
  /** One timer for each node, which looks when it is due: renewals are frequent, and none sets a timer. */
  const watch = (node: string, due: number, leaseMs: number): void => {
    const cancel = clock.schedule(Math.max(0, due - clock.monotonic()), () => {
      const known = renewals.get(node);
      if (known === undefined) return;
      const now = Math.max(known.due, clock.monotonic() + withheldMs(known.leaseMs));
      if (now > clock.monotonic()) return watch(node, now, known.leaseMs);
      known.isOver = true;
      if (!stale.has(node)) {
        stale.add(node);
        onChange(node);
      }
      onSilent(node);
    });
    renewals.set(node, { due, leaseMs, isOver: false, cancel });
  };
  /** How long an agent that could not reach the server has to be given. */
  const withheldMs = (leaseMs: number): number => {
    const since = outage?.since === undefined ? outage?.endedAt : clock.wall();
    return since === undefined ? 0 : Math.max(0, Math.min(leaseMs, since + leaseMs - clock.wall()));
  };
  onAbort(signal, () => [...renewals.keys()].forEach(forget));

  return {
    isStale: (node) => stale.has(node),
    isSilent: (node) => {
      const known = renewals.get(node);
      if (known === undefined || !known.isOver || !stale.has(node)) return false;
      const inMs = withheldMs(known.leaseMs);
      if (inMs > 0) watch(node, clock.monotonic() + inMs, known.leaseMs);
      return inMs === 0;
    },
    follow: ({ key, before, after }) => {
      if (after?.renewal === undefined || signal.aborted) {
        forget(key);
        stale.delete(key);
        return;
      }
      const { at, leaseMs } = after.renewal;
      if (before?.renewal?.at === at) return;
      const known = renewals.get(key);
      const due = clock.monotonic() + leaseMs;
      if (known === undefined || known.isOver) watch(key, due, leaseMs);
      else Object.assign(known, { due, leaseMs });
      if (before === undefined && at + leaseMs < clock.wall()) stale.add(key);
      else if (stale.delete(key)) onChange(key);
    },
  };
};
