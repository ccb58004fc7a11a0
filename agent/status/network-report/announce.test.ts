import { expect, it } from 'vitest';
import { createFakeClock } from '../../../base/testing/fake-clock.ts';
import { KubeError } from '../../../kube/errors.ts';
import type { KubeObject, ObjectInput } from '../../../kube/types.ts';
import { announceNode } from './announce.ts';

const refusal = (status: number): KubeError => new KubeError('ERR_KUBE_STATUS', `status ${status}`, { status });
const reportOf = (uid: string): KubeObject => ({
  metadata: {
    name: 'n1',
    uid: 'r',
    resourceVersion: '1',
    ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid }],
  },
  status: { rendering: 'Always', networks: {}, ids: { ready: '0-3' } },
});

const setUp = (stored: KubeObject | undefined, uid: string | null = 'u1') => {
  const clock = createFakeClock();
  const writes: ObjectInput[] = [];
  const errors: unknown[] = [];
  const refusals: unknown[] = [];
  const api = { error: undefined as KubeError | undefined };
  const done = announceNode(
    {
      ...{ node: 'n1', rendering: 'Always', nodeUid: () => uid ?? undefined, clock },
      client: { get: () => (stored === undefined ? Promise.reject(refusal(404)) : Promise.resolve(stored)) },
      writer: {
        apply: async (_, object) => {
          if (api.error !== undefined) throw api.error;
          writes.push(object);
          return reportOf('u1');
        },
      },
      onError: (error) => void errors.push(error),
      onRefused: (error) => void refusals.push(error),
    },
    new AbortController().signal,
  );
  return { clock, writes, errors, refusals, api, done };
};

it('a node without a report gets one before anything else, which says that it has nothing', async () => {
  const { writes, done } = setUp(undefined);
  await done;
  expect(writes).toMatchObject([
    {
      metadata: { name: 'n1', ownerReferences: [{ uid: 'u1' }] },
      status: { ids: { ready: '', pending: '', failed: '' } },
    },
  ]);
});

it('nothing is written where there is one, or no Node', async () => {
  for (const { writes, done } of [setUp(reportOf('u1')), setUp(undefined, null)]) {
    await done;
    expect(writes).toEqual([]);
  }
});

it('that of an earlier Node of the name would go with that one', async () => {
  const { writes, done } = setUp(reportOf('u0'));
  await done;
  expect(writes).toMatchObject([{ metadata: { ownerReferences: [{ uid: 'u1' }] }, status: { ids: { ready: '0-3' } } }]);
});

it('it waits until the report is written, unless the server knows none', async () => {
  const { api, clock, writes, errors, done } = setUp(undefined);
  api.error = refusal(500);
  await clock.advance(5_000);
  expect([writes.length, errors.length > 1]).toEqual([0, true]);
  api.error = undefined;
  await clock.advance(2_000);
  await done;
  expect(writes).toHaveLength(1);
  const absent = setUp(undefined);
  absent.api.error = refusal(404);
  await absent.done;
  expect(absent.writes).toEqual([]);
});

it.each([403, 422])('a node whose report is refused with %i goes on at once, and says so once', async (status) => {
  const { api, clock, errors, refusals, done } = setUp(undefined);
  api.error = refusal(status);
  await done;
  await clock.advance(60_000);
  expect([errors, refusals]).toEqual([[], [api.error]]);
});

it.each([401, 409, 429, 500, 503])('%i may be another answer next time', async (status) => {
  const { api, clock, writes, refusals, done } = setUp(undefined);
  api.error = refusal(status);
  await clock.advance(5_000);
  expect([writes, refusals]).toEqual([[], []]);
  api.error = undefined;
  await clock.advance(2_000);
  await done;
});
