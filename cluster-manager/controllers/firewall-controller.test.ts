import { afterEach, expect, it, vi } from 'vitest';
import { firewallVersion } from '../../api/firewall-version.ts';
import { EGRESS_FIREWALLS, NODE_NETWORK_REPORTS } from '../../api/resources.ts';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { createTestCluster, type TestCluster, type TestClusterOptions } from '../testing/harness.ts';
import { namespace, node, pod } from '../testing/objects.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

const start = async (options: TestClusterOptions = {}): Promise<void> => {
  cluster = await createTestCluster({ random: () => 0, ...options });
  cluster.start();
  await cluster.create(...['n1', 'n2', 'n3'].map((name) => node(name)), namespace('red'));
};
const DENY = { egress: [{ type: 'Deny', to: { cidrSelector: '0.0.0.0/0' } }] };
const firewall = (ns: string, spec: object = DENY) => ({
  ...{ apiVersion: 'k8s.ovn.org/v1', kind: 'EgressFirewall', metadata: { namespace: ns, name: 'default' }, spec },
});
const podOn = (name: string, nodeName: string) => pod(`red/${name}`, {}, { nodeName });
const versionOf = async (ns = 'red'): Promise<string> => {
  const { uid = '', generation = 0 } = (await cluster.get('EgressFirewall', `${ns}/default`))?.metadata ?? {};
  return firewallVersion(uid, generation);
};
/** As the agent of a node writes it. */
const report = async (name: string, firewalls?: object, renewal = {}): Promise<void> => {
  const uid = (await cluster.get('Node', name))?.metadata.uid ?? '';
  const networks = { ready: 0, pending: 0, failed: 0 };
  const ids = { ready: '', pending: '', failed: '' };
  const body = {
    metadata: { name, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }] },
    status: { rendering: 'Always', networks, ids, ...renewal, ...(firewalls && { firewalls }) },
  };
  await cluster.client.patch(NODE_NETWORK_REPORTS, { name }, { type: 'apply', fieldManager: 'udn-agent', body });
};
const applies = async (...names: string[]): Promise<void> => {
  for (const name of names) await report(name, { applied: await versionOf() });
};
const shown = async (ns = 'red') => (await cluster.get('EgressFirewall', `${ns}/default`))?.['status'];
const shows = (status: object) =>
  vi.waitFor(async () => expect(await shown()).toEqual(status), { timeout: 5_000, interval: 5 });
const APPLIED = 'EgressFirewall Rules applied';

it('says that a firewall is applied when the nodes with its pods say so, and names one that does not', async () => {
  await start();
  await cluster.create(podOn('a', 'n1'), podOn('b', 'n2'), firewall('red'));
  await applies('n1', 'n3');
  await shows({
    status: 'EgressFirewall Rules not applied yet: 1 of 2 nodes have not reported them: n2',
    messages: ['n2: udn-agent has not reported', `n1: ${APPLIED}`],
  });
  await applies('n2');
  await shows({ status: APPLIED, messages: [`n1: ${APPLIED}`, `n2: ${APPLIED}`] });
  await report('n2', { applied: '', problems: [{ firewall: await versionOf(), message: 'no room' }] });
  await shows({
    status: 'EgressFirewall Rules not correctly applied: 1 of 2 nodes cannot apply them: n2',
    messages: ['n2: EgressFirewall Rules not correctly applied: no room', `n1: ${APPLIED}`],
  });
  // With its node a message goes, though the pod is still there.
  await cluster.delete('Node', 'n2');
  await shows({ status: APPLIED, messages: [`n1: ${APPLIED}`] });
  await cluster.delete('Pod', 'red/a');
  await shows({ status: APPLIED });
});

it('takes what it has said back when the firewall is edited, until nodes have the new version', async () => {
  await start();
  await cluster.create(podOn('a', 'n1'), firewall('red'));
  await applies('n1');
  await shows({ status: APPLIED, messages: [`n1: ${APPLIED}`] });
  await cluster.patch('EgressFirewall', 'red/default', {
    spec: { egress: [{ type: 'Deny', to: { cidrSelector: '::/0' } }] },
  });
  await shows({
    status: 'EgressFirewall Rules not applied yet: 1 of 1 nodes have not reported them: n1',
    messages: ['n1: EgressFirewall Rules not applied yet'],
  });
  await applies('n1');
  await shows({ status: APPLIED, messages: [`n1: ${APPLIED}`] });
});

