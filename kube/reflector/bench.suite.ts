/** A reflector of ConfigMaps over a client that can be made to fail, with a clock of its own. */
import { afterEach, beforeEach } from 'vitest';
import { createFakeClock, type FakeClock } from '../../base/testing/fake-clock.ts';
import { createEmbeddedCluster } from '../embedded/cluster.ts';
import type { EmbeddedCluster } from '../embedded/types.ts';
import { KubeError } from '../errors.ts';
import { CONFIG_MAPS } from '../resources.ts';
import type { KubeClient, KubeObject } from '../types.ts';
import { createFaultyClient, type FaultyClient } from './faulty-client.suite.ts';
import { createReflector } from './reflector.ts';
import type { Reflector, ReflectorObservation, ReflectorOptions } from './types.ts';

export const namespace = 'default';

interface State {
  readonly clock: FakeClock;
  readonly cluster: EmbeddedCluster;
  readonly client: KubeClient;
  readonly faulty: FaultyClient;
  readonly stop: AbortController;
  /** What subscribers got, as `type key before after`. */
  readonly changes: string[];
  readonly observed: ReflectorObservation[];
  readonly running: Promise<void>[];
}

/** New for every test. */
export let bench: State;

export const useBench = (): void => {
  beforeEach(() => {
    const clock = createFakeClock();
    const cluster = createEmbeddedCluster({ clock, historySize: 1000 });
    const client = cluster.client();
    const faulty = createFaultyClient(client);
    bench = { clock, cluster, client, faulty, stop: new AbortController(), changes: [], observed: [], running: [] };
  });
  afterEach(async () => {
    bench.stop.abort();
    await Promise.all(bench.running);
    bench.cluster.close();
  });
};

/** Mirrors the key `n` of ConfigMaps; `skip` is of no interest and `bad` throws. */
const project = ({ data }: KubeObject): string | undefined => {
  const { n } = (data ?? {}) as { n?: string };
  if (n === 'bad') throw new Error('not readable');
  return n === 'skip' ? undefined : (n ?? '');
};

export const start = async <I extends string = never>(
  options: Partial<ReflectorOptions<string, I>> = {},
): Promise<Reflector<string, I>> => {
  const reflector = createReflector<string, I>({
    client: bench.faulty,
    resource: CONFIG_MAPS,
    project,
    clock: bench.clock,
    random: () => 0,
    observe: (observation) => bench.observed.push(observation),
    ...options,
  });
  reflector.subscribe(({ type, key, before, after }) =>
    bench.changes.push([type, key, before, after].join(' ').trim()),
  );
  bench.running.push(reflector.run(bench.stop.signal));
  await arrive();
  return reflector;
};

export const write = (name: string, n: string, extra: Record<string, unknown> = {}): Promise<KubeObject> => {
  const body = { metadata: { namespace, name, ...extra }, data: { n } };
  const patch = { type: 'apply', fieldManager: 'test', force: true, body } as const;
  return bench.client.patch(CONFIG_MAPS, { namespace, name }, patch);
};

export const remove = (name: string): Promise<unknown> => bench.client.delete(CONFIG_MAPS, { namespace, name });

/** Lets what was sent arrive; no timer fires. */
export const arrive = (): Promise<void> => bench.clock.advance(0);

export const kinds = (): string[] => bench.observed.map(({ kind }) => kind).filter((kind) => kind !== 'event');

export const status = (code: number, retryAfterMs?: number): KubeError =>
  new KubeError('ERR_KUBE_STATUS', String(code), { status: code, retryAfterMs });

export const absentResource = (): KubeError =>
  new KubeError('ERR_KUBE_STATUS', 'the server could not find the requested resource', { status: 404 });

export const reset = (): KubeError => new KubeError('ERR_KUBE_NETWORK', 'reset');
