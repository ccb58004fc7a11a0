/** Who keeps the NetworkIdPool, with networks that wait for ids, and an API server that does what a test wants. */
import { parseClusterConfig } from '../../api/cluster-config.ts';
import type { PoolStatus } from '../../api/network-id-pool.ts';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { KubeError } from '../../kube/errors.ts';
import type { KubeClient, KubeObject, ObjectInput } from '../../kube/types.ts';
import { NetworkRegistry } from '../allocation/network-registry.ts';
import { IdKeeper, type IdObservation } from '../controllers/id-keeper.ts';
import { adoptPool, type FoundPool } from '../controllers/id-pool.ts';
import { nadFacts } from '../facts/nad-facts.ts';
import { reportFacts } from '../facts/report-facts.ts';
import { nad, netConf } from './objects.ts';

export const refusal = (status: number): KubeError =>
  new KubeError('ERR_KUBE_STATUS', `status ${status}`, { status, reason: status === 409 ? 'Conflict' : '' });

interface Server {
  pool: KubeObject | undefined;
  /** Of each request about the pool. */
  error: KubeError | undefined;
  reports: readonly KubeObject[];
}

/** @param retirement that the report of a node names, which has no network */
export const reportOf = (node: string, retirement: number, ids: Readonly<Record<string, string>> = {}): KubeObject => {
  const lists = { ready: '', pending: '', failed: '', ...ids };
  const status = { rendering: 'Always', retirement, networks: { ready: 0, pending: 0, failed: 0 }, ids: lists };
  return { metadata: { name: node, uid: node, resourceVersion: '1' }, status };
};

const clientOf = (server: Server): Pick<KubeClient, 'get' | 'create' | 'update' | 'list'> => {
  const write = (body: ObjectInput): Promise<KubeObject> => {
    if (server.error !== undefined) return Promise.reject(server.error);
    const { resourceVersion: before } = server.pool?.metadata ?? {};
    if (before !== body.metadata.resourceVersion) return Promise.reject(refusal(409));
    const metadata = { ...body.metadata, name: 'cluster', uid: 'p', resourceVersion: `${Number(before ?? 0) + 1}` };
    server.pool = { ...body, metadata };
    return Promise.resolve(server.pool);
  };
  return {
    get: () =>
      server.pool === undefined ? Promise.reject(server.error ?? refusal(404)) : Promise.resolve(server.pool),
    create: (_, body) => write(body),
    update: (_, body) => write(body),
    list: () => Promise.resolve({ items: server.reports, resourceVersion: '1' }),
  };
};

export const keepIds = (
  found: FoundPool = { status: undefined, resourceVersion: undefined },
  start: Partial<Server> = {},
) => {
  const server: Server = { pool: undefined, error: undefined, reports: [], ...start };
  const clock = createFakeClock();
  const registry = new NetworkRegistry(parseClusterConfig());
  const observed: IdObservation[] = [];
  const stop = new AbortController();
  const reports = () => server.reports.map((report) => reportFacts(report));
  adoptPool(registry.ids, found, reports());
  const keeper: IdKeeper = new IdKeeper(
    {
      ...{ client: clientOf(server), clock, reports, record: registry.ids, found },
      came: () => {
        registry.idsCame();
        keeper?.look();
      },
      onHeld: () => {},
      observe: (one) => void observed.push(one),
    },
    stop.signal,
  );
  return {
    ...{ server, clock, registry, keeper, observed, stop },
    /** Somebody makes the NAD of a network. @returns what is said of it */
    add: (namespace: string): readonly string[] => {
      const { problems } = registry.upsert(
        nadFacts(nad(`${namespace}/n`, netConf(`${namespace}/n`, `${namespace}_n`))),
      );
      keeper.look();
      return problems;
    },
    idOf: (namespace: string): number | undefined => registry.get(`${namespace}_n`)?.keys.id,
    written: (): PoolStatus | undefined => server.pool?.['status'] as PoolStatus | undefined,
  };
};
