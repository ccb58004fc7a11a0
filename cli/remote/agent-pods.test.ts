import { expect, it } from 'vitest';
import { agentlessText, agentPodOf } from './agent-pods.ts';

const agent = (
  name: string,
  state: object,
  { ready = false, deletionTimestamp = undefined as string | undefined } = {},
) => ({
  metadata: { name, ...(deletionTimestamp !== undefined && { deletionTimestamp }) },
  spec: { nodeName: 'node-1' },
  status: {
    phase: 'Running',
    containerStatuses: [
      { name: 'sidecar', ready: true, state: { running: {} } },
      { name: 'udn-agent', ready, state },
    ],
  },
});
const running = { running: { startedAt: '2026-01-01T00:00:00Z' } };

it('the agent of a node is its pod that runs', () => {
  expect(agentPodOf([agent('a', running, { ready: true })], 'node-1')).toEqual({ name: 'a' });
});

it('one that is not ready is asked, and that is said', () => {
  expect(agentPodOf([agent('a', running)], 'node-1')).toEqual({
    name: 'a',
    doubt: 'pod a, the agent of node node-1, is not ready',
  });
});

it('while one replaces another, the one that stays', () => {
  const leaving = agent('old', running, { ready: true, deletionTimestamp: '2026-01-01T00:00:00Z' });
  const starting = agent('new', { waiting: { reason: 'ContainerCreating' } });
  expect(agentPodOf([starting, leaving], 'node-1').name).toBe('old');
  expect(agentPodOf([leaving, agent('new', running, { ready: true })], 'node-1').name).toBe('new');
});

it.each([
  [
    { waiting: { reason: 'ImagePullBackOff', message: 'no such image' } },
    /does not run: ImagePullBackOff: no such image/,
  ],
  [{ waiting: { reason: 'CrashLoopBackOff' } }, /does not run: CrashLoopBackOff$/],
  [{ terminated: { reason: 'Error', exitCode: 1 } }, /does not run: Error: exit code 1/],
])('one that does not run cannot be asked: %j', (state, message) => {
  expect(() => agentPodOf([agent('a', state)], 'node-1')).toThrow(message);
});

it('one that no kubelet has seen yet cannot be asked', () => {
  const pod = { metadata: { name: 'a' }, spec: { nodeName: 'node-1' }, status: { phase: 'Pending' } };
  expect(() => agentPodOf([pod], 'node-1')).toThrow('pod a, the agent of node node-1, does not run: Pending');
});

it('where there is none, those that there are are named', () => {
  expect(agentlessText([agent('a', running), agent('b', running)], 'node-9', 'ovn-udn')).toBe(
    'no pod of udn-agent is on node node-9; agents are on node-1',
  );
  expect(agentlessText([], 'node-9', 'ovn-udn')).toMatch(
    /namespace ovn-udn has no pod with label app.kubernetes.io\/name=udn-agent/,
  );
});
