/** A cluster manager whose every write is refused once: somebody else was faster. */
import { afterEach, expect, it } from 'vitest';
import { createTestCluster, type TestCluster } from '../../../cluster-manager/testing/harness.ts';
import { createHistory, everyoneHasAll, makeTenants, trouble, violations } from './tenants.ts';

let cluster: TestCluster;
afterEach(() => cluster?.close());

it.each([
  ['and nothing came of it', false],
  ['although it was done', true],
])(
  'gives nothing twice when each first write is refused with a conflict, %s',
  { timeout: 60_000 },
  async (_, isDone) => {
    const refused = new Map<string, boolean>();
    let refusals = 0;
    cluster = await createTestCluster({
      fault: ({ plural }, { namespace, name }) => {
        const key = `${plural} ${namespace}/${name}`;
        // Then one is taken, and the next is a first one again.
        const isFirst = refused.get(key) !== true;
        refused.set(key, isFirst);
        if (isFirst) refusals += 1;
        return isFirst ? { status: 409, isDone } : undefined;
      },
    });
    const history = createHistory(cluster);
    await makeTenants(cluster);
    cluster.start();
    for (let n = 0; n < 300; n += 1) {
      await trouble(cluster, n);
      if (n % 25 === 0) {
        await cluster.settled();
        await history.look();
      }
      if (n === 150) {
        await cluster.stop();
        cluster.start();
      }
    }
    await expect.poll(() => everyoneHasAll(cluster), { timeout: 20_000, interval: 50 }).toEqual([]);
    await cluster.settled();
    await history.look();
    expect(await violations(cluster)).toEqual([]);
    expect(refusals).toBeGreaterThan(200);
  },
);
