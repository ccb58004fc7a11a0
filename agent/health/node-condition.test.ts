import { expect, it } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import type { ObjectInput } from '../../kube/types.ts';
import { COMPONENTS, type Component, type ComponentHealth, type ComponentState } from './component.ts';
import { verdictOf } from './network-unavailable.ts';
import { NodeCondition } from './node-condition.ts';

const health = (changes: Partial<Record<Component, ComponentState>> = {}): ComponentHealth[] =>
  COMPONENTS.map((component) => ({ component, state: changes[component] ?? 'working', message: `of ${component}` }));

const setUp = (conditions: readonly object[] = []) => {
  const clock = createFakeClock(Date.parse('2026-01-01T00:00:00Z'));
  const writes: ObjectInput[] = [];
  const api = { isAway: false, isMute: false };
  const condition = new NodeCondition({
    node: 'n1',
    type: 'NetworkUnavailable',
    clock,
    client: {
      get: (_: unknown, __: unknown, signal: AbortSignal) =>
        api.isMute
          ? new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
          : Promise.resolve({ metadata: { name: 'n1' }, status: { conditions } }),
    },
    writer: {
      apply: (_: unknown, object: ObjectInput) => {
        if (api.isAway) return Promise.reject(new Error('away'));
        writes.push(object);
        return Promise.resolve({ metadata: { name: 'n1' } });
      },
    },
    onError: () => undefined,
  } as unknown as ConstructorParameters<typeof NodeCondition>[0]);
  return { clock, writes, api, condition };
};

const UP = { status: 'False', reason: 'OVNUDNIsUp' };
const SILENT = { status: 'True', reason: 'AgentNotReporting' };

const written = (writes: readonly ObjectInput[]) =>
  writes.map((one) => (one['status'] as { conditions: Record<string, string>[] }).conditions[0]);

it('writes what has changed, and a transition only when the status changes', async () => {
  const { clock, writes, condition } = setUp([
    { type: 'Ready', status: 'True' },
    { type: 'NetworkUnavailable', status: 'False', lastTransitionTime: '2025-01-01T00:00:00Z' },
  ]);
  condition.set(verdictOf(health()));
  await clock.advance(1_000);
  condition.set(verdictOf(health()));
  await clock.advance(1_000);
  condition.set(verdictOf(health({ 'ovn-northd': 'failed' })));
  await clock.advance(1_000);
  expect(written(writes)).toMatchObject([
    { type: 'NetworkUnavailable', status: 'False', lastTransitionTime: '2025-01-01T00:00:00Z' },
    { status: 'True', reason: 'NorthdNotProcessing', lastTransitionTime: '2026-01-01T00:00:02Z' },
  ]);
});

it('asks again when a request hears nothing, and writes what is so by then', async () => {
  const { clock, writes, api, condition } = setUp();
  api.isMute = true;
  condition.set(verdictOf(health()));
  await clock.advance(5_000);
  condition.set(verdictOf(health({ 'ovn-northd': 'failed' })));
  api.isMute = false;
  expect(writes).toEqual([]);
  await clock.advance(10_000);
  expect(written(writes)).toMatchObject([{ status: 'True', reason: 'NorthdNotProcessing' }]);
  condition.stop();
  expect(clock.pending).toBe(0);
});

it('writes it when the server is back', async () => {
  const { clock, writes, api, condition } = setUp();
  api.isAway = true;
  condition.set(verdictOf(health({ 'ovn-northd': 'failed' })));
  await clock.advance(7_000);
  expect(writes).toEqual([]);
  api.isAway = false;
  condition.set(verdictOf(health()));
  await clock.advance(7_000);
  expect(written(writes)).toMatchObject([{ status: 'False' }]);
});

it('takes the condition back from whoever wrote it while the agent was silent, also in the middle of a write', async () => {
  const { clock, writes, condition } = setUp();
  condition.set(verdictOf(health()));
  await clock.advance(1_000);
  condition.found(SILENT);
  await clock.advance(1_000);
  expect(written(writes)).toMatchObject([{ status: 'False' }, { status: 'False' }]);
  condition.found(UP);
  condition.set(verdictOf(health({ 'ovn-northd': 'failed' })));
  condition.found(SILENT);
  await clock.advance(1_000);
  expect(written(writes).slice(2)).toMatchObject([{ status: 'True' }, { status: 'True' }]);
});

it('replaces what was sent before it and arrives after it', async () => {
  const { clock, writes, condition } = setUp();
  condition.set(verdictOf(health({ uplink: 'failed' })));
  condition.set(verdictOf(health()));
  await clock.advance(1_000);
  condition.found(UP);
  condition.found({ status: 'True', reason: 'UplinkNotOnBridge' });
  await clock.advance(6_000);
  expect(written(writes).slice(1)).toMatchObject([{ status: 'False' }, { status: 'False' }]);
});

it('does not compete with its own writes, nor with another program', async () => {
  const { clock, writes, condition } = setUp();
  condition.set(verdictOf(health({ uplink: 'failed' })));
  await clock.advance(1_000);
  condition.set(verdictOf(health()));
  condition.found({ status: 'True', reason: 'UplinkNotOnBridge' });
  await clock.advance(1_000);
  condition.found(UP);
  condition.found('foreign');
  await clock.advance(60_000);
  expect(written(writes)).toMatchObject([{ status: 'True' }, { status: 'False' }]);
});

it('writes it again on a Node that has lost it, and not while its own write is on its way', async () => {
  const { clock, writes, condition } = setUp();
  condition.found(undefined);
  condition.set(verdictOf(health()));
  condition.found(undefined);
  condition.found(UP);
  await clock.advance(60_000);
  expect(writes).toHaveLength(1);
  condition.found(undefined);
  await clock.advance(6_000);
  expect(written(writes)).toMatchObject([{ status: 'False' }, { status: 'False' }]);
});
