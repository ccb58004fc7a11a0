/**
 * What an agent before this one has found, from the sets that it has left in the northbound database: an agent that starts does not empty
 * them before the first answers come.
 */
import type { Clock } from '../../base/clock.ts';
import { type Ip, parseIp } from '../../net/ip.ts';
import { DOMAIN_SET_TYPE } from '../model/policies/domain-rows.ts';
import { KEPT_MS } from './record.ts';

interface SetRow {
  readonly addresses: Iterable<string>;
  readonly external_ids: Readonly<Record<string, string>>;
}

interface KeptDomains {
  /** Addresses of a name, the first time and soon after the start; nothing otherwise: they are as old as the start, and may be another's by then. */
  take(name: string): readonly Ip[];
  close(): void;
}

export const takeKeptDomains = (sets: Iterable<SetRow>, clock: Pick<Clock, 'schedule'>): KeptDomains => {
  const kept = new Map(keptDomains(sets));
  const cancel = clock.schedule(KEPT_MS, () => kept.clear());
  return {
    take: (name) => {
      const ips = kept.get(name) ?? [];
      kept.delete(name);
      return ips;
    },
    close: cancel,
  };
};

/** By name, of all networks: what one of them leaves out, its own set leaves out again. */
export const keptDomains = (sets: Iterable<SetRow>): ReadonlyMap<string, readonly Ip[]> => {
  const kept = new Map<string, Set<Ip>>();
  for (const { addresses, external_ids: ids } of sets) {
    const name = ids['k8s.ovn.org/owner-type'] === DOMAIN_SET_TYPE ? ids['k8s.ovn.org/name'] : undefined;
    if (name === undefined) continue;
    const all = kept.get(name) ?? new Set();
    for (const text of addresses) for (const ip of readable(text)) all.add(ip);
    kept.set(name, all);
  }
  return new Map([...kept].map(([name, ips]) => [name, [...ips].sort()]));
};

const readable = (text: string): Ip[] => {
  try {
    return [parseIp(text)];
  } catch {
    // Written by somebody else.
    return [];
  }
};
