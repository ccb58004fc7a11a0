import { expect, it } from 'vitest';
import type { KubeObject, ResourceType } from '../../kube/types.ts';
import { formatOutput } from '../output/format.ts';
import { clusterStatus, nodeStatus } from './status.ts';

const NOW = Date.parse('2026-01-01T00:01:00Z');

const report = (name: string, status: object): KubeObject => ({
  metadata: { name, uid: name, resourceVersion: '1' },
  status: {
    ...{ rendering: 'Always', networks: { ready: 2, pending: 0, failed: 0 } },
    ids: { ready: '0-1', pending: '', failed: '' },
    ...status,
  },
});
const node = (name: string, labels: Readonly<Record<string, string>> = {}): KubeObject => ({
  metadata: { name, uid: name, resourceVersion: '1', labels },
});
const FRESH = { renewTime: '2026-01-01T00:00:50Z', leaseDurationSeconds: 40, failedComponents: [] };

const clusterOf = (nodes: readonly KubeObject[], reports: readonly KubeObject[]) => ({
  list: ({ plural }: ResourceType) =>
    Promise.resolve({ metadata: { resourceVersion: '1' }, items: plural === 'nodes' ? nodes : reports }),
});

it('of all nodes, as their agents have reported it; what is old or absent is no news', async () => {
  const failedComponents = [
    { component: 'ovs-vswitchd', message: 'ovs-vswitchd does not answer', since: '2026-01-01T00:00:00Z' },
  ];
  const client = clusterOf(
    [node('n1'), node('n2'), node('n3'), node('n4'), node('n5', { 'k8s.ovn.org/exclude-from-networks': '' })],
    [
      report('n1', FRESH),
      report('n2', { ...FRESH, failedComponents }),
      report('n3', { ...FRESH, renewTime: '2026-01-01T00:00:10Z' }),
    ],
  );
  const output = await clusterStatus(client as never, { now: NOW });
  expect(
    formatOutput(output, 'table')
      .split('\n')
      .map((line) => line.trimEnd().replaceAll(/ {2,}/g, '|')),
  ).toEqual([
    'NODE|AGENT|READY|PENDING|FAILED|FAILING|MESSAGE',
    'n1|reporting|2|0|0|none',
    'n2|reporting|2|0|0|ovs-vswitchd|ovs-vswitchd does not answer',
    expect.stringMatching(/^n3\|silent\|2\|0\|0\|\?\|udn-agent does not renew its report/),
    expect.stringMatching(/^n4\|absent\|\?\|no udn-agent has reported/),
    expect.stringMatching(/^n5\|excluded\|/),
    '',
  ]);
  expect(output.exitStatus).toBe(1);
  expect((await clusterStatus(client as never, { now: NOW, only: 'n1' })).exitStatus).toBe(0);
  expect((await clusterStatus(client as never, { now: NOW, only: 'none' })).exitStatus).toBe(1);
});

it('an agent that has stopped is silent, though the clock of its node is ahead', async () => {
  const ahead = report('n1', { ...FRESH, renewTime: '2026-01-01T00:10:00Z' });
  const silent = { type: 'NetworkUnavailable', status: 'True', reason: 'AgentNotReporting' };
  const stateOf = async (conditions: readonly object[], said = ahead) => {
    const output = await clusterStatus(clusterOf([{ ...node('n1'), status: { conditions } }], [said]) as never, {
      now: NOW,
    });
    return [output.exitStatus, (output.data as readonly { agent: string }[])[0]?.agent];
  };
  expect(await stateOf([silent])).toEqual([1, 'silent']);
  expect(await stateOf([{ ...silent, status: 'False', reason: 'OVNUDNIsUp' }])).toEqual([0, 'reporting']);
  // It is back, and takes the condition back in a moment.
  expect(await stateOf([silent], report('n1', FRESH))).toEqual([0, 'reporting']);
});

it.each([
  ['working', 0],
  ['failed', 1],
  ['unknown', 1],
] as const)('of one node: a component that is %s gives %i', async (state, exitStatus) => {
  const components = [{ component: 'ovn-northd', state, since: '2026-01-01T00:00:00Z' }];
  const agent = { node: () => Promise.resolve({ name: 'n1' }), health: () => Promise.resolve(components) };
  expect(await nodeStatus(agent)).toMatchObject({ exitStatus, data: { node: 'n1', components } });
});

it('a report that cannot be read is a row that says so, and hides no other', async () => {
  const broken = { metadata: { name: 'n1', uid: 'n1', resourceVersion: '1' }, status: { ids: 'none' } };
  const client = clusterOf([node('n1'), node('n2')], [broken, report('n2', FRESH)]);
  const output = await clusterStatus(client as never, { now: NOW });
  expect(output.data).toMatchObject([
    { node: 'n1', agent: 'unreadable', error: expect.stringContaining('status.ids: must be an object') },
    { node: 'n2', agent: 'reporting' },
  ]);
  expect(output.exitStatus).toBe(1);
});
