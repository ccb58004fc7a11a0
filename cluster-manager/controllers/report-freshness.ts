/**
 * Which reports still count. An agent renews its report; one that has not done so for as long as the report promises has
 * stopped, hangs, or does not reach the API server. As with a Lease, our own clock decides, from when we saw the renewal: clocks of
 * nodes need not agree. Only what is there at the start counts from the time that it says itself, or a restart would take
 * all nodes for alive.
 */
import { onAbort } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import type { Change } from '../../kube/reflector/types.ts';
import type { ReportFacts } from '../facts/report-facts.ts';

export interface ReportFreshness {
  /** Of each change of a report, also of those that are there at the start. */
  follow(change: Change<ReportFacts>): void;
  isStale(node: string): boolean;
}

interface Renewal {
  due: number;
  readonly cancel: () => void;
}

export interface FreshnessOptions {
  readonly clock: Clock;
  /** The report of the node has become stale, or counts again. */
  readonly onChange: (node: string) => void;
}

export const createReportFreshness = ({ clock, onChange }: FreshnessOptions, signal: AbortSignal): ReportFreshness => {
  const renewals = new Map<string, Renewal>();
  const stale = new Set<string>();

  const forget = (node: string): void => {
    renewals.get(node)?.cancel();
    renewals.delete(node);
  };
  /** One timer for each node, which looks when it is due: renewals are frequent, and none sets a timer. */
  const watch = (node: string, due: number): void => {
    const cancel = clock.schedule(Math.max(0, due - clock.monotonic()), () => {
      const now = renewals.get(node)?.due ?? 0;
      if (now > clock.monotonic()) return watch(node, now);
      renewals.delete(node);
      stale.add(node);
      onChange(node);
    });
    renewals.set(node, { due, cancel });
  };
  onAbort(signal, () => [...renewals.keys()].forEach(forget));

  return {
    isStale: (node) => stale.has(node),
    follow: ({ key, before, after }) => {
      if (after?.renewal === undefined || signal.aborted) {
        forget(key);
        stale.delete(key);
        return;
      }
      const { at, leaseMs } = after.renewal;
      if (before?.renewal?.at === at) return;
      if (before === undefined && at + leaseMs < clock.wall()) {
        stale.add(key);
        return;
      }
      const known = renewals.get(key);
      const due = clock.monotonic() + leaseMs;
      if (known === undefined) watch(key, due);
      else known.due = due;
      if (stale.delete(key)) onChange(key);
    },
  };
};
