import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { createEmbeddedCluster } from '../embedded/cluster.ts';
import { KubeError } from '../errors.ts';
import { CONFIG_MAPS } from '../resources.ts';
import type { KubeClient, KubeObject } from '../types.ts';
import { createFaultyClient, type WatchFault } from './faulty-client.suite.ts';
import { createReflector } from './reflector.ts';

const namespace = 'default';

const change = fc.oneof(
  { weight: 6, arbitrary: fc.record({ op: fc.constant('write' as const), name: fc.nat(5), n: fc.nat(3) }) },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('remove' as const), name: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('disconnect' as const) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('compact' as const) }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('pause' as const), milliseconds: fc.nat(3000) }) },
);

const fault: fc.Arbitrary<WatchFault> = fc.record(
  {
    afterBytes: fc.nat(3000),
    pieces: fc.integer({ min: 1, max: 700 }),
    fails: fc.constant(new KubeError('ERR_KUBE_NETWORK', 'reset')),
    send: fc.constantFrom('garbage\n', '{"type":"BOOKMARK","object":{}}\n', '\n'),
    duplicate: fc.boolean(),
    silence: fc.boolean(),
  },
  { requiredKeys: ['afterBytes'] },
);

const refused = fc.constantFrom(410, 429, 500, 503).map((status) => ({
  throw: new KubeError('ERR_KUBE_STATUS', `status ${status}`, { status }),
}));

const state = async (client: KubeClient): Promise<Record<string, unknown>> => {
  const { items } = await client.list(CONFIG_MAPS, { namespace });
  return Object.fromEntries(items.map((item) => [`${namespace}/${item.metadata.name}`, dataOf(item)]));
};

const dataOf = ({ data }: KubeObject): unknown => data;

it('a mirror ends up with what the server has, however its watches are cut', { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(change, { maxLength: 40 }),
      fc.array(fc.oneof({ weight: 3, arbitrary: fault }, { weight: 1, arbitrary: refused }), { maxLength: 12 }),
      fc.array(fc.option(refused, { nil: undefined }), { maxLength: 3 }),
      async (changes, watches, lists) => {
        const clock = createFakeClock();
        const cluster = createEmbeddedCluster({ clock, bookmarkIntervalMs: 2000 });
        const client = cluster.client();
        const faulty = createFaultyClient(client);
        faulty.watches.push(...watches);
        faulty.lists.push(...lists);
        const stop = new AbortController();
        const model = new Map<string, unknown>();
        const broken: unknown[] = [];
        const reflector = createReflector({
          client: faulty,
          resource: CONFIG_MAPS,
          namespace,
          project: dataOf,
          clock,
          random: () => 0.5,
          timings: { pageSize: 2, idleMs: 5000 },
          observe: (seen) => {
            if (seen.kind === 'handler-failed') broken.push(seen.error);
          },
        });
        // A follower of the changes knows the same as a reader of the store, and gets no event that is not a change.
        reflector.subscribe((event) => {
          expect(model.has(event.key)).toBe(event.type !== 'added');
          expect(event.before).toEqual(model.get(event.key));
          if (event.type === 'deleted') model.delete(event.key);
          else model.set(event.key, event.after);
        });
        const running = reflector.run(stop.signal);
        for (const step of changes) {
          const ref = { namespace, name: `n${'name' in step ? step.name : ''}` };
          if (step.op === 'write') {
            const body = { metadata: ref, data: { n: String(step.n) } };
            await client.patch(CONFIG_MAPS, ref, { type: 'apply', fieldManager: 'test', force: true, body });
          } else if (step.op === 'remove') await client.delete(CONFIG_MAPS, ref).catch(() => {});
          else if (step.op === 'disconnect') cluster.disconnectWatches();
          else if (step.op === 'compact') cluster.compact();
          else await clock.advance(step.milliseconds);
        }
        // Longer than all faults that are left can last.
        for (let i = 0; i < 60; i += 1) await clock.advance(10_000);
        const expected = await state(client);
        expect(Object.fromEntries(reflector.entries())).toEqual(expected);
        expect(Object.fromEntries(model)).toEqual(expected);
        expect(broken).toEqual([]);
        stop.abort();
        await running;
        cluster.close();
      },
    ),
    { numRuns: 150 },
  );
});
