/** Endpoints that change all the time. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { abortable } from '../../base/abort.ts';
import { formatRemote } from '../../ovsdb/index.ts';
import type { BenchContext } from '../context.ts';
import { cpuMilliseconds } from '../process-memory.ts';
import { freshServer, nodeProcess, temporaryFolder } from '../render/northbound-server.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { percentile } from '../statistics.ts';
import { ENDPOINTS_OF_EACH, serviceKey } from './objects.ts';
import { type ServiceCluster, startServiceCluster, watchLoadBalancers } from './watched-cluster.ts';

const SERVICES = 10_000;
const PER_SECOND = 100;
/** Of each run. */
const SECONDS = 20;
/** Each gets an endpoint more, and loses it half of the time later. */
const CHANGED = (PER_SECOND * SECONDS) / 2;
/** From one of these Services to the next: it has no divisor in common with how many there are. */
const STEP = 97;

export const CHURN_NAMES = ['services/churn-lag-p99', 'services/churn-cpu'] as const;

/** From before the change is written to the API server until somebody else sees it in the database. Each must come. */
export const benchChurn = async ({ signal, progress, eachRun }: BenchContext): Promise<BenchResult[]> => {
  progress(`services/churn-lag-p99: ${PER_SECOND} changes per second, for ${SECONDS} s, among ${SERVICES} Services`);
  await using resources = new AsyncDisposableStack();
  const folder = await temporaryFolder(resources);
  const server = resources.use(await freshServer());
  const cluster = await startServiceCluster(SERVICES, folder, resources);
  const program = join(import.meta.dirname, 'watching-agent.ts');
  const agent = resources.use(nodeProcess(program, [cluster.kubeconfig, formatRemote(server.remote)]));
  await agent.line();
  let lags = createLags();
  await watchLoadBalancers(server.remote, (service, endpoints) => lags.seen(service, endpoints), resources);
  return await eachRun(async () => {
    lags = createLags();
    const before = await cpuMilliseconds(agent.pid);
    const start = performance.now();
    await changeEndpoints(cluster, lags, signal);
    const milliseconds = performance.now() - start;
    await lags.allSeen(AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]));
    const share = (100 * ((await cpuMilliseconds(agent.pid)) - before)) / milliseconds;
    const [p50 = 0, p99 = 0, longest = 0] = [50, 99, 100].map((percent) => percentile(lags.samples, percent));
    progress(`  median ${p50.toFixed(1)} ms, longest ${longest.toFixed(1)} ms`);
    const [lag, cpu] = CHURN_NAMES;
    return [
      benchResult({ name: lag, value: p99, unit: 'ms', reference: 1, rounds: lags.samples.length }),
      benchResult({ name: cpu, value: share, unit: '%', reference: 1, rounds: 1 }),
    ];
  });
};

const PATIENCE_MS = 30_000;

/** Each at its own time, whatever has become of those before. */
const changeEndpoints = async (cluster: ServiceCluster, lags: Lags, signal: AbortSignal): Promise<void> => {
  const start = performance.now();
  const writes: Promise<void>[] = [];
  for (let change = 0; change < PER_SECOND * SECONDS; change++) {
    await delay(Math.max(0, start + (change * 1000) / PER_SECOND - performance.now()), undefined, { signal });
    const service = (change * STEP) % CHANGED;
    const endpoints = change < CHANGED ? ENDPOINTS_OF_EACH + 1 : ENDPOINTS_OF_EACH;
    lags.expect(serviceKey(service), endpoints);
    writes.push(cluster.setEndpoints(service, endpoints));
  }
  await Promise.all(writes);
};

interface Lags {
  readonly samples: readonly number[];
  expect(service: string, endpoints: number): void;
  seen(service: string, endpoints: number): void;
  /** @throws Error when the signal aborts before */
  allSeen(signal: AbortSignal): Promise<void>;
}

const createLags = (): Lags => {
  const samples: number[] = [];
  const expected = new Map<string, number>();
  let whenNoneIsLeft: (() => void) | undefined;
  const idOf = (service: string, endpoints: number): string => `${service} ${endpoints}`;
  return {
    samples,
    expect: (service, endpoints) => void expected.set(idOf(service, endpoints), performance.now()),
    seen: (service, endpoints) => {
      const id = idOf(service, endpoints);
      const since = expected.get(id);
      if (since === undefined) return;
      expected.delete(id);
      samples.push(performance.now() - since);
      if (expected.size === 0) whenNoneIsLeft?.();
    },
    allSeen: async (signal) => {
      if (expected.size === 0) return;
      await abortable<void>(signal, (resolve) => {
        whenNoneIsLeft = resolve;
        return () => {
          whenNoneIsLeft = undefined;
        };
      }).catch((cause: unknown) => {
        const keys = [...expected.keys()].slice(0, 3);
        throw new Error(`${expected.size} changes never came: ${keys}`, { cause });
      });
    },
  };
};
