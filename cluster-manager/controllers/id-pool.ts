/** The NetworkIdPool as it is found, and what the nodes' reports say of the ids in it; see `id-keeper.ts`. */
import { NETWORK_ID_POOL, type NetworkIdPool, type PoolStatus, parseNetworkIdPool } from '../../api/network-id-pool.ts';
import { NETWORK_ID_POOLS, NODE_NETWORK_REPORTS } from '../../api/resources.ts';
import { type Clock, delay } from '../../base/clock.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { KubeClient, KubeObject } from '../../kube/types.ts';
import { formatRanges, hasId, idsIn } from '../../net/id-ranges.ts';
import type { HoldersOf, IdRecord } from '../allocation/id-record.ts';
import { MOST_NETWORKS } from '../allocation/network-room.ts';
import { type ReportFacts, reportFacts } from '../facts/report-facts.ts';

/** What was found when the program started; it is to be given to `adoptPool` before anything is recovered. */
export interface FoundPool {
  readonly status: NetworkIdPool['status'] | undefined;
  readonly resourceVersion: string | undefined;
  /** Why it cannot be read. */
  readonly error?: unknown;
}

/** @throws KubeError when the server does not answer */
export const findPool = async (client: Pick<KubeClient, 'get'>, signal: AbortSignal): Promise<FoundPool> => {
  const object = await client.get(NETWORK_ID_POOLS, { name: NETWORK_ID_POOL }, signal).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  return object === undefined ? { status: undefined, resourceVersion: undefined } : readPool(object);
};

/**
 * The same, where there may be no such kind. One that is new says that all ids are given, until it is known which are.
 * @throws KubeError not found: there is none
 */
export const findOrMakePool = async (
  client: Pick<KubeClient, 'get' | 'create'>,
  signal: AbortSignal,
): Promise<FoundPool> => {
  const found = await findPool(client, signal);
  if (found.resourceVersion !== undefined) return found;
  const body = { metadata: { name: NETWORK_ID_POOL }, status: { given: `1-${MOST_NETWORKS}`, retirement: 0 } };
  const { metadata } = await client.create(NETWORK_ID_POOLS, body, {}, signal);
  return { status: undefined, resourceVersion: metadata.resourceVersion };
};

interface Asking {
  readonly client: Pick<KubeClient, 'get'>;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** The same, when the server answers. @throws the signal's reason */
export const whenFound = async ({ client, clock, onError }: Asking, signal: AbortSignal): Promise<FoundPool> => {
  for (;;) {
    try {
      return await findPool(client, signal);
    } catch (error) {
      signal.throwIfAborted();
      onError(error);
      await delay(clock, RETRY_MS, signal);
    }
  }
};

const RETRY_MS = 1_000;

const readPool = (object: KubeObject): FoundPool => {
  const { resourceVersion } = object.metadata;
  try {
    return { status: parseNetworkIdPool(object).status, resourceVersion };
  } catch (error) {
    return { status: undefined, resourceVersion, error };
  }
};

/** Equal for statuses that mean the same, whatever the order of their retired ids. */
export const meaningOf = ({ given, retirement, retired }: PoolStatus | NetworkIdPool['status']): string => {
  const ids = typeof given === 'string' ? given : formatRanges(given);
  const entries = (retired ?? []).map((entry) => [
    entry.id,
    entry.network,
    entry.routerKey,
    entry.retirement,
    entry.since,
  ]);
  return JSON.stringify([ids, retirement, entries.sort(([a], [b]) => Number(a) - Number(b))]);
};

/** @returns why what was written down is lost, where nodes say that there was something */
export const adoptPool = (record: IdRecord, found: FoundPool, reports: readonly ReportFacts[]): unknown => {
  record.follow(found.status);
  const answered = Math.max(0, ...reports.map(({ retirement }) => retirement));
  const isLost = found.error !== undefined || (found.status === undefined && answered > 0);
  if (isLost) record.suspectAll(answered);
  else if (found.status === undefined) for (const report of reports) record.suspect(listedIn(report));
  return isLost
    ? (found.error ?? new Error('it does not exist, although nodes have reported its revision'))
    : undefined;
};

/** What a node says that it has. */
export const listedIn = ({ ready, pending, failed, leaving }: ReportFacts): number[] =>
  [ready, pending, failed, leaving].flatMap((ids) => [...idsIn(ids)]);

/** Not from a mirror. One that can't be read has everything. @throws KubeError */
export const readReports = async (client: Pick<KubeClient, 'list'>, signal: AbortSignal): Promise<ReportFacts[]> => {
  const found: ReportFacts[] = [];
  let next: string | undefined;
  try {
    do {
      const page = await client.list(NODE_NETWORK_REPORTS, { limit: PAGE, continue: next }, signal);
      found.push(...page.items.map(readReport));
      next = page.continue;
    } while (next !== undefined && next !== '');
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return found;
};

const PAGE = 500;

const readReport = (object: KubeObject): ReportFacts => {
  try {
    return reportFacts(object);
  } catch {
    return { node: object.metadata.name, ...UNREADABLE };
  }
};

const UNREADABLE: Omit<ReportFacts, 'node'> = {
  ...{ hasAll: true, observed: '', ready: [], pending: [], failed: [], leaving: [] },
  retirement: -1,
  failures: new Map(),
  renewal: undefined,
};

/** Nodes whose agents may not know yet that the network is gone, or say that something of it is left. */
export const holdersIn =
  (reports: readonly ReportFacts[]): HoldersOf =>
  (id, retirement) =>
    reports
      .filter(
        (report) =>
          report.retirement < retirement ||
          [report.ready, report.pending, report.failed, report.leaving].some((ids) => hasId(ids, id)),
      )
      .map(({ node }) => node);

/** Node → ids of deleted networks that it has held since a time, or longer. */
export const heldByNode = (record: IdRecord, time: string): ReadonlyMap<string, readonly number[]> => {
  const held = new Map<string, number[]>();
  for (const [id, { since }] of record.retired) {
    if (since === '' || since > time) continue;
    for (const node of record.holdersOf(id)) held.set(node, [...(held.get(node) ?? []), id]);
  }
  return held;
};

/** For the owner of a Node. */
export const heldMessage = (record: IdRecord, ids: readonly number[]): string => {
  const named = ids.slice(0, MAX_NAMED).map((id) => {
    const network = record.retired.get(id)?.network;
    return network === undefined ? String(id) : `${id} (${network})`;
  });
  const others = ids.length > MAX_NAMED ? `, and ${ids.length - MAX_NAMED} others` : '';
  return `network ids of deleted networks stay reserved until the agent of this node reports their removal: ${named.join(', ')}${others}`;
};

const MAX_NAMED = 10;
