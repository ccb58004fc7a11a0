/**
 * A cluster manager whose watches are cut every 100 ms while tenants come and go: what it has given out stays consistent, and
 * stays. `UDN_CUT_WATCHES_SECONDS` says for how long.
 */
import { afterEach, expect, it } from 'vitest';
import { systemClock } from '../../../base/clock.ts';
import { createTestCluster, type TestCluster } from '../../../cluster-manager/testing/harness.ts';
import { KubeError } from '../../../kube/errors.ts';
import type { KubeClient, WatchStream } from '../../../kube/types.ts';
import { createHistory, everyoneHasAll, makeTenants, trouble, violations } from './tenants.ts';

const SECONDS = Number(process.env['UDN_CUT_WATCHES_SECONDS'] ?? 60);
const CUT_EVERY_MS = 100;

let cluster: TestCluster;
afterEach(() => cluster?.close());

/** Every other one ends in order, every other one within a line. */
const cutting =
  (state: { isOn: boolean; cuts: number }) =>
  (client: KubeClient): KubeClient => ({
    ...client,
    watch: async (resource, options, signal) => {
      const cut = new AbortController();
      const both = signal === undefined ? cut.signal : AbortSignal.any([signal, cut.signal]);
      const stream = await client.watch(resource, options, both);
      return state.isOn ? untilCut(stream, cut, state) : stream;
    },
  });

async function* untilCut(
  stream: WatchStream,
  cut: AbortController,
  state: { isOn: boolean; cuts: number },
): WatchStream {
  const timer = setTimeout(() => cut.abort(), CUT_EVERY_MS);
  try {
    for await (const chunk of stream) yield chunk;
  } catch (error) {
    if (!cut.signal.aborted) throw error;
    state.cuts += 1;
    if (state.cuts % 2 === 0) return;
    yield Buffer.from('{"type":"MODIFIED","obj');
    throw new KubeError('ERR_KUBE_NETWORK', 'cut');
  } finally {
    clearTimeout(timer);
  }
}

/** Twenty times as hasty as the manager's own: a backoff of half a minute is one and a half seconds. */
const hastyClock = {
  ...systemClock,
  schedule: (milliseconds: number, callback: () => void) => systemClock.schedule(milliseconds / 20, callback),
};

it(`for ${SECONDS} s`, { timeout: (SECONDS + 60) * 1000 }, async () => {
  const state = { isOn: true, cuts: 0 };
  cluster = await createTestCluster({ wire: cutting(state), clock: hastyClock });
  const history = createHistory(cluster);
  await makeTenants(cluster);
  cluster.start();
  const until = performance.now() + SECONDS * 1000;
  for (let n = 0; performance.now() < until; n += 1) {
    await trouble(cluster, n);
    await history.look();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  // Seven mirrors; those that hear nothing between two cuts wait longer and longer.
  expect(state.cuts).toBeGreaterThan(SECONDS * 5);
  state.isOn = false;
  await expect.poll(() => everyoneHasAll(cluster), { timeout: 30_000, interval: 100 }).toEqual([]);
  await cluster.settled();
  await history.look();
  expect(await violations(cluster)).toEqual([]);
});
