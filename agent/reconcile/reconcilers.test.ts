import { expect, it } from 'vitest';
import type { BackendName } from '../../api/agent-status.ts';
import type { Status } from '../../base/reconciler.ts';
import { fakeReconciler } from '../testing/fake-reconciler.ts';
import { statusOf } from './reconcilers.ts';

const inBackends = (...statuses: readonly (readonly [BackendName, Status])[]): Status =>
  statusOf(new Map(statuses.map(([name, status]) => [name, fakeReconciler({ status: () => status })])), 'layer3:red');

it('the worst of all backends counts', () => {
  const failed: Status = { kind: 'failed', message: 'EINVAL' };
  const waiting: Status = { kind: 'waiting', message: 'a link' };
  expect(inBackends(['northbound', waiting], ['host', failed], ['nftables', { kind: 'done' }])).toEqual(failed);
  expect(inBackends(['northbound', { kind: 'done' }], ['host', { kind: 'done' }])).toEqual({ kind: 'done' });
});

it('what is not applied yet names its backend, and why that takes long', () => {
  const pending: Status = { kind: 'pending' };
  expect(inBackends(['openflow', pending]).message).toBe('openflow is not programmed yet');
  expect(inBackends(['openflow', { ...pending, message: 'no answer' }])).toEqual({
    kind: 'pending',
    message: 'openflow is not programmed yet: no answer',
  });
});
