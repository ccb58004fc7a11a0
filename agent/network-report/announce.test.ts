import { expect, it } from 'vitest';
import { KubeError } from '../../kube/errors.ts';
import { createFakeClock } from '../../kube/fake-clock.ts';
import type { KubeObject, ObjectInput } from '../../kube/types.ts';
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
    },
    new AbortController().signal,
  );
  return { clock, writes, errors, api, done };
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
