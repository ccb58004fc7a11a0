/**
 * A cluster manager without leader election reads the Lease twice a second, so that it may work beside a new leader for half a second:
 * both write then. No two networks get one id in that time, since each writes an id into the NetworkIdPool before it assigns it, and
 * the pool is updated with its resourceVersion.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { NAD_ANNOTATIONS } from '../../api/names.ts';
import { NETWORK_ATTACHMENT_DEFINITIONS } from '../../api/resources.ts';
import { systemClock } from '../../base/clock.ts';
import { createReflector } from '../../kube/reflector/reflector.ts';
import { createTestCluster, type TestCluster } from '../testing/harness.ts';
import { layer2Udn, tenant } from '../testing/objects.ts';
import { createManager } from './manager.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

const NAMES = Array.from({ length: 6 }, (_, index) => `t${index}`);

/** With a second one, which ends in the middle of its work, as when it finds the Lease held. */
const besideAnother = async (work: () => Promise<void>): Promise<void> => {
  const stop = new AbortController();
  const second = createManager({
    ...{ client: cluster.client, clock: systemClock, cluster: parseClusterConfig() },
    events: { record: () => undefined, flush: () => Promise.resolve() },
    observe: () => undefined,
  });
  const running = second.run(stop.signal);
  try {
    await second.mirrors.caches.udns.whenSynced();
    await work();
  } finally {
    stop.abort();
    await running;
  }
};

/** Every id that any network ever had, as all programs see it. @param work is given what resolves when both have assigned ids */
const idsEverSeen = async (
  work: (more: Promise<void>) => Promise<void>,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> => {
  const seen = new Map<string, Set<string>>();
  const more = Promise.withResolvers<void>();
  const nads = createReflector({
    client: cluster.client,
    resource: NETWORK_ATTACHMENT_DEFINITIONS,
    project: ({ metadata: { namespace, annotations } }) => ({
      namespace,
      id: annotations?.[NAD_ANNOTATIONS.networkId],
    }),
  });
  nads.subscribe(({ after }) => {
    if (after?.id === undefined) return;
    seen.set(after.id, (seen.get(after.id) ?? new Set()).add(after.namespace ?? ''));
    if (seen.size > NAMES.length) more.resolve();
  });
  const stop = new AbortController();
  const reflecting = nads.run(stop.signal);
  await work(more.promise);
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  stop.abort();
  await reflecting;
  return seen;
};

it('two that work at once never give one id to two networks', async () => {
  cluster = await createTestCluster();
  cluster.start();
  await cluster.createAndSettle(...NAMES.map((name) => tenant(name)));
  const seen = await idsEverSeen(async (more) => {
    await besideAnother(async () => {
      for (const [index, name] of NAMES.entries())
        await cluster.create(layer2Udn(`${name}/net`, [`10.${index}.0.0/16`]));
      await more;
    });
    await cluster.settled();
  });
  expect([...seen].filter(([, networks]) => networks.size > 1)).toEqual([]);
  const nads = await cluster.list('NetworkAttachmentDefinition');
  const ids = nads.map(({ metadata }) => metadata.annotations?.[NAD_ANNOTATIONS.networkId]);
  expect(new Set(ids).size).toBe(NAMES.length);
});