it('says what nobody can follow, with an event, and forgets what other programs’ zones have said', async () => {
  await start();
  await cluster.create(podOn('a', 'n1'), firewall('red', { egress: [{ type: 'Deny', to: { cidrSelector: '1.2' } }] }));
  const ref = { namespace: 'red', name: 'default' };
  const body = { status: { status: APPLIED, messages: ['zone-7: EgressFirewall Rules applied'] } };
  await cluster.client.patch(EGRESS_FIREWALLS, ref, { type: 'merge', body }, { subresource: 'status' });
  await applies('n1');
  await shows({
    status: expect.stringMatching(
      /^EgressFirewall Rules not correctly applied: spec\.egress\[0\].*; all that leaves the cluster is denied$/,
    ),
    messages: [`n1: ${APPLIED}`],
  });
  expect(cluster.events.filter(({ reason }) => reason === 'PolicyUnreadable')).toHaveLength(1);
  await cluster.patch('EgressFirewall', 'red/default', { spec: DENY });
  await applies('n1');
  await shows({ status: APPLIED, messages: [`n1: ${APPLIED}`] });
});

it('names an agent that has stopped, and one that is older, until they report again', async () => {
  const clock = createFakeClock();
  await start({ clock });
  const settled = async (milliseconds: number): Promise<void> => {
    await cluster.settled();
    await clock.advance(milliseconds);
    await cluster.settled();
  };
  const renew = async (): Promise<void> => {
    const renewTime = new Date(clock.wall()).toISOString();
    await report('n1', { applied: await versionOf() }, { renewTime, leaseDurationSeconds: 40 });
  };
  await cluster.create(podOn('a', 'n1'), podOn('b', 'n2'), firewall('red'));
  await renew();
  await applies('n2');
  await settled(2_000);
  const applied = { status: APPLIED, messages: [`n1: ${APPLIED}`, `n2: ${APPLIED}`] };
  expect(await shown()).toEqual(applied);
  await settled(41_000);
  await report('n2');
  await settled(30_000);
  expect(await shown()).toEqual({
    status: 'EgressFirewall Rules not applied yet: 2 of 2 nodes have not reported them: n1, n2',
    messages: ['n1: udn-agent has stopped reporting', 'n2: udn-agent is older and does not report firewalls'],
  });
  await renew();
  await applies('n2');
  await settled(2_000);
  expect(await shown()).toEqual(applied);
});

it('is written seldom, whatever nodes and pods do, and not again by another manager', async () => {
  const clock = createFakeClock();
  await start({ clock });
  const names = Array.from({ length: 40 }, (_, index) => `m${index}`);
  await cluster.create(...names.map((name) => node(name)), ...names.map((name) => podOn(name, name)), firewall('red'));
  await cluster.settled();
  await applies(...names);
  await cluster.settled();
  await clock.advance(2_000);
  await cluster.settled();
  expect(await shown()).toEqual({ status: APPLIED });
  const writes = () =>
    cluster.observations.filter(
      (one) =>
        one.source === 'writer' && one.about.kind === 'written' && one.about.resource.plural === 'egressfirewalls',
    ).length;
  const before = writes();
  // Reports that flap within half a minute, and pods that come and go.
  for (let round = 0; round < 3; round += 1) {
    for (const name of names) await report(name, { applied: '' });
    await cluster.settled();
    await clock.advance(1_000);
    await applies(...names);
    await cluster.delete('Pod', `red/${names[round]}`);
    await cluster.settled();
    await clock.advance(1_000);
    await cluster.settled();
  }
  await clock.advance(60_000);
  await cluster.settled();
  expect([writes() - before, await shown()]).toEqual([0, { status: APPLIED }]);
  await cluster.stop();
  cluster.start();
  await cluster.settled();
  await clock.advance(60_000);
  await cluster.settled();
  expect(writes() - before).toBe(0);
});
