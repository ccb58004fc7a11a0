import { afterEach, describe, expect, it } from 'vitest';
import { NODE_NETWORK_REPORTS } from '../../api/resources.ts';
import { createFakeClock, type FakeClock } from '../../base/testing/fake-clock.ts';
import { NODES } from '../../kube/resources.ts';
import { createTestCluster, type TestCluster } from '../testing/harness.ts';
import { node } from '../testing/objects.ts';
import { silentVerdict } from './silence-controller.ts';

const LEASE_SECONDS = 40;

describe('the Node of an agent that has stopped reporting', () => {
  let cluster: TestCluster;
  let clock: FakeClock;
  afterEach(() => cluster.close());

  const start = async (...names: string[]): Promise<void> => {
    clock = createFakeClock();
    cluster = await createTestCluster({ clock });
    cluster.start();
    await cluster.createAndSettle(...names.map((name) => node(name)));
  };
  /** As the agent writes it. */
  const says = (name: string, status: 'True' | 'False', reason: string) =>
    cluster.client.patch(
      NODES,
      { name },
      {
        type: 'apply',
        fieldManager: 'udn-agent',
        force: true,
        body: {
          metadata: { name },
          status: { conditions: [{ type: 'NetworkUnavailable', status, reason, lastTransitionTime: at() }] },
        },
      },
      { subresource: 'status' },
    );
  const at = (): string => `${new Date(clock.wall()).toISOString().slice(0, 19)}Z`;
  const renew = (name: string) =>
    cluster.client.patch(
      NODE_NETWORK_REPORTS,
      { name },
      {
        type: 'apply',
        fieldManager: 'udn-agent',
        body: {
          metadata: { name },
          status: {
            rendering: 'Always',
            networks: { ready: 0, pending: 0, failed: 0 },
            ids: { ready: '', pending: '', failed: '' },
            ...{ renewTime: new Date(clock.wall()).toISOString(), leaseDurationSeconds: LEASE_SECONDS },
          },
        },
      },
    );
  const pass = async (seconds: number, ...renewing: string[]) => {
    for (let passed = 0; passed < seconds; passed += 10) {
      for (const name of renewing) await renew(name);
      await cluster.settled();
      await clock.advance(10_000);
      await cluster.settled();
    }
  };
  interface Condition {
    readonly type: string;
    readonly status: string;
    readonly reason: string;
    readonly lastTransitionTime: string;
  }
  const conditionsOf = async (name: string): Promise<readonly Condition[]> => {
    const status = (await cluster.get('Node', name))?.['status'] as { conditions?: Condition[] } | undefined;
    return status?.conditions ?? [];
  };
  const conditionOf = async (name: string): Promise<string | undefined> => {
    const found = (await conditionsOf(name)).find(({ type }) => type === 'NetworkUnavailable');
    return found && `${found.status} ${found.reason}`;
  };

  it('becomes NetworkUnavailable, and its owner gets an event; one that renews its report does not', async () => {
    await start('n1', 'n2');
    for (const name of ['n1', 'n2']) await says(name, 'False', 'OVNUDNIsUp');
    await pass(30, 'n1', 'n2');
    await pass(20, 'n1');
    expect(await conditionOf('n2')).toBe('False OVNUDNIsUp');
    await pass(30, 'n1');
    expect([await conditionOf('n1'), await conditionOf('n2')]).toEqual(['False OVNUDNIsUp', 'True AgentNotReporting']);
    const said = cluster.events.filter(({ reason }) => reason === 'AgentNotReporting');
    expect(said.map(({ regarding, type }) => [regarding.name, type])).toEqual([['n2', 'Warning']]);
    expect((await conditionsOf('n2'))[0]?.lastTransitionTime).not.toBe('2026-01-01T00:00:00Z');
  });

  it('stays as it is where no agent has ever reported', async () => {
    await start('n1');
    await pass(200);
    expect(await conditionsOf('n1')).toEqual([]);
  });

  it('is written once in each silence: the agent and others may say something else', async () => {
    await start('n1');
    await pass(10, 'n1');
    await pass(60);
    expect(await conditionOf('n1')).toBe('True AgentNotReporting');
    await says('n1', 'False', 'OVNUDNIsUp');
    await pass(100);
    expect(await conditionOf('n1')).toBe('False OVNUDNIsUp');
    await pass(20, 'n1');
    await pass(60);
    expect(await conditionOf('n1')).toBe('True AgentNotReporting');
    expect(cluster.events.filter(({ reason }) => reason === 'AgentNotReporting')).toHaveLength(2);
  });

  it('is written by the next leader after a silence that it has seen itself', async () => {
    await start('n1');
    await says('n1', 'False', 'OVNUDNIsUp');
    await pass(10, 'n1');
    await cluster.stop();
    await clock.advance(600_000);
    cluster.start();
    await pass(30);
    expect(await conditionOf('n1')).toBe('False OVNUDNIsUp');
    await pass(20);
    expect(await conditionOf('n1')).toBe('True AgentNotReporting');
  });

  it('has no network of ours to miss once it is excluded', async () => {
    await start('n1');
    await pass(10, 'n1');
    await pass(60);
    const labels = { 'k8s.ovn.org/exclude-from-networks': '' };
    await cluster.patchAndSettle('Node', 'n1', { metadata: { labels } });
    expect(await conditionOf('n1')).toBe('False NodeExcluded');
    await cluster.patchAndSettle('Node', 'n1', { metadata: { labels: { 'k8s.ovn.org/exclude-from-networks': null } } });
    expect(await conditionOf('n1')).toBe('True AgentNotReporting');
  });
});

it('a cause that somebody else has named stays', () => {
  const before = { status: 'True', reason: 'NorthdNotProcessing', message: '', since: '' } as const;
  expect(silentVerdict({ isExcluded: false }, before)).toBeUndefined();
  expect(silentVerdict({ isExcluded: false }, { ...before, status: 'False' })).toMatchObject({ status: 'True' });
  expect(silentVerdict({ isExcluded: true }, before)).toMatchObject({ status: 'False', reason: 'NodeExcluded' });
});

it.each([
  ['True', 'NoRouteCreated', undefined],
  ['False', 'RouteCreated', undefined],
  ['False', 'CalicoIsUp', undefined],
  ['True', 'AgentNotReporting', 'False'],
  ['True', 'OVNControllerNotProcessing', 'False'],
  ['True', 'ComponentFailed', 'False'],
  ['False', 'OVNUDNIsUp', 'False'],
  ['False', 'NodeExcluded', undefined],
] as const)('on an excluded node, which another CNI serves, %s of %s becomes %s', (status, reason, written) => {
  const before = { status, reason, message: '', since: '' };
  expect(silentVerdict({ isExcluded: true }, before)?.status).toBe(written);
});

it('an excluded node without the condition gets False', () => {
  expect(silentVerdict({ isExcluded: true }, undefined)).toMatchObject({ status: 'False', reason: 'NodeExcluded' });
});
