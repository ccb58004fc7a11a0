/**
 * How near networks are to their limits of connections. No event reports that a zone fills, so the datapath is asked once
 * in a while: one request for all zones, and only where one is nearly full another one for whose it is.
 */
import type { Clock } from '../../base/clock.ts';
import type { ZoneLimit } from '../../datapath/conntrack/conntrack.ts';
import type { Problem } from '../inputs/problem.ts';
import type { ZoneOwner } from './zone-owners.ts';

export interface ConnectionUsageOptions {
  readonly node: string;
  readonly limits: (signal: AbortSignal) => Promise<readonly ZoneLimit[]>;
  /** By number. */
  readonly names: (signal: AbortSignal) => Promise<ReadonlyMap<number, string>>;
  /** By the zone's name. */
  readonly owners: () => ReadonlyMap<string, ZoneOwner>;
  readonly clock: Pick<Clock, 'schedule'>;
  /** Once for each zone that has come near its limit. */
  readonly report: (owner: ZoneOwner, message: string) => void;
  readonly onError: (error: unknown) => void;
}

export interface ConnectionUsage {
  /** By network: how full its fullest zone is, of those that are nearly full. 1: new connections are dropped. */
  nearlyFull(): ReadonlyMap<string, number>;
  problems(): readonly Problem[];
  stop(): void;
}

const LOOK_MS = 15_000;
/** Reported from here on … */
const NEAR = 0.8;
/** … until it was below this. */
const FAR = 0.7;

interface FullZone {
  readonly owner: ZoneOwner;
  readonly fullness: number;
  readonly message: string;
}

export const watchConnections = (options: ConnectionUsageOptions): ConnectionUsage => {
  const stop = new AbortController();
  let full: ReadonlyMap<string, FullZone> = new Map();
  let cancel = (): void => undefined;
  const look = async (): Promise<void> => {
    try {
      const before = full;
      full = await fullZones(options, before, stop.signal);
      for (const [name, { owner, message }] of full) if (!before.has(name)) options.report(owner, message);
    } catch (error) {
      if (!stop.signal.aborted) options.onError(error);
    }
    if (!stop.signal.aborted) cancel = options.clock.schedule(LOOK_MS, () => void look());
  };
  void look();
  return {
    nearlyFull: () => {
      const fullest = new Map<string, number>();
      for (const { owner, fullness } of full.values()) {
        fullest.set(owner.network, Math.max(fullness, fullest.get(owner.network) ?? 0));
      }
      return fullest;
    },
    problems: () =>
      [...full.values()].map(({ message }) => ({ object: `Node/${options.node}`, message, severity: 'warning' })),
    stop: () => {
      stop.abort();
      cancel();
    },
  };
};

const fullZones = async (
  { limits, names, owners, node }: ConnectionUsageOptions,
  before: ReadonlyMap<string, FullZone>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, FullZone>> => {
  const candidates = (await limits(signal)).filter(({ limit, count }) => limit > 0 && count >= limit * FAR);
  if (candidates.length === 0) return new Map();
  const nameOf = await names(signal);
  const ownerOf = owners();
  return new Map(
    candidates.flatMap(({ zone, limit, count }) => {
      const name = nameOf.get(zone);
      const owner = name === undefined ? undefined : ownerOf.get(name);
      if (name === undefined || owner === undefined) return [];
      if (count < limit * NEAR && !before.has(name)) return [];
      const fullness = count / limit;
      return [[name, { owner, fullness, message: messageOf(owner, { zone, limit, count }, node) }] as const];
    }),
  );
};

const messageOf = ({ network, pod }: ZoneOwner, { limit, count }: ZoneLimit, node: string): string => {
  const who = pod === undefined ? `network ${network}` : `pod ${pod} on network ${network}`;
  return `${who} has ${count} of the ${limit} connections allowed on node ${node}; at the limit new ones are dropped`;
};
