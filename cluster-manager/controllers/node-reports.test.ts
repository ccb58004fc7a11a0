import { afterEach, describe, expect, it, vi } from 'vitest';
import type { NetworkStatus } from '../../api/network-status.ts';
import type { ReportStatus } from '../../api/node-network-report.ts';
import { NODE_NETWORK_REPORTS, USER_DEFINED_NETWORKS } from '../../api/resources.ts';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { NODES } from '../../kube/resources.ts';
import { parseRanges } from '../../net/id-ranges.ts';
import type { ReportFacts } from '../facts/report-facts.ts';
import { createTestCluster, type TestCluster, type TestClusterOptions } from '../testing/harness.ts';
import { cudn, layer2Udn, layer3Udn, node, tenant } from '../testing/objects.ts';
import { nodesCondition } from './network-conditions.ts';
import { changedFailures, changedIds, type NodeTally, nodeFields, tallyNodes } from './node-reports.ts';

const ids = (text: string) => parseRanges(text, 4095);
const report = (name: string, changes: Partial<ReportFacts> = {}): ReportFacts => ({
  ...{ node: name, hasAll: true, observed: '2', ready: ids(''), pending: ids(''), failed: ids('') },
  ...{ leaving: ids(''), retirement: 0, failures: new Map(), renewal: undefined },
  ...changes,
});

const tally = (
  reports: readonly ReportFacts[],
  network: Parameters<typeof tallyNodes>[1],
  { others = [], stale = [] }: { others?: string[]; stale?: string[] } = {},
): NodeTally =>
  tallyNodes(
    {
      nodes: [...reports.map(({ node: name }) => name), ...others],
      report: (name) => reports.find((one) => one.node === name),
      isStale: (name) => stale.includes(name),
    },
    network,
  );
const conditionTextOf = (one: NodeTally): string => {
  const { status, reason, message } = nodesCondition(one);
  return `${status} ${reason}: ${message}`;
};

describe('the nodes of a network', () => {
  const red = { name: 'red', id: 5, createdAt: '1' };
  it.each([
    ['has it', { ready: ids('0-9') }, { ready: 1 }],
    ['is at it', { pending: ids('5') }, { pending: 1 }],
    ['has not heard of it', { ready: ids('0-4') }, { pending: 1 }],
    ['means an earlier network of that id', { ready: ids('0-9'), observed: '0' }, { pending: 1 }],
    ['has no use of it', { hasAll: false, ready: ids('0-4') }, {}],
    ['had use of an earlier one of that id', { hasAll: false, ready: ids('5'), observed: '0' }, {}],
    ['uses it', { hasAll: false, ready: ids('5') }, { ready: 1 }],
  ])('one that %s', (_, changes, counts) => {
    const { ready, pending, failing } = nodeFields(tally([report('n1', changes)], red));
    expect({ ready, pending, failing }).toEqual({ ready: 0, pending: 0, failing: 0, ...counts });
  });

  it('that cannot make it are named, ten of them, by name', () => {
    const failing = (name: string, message?: string) =>
      report(name, { failed: ids('5'), failures: new Map(message === undefined ? [] : [['red', message]]) });
    const reports = Array.from({ length: 12 }, (_, i) => failing(`n${String(11 - i).padStart(2, '0')}`, `why ${i}`));
    expect(nodeFields(tally([...reports, report('x', { ready: ids('5') })], red))).toMatchObject({
      summary: '1/13',
      ...{ ready: 1, pending: 0, failing: 12 },
      problems: [{ node: 'n00', message: 'why 11' }, ...Array.from({ length: 9 }, () => ({}))],
    });
    expect(nodeFields(tally([failing('n1')], red)).problems?.[0]?.message).toContain('than its report can list');
  });

  it('have it only where they report it, and still do', () => {
    const has = (name: string) => report(name, { ready: ids('5') });
    const away = report('n3', { hasAll: false });
    expect(conditionTextOf(tally([], red))).toBe('Unknown NoNodes: The cluster has no nodes.');
    expect(conditionTextOf(tally([], red, { others: ['n1', 'n2'] }))).toMatch(
      /^Unknown NodesSilent: None of the 2 nodes has reported/,
    );
    expect(conditionTextOf(tally([has('n1')], red, { others: ['n2'] }))).toBe(
      'Unknown NodesSilent: 1 of 2 nodes have not reported: n2. Check udn-agent there, and label nodes that run none k8s.ovn.org/exclude-from-networks=.',
    );
    const stale = tally([has('n1'), has('n2'), away], red, { stale: ['n2'] });
    expect(conditionTextOf(stale)).toBe(
      'Unknown NodesSilent: 1 of 3 nodes have stopped reporting: n2. Check udn-agent there.',
    );
    expect(nodeFields(stale)).toMatchObject({ total: 3, summary: '1/2', ready: 1, silent: 1 });
    expect(conditionTextOf(tally([has('n1'), report('n2')], red))).toBe(
      'False NodesPending: 1 of 2 nodes have not programmed the network yet: n2',
    );
    expect(conditionTextOf(tally([has('n1'), away], red))).toBe(
      'True NodesReady: All 1 nodes that need the network have programmed it.',
    );
    expect(conditionTextOf(tally([away], red))).toMatch(/^True NodesReady: No node needs the network yet/);
  });
});

it('a report changes the networks whose state is another one, and those that something else is said of', () => {
  const before = report('n1', {
    ready: ids('0-9'),
    failures: new Map([
      ['x', 'a'],
      ['y', 'a'],
    ]),
  });
  const after = report('n1', {
    ready: ids('0-6,8-9'),
    failed: ids('7'),
    failures: new Map([
      ['x', 'b'],
      ['y', 'a'],
    ]),
  });
  expect(changedIds(before, after)).toEqual([ids('7'), ids('7')]);
  expect(changedIds(after, after)).toEqual([]);
  expect(changedIds(undefined, before)).toEqual([ids('0-9')]);
  expect(changedFailures(before, after)).toEqual(['x']);
  expect(changedFailures(after, undefined)).toEqual(['x', 'y']);
});

describe('the status of a network', () => {
  let cluster: TestCluster;
  afterEach(() => cluster.close());
  const start = async (options: TestClusterOptions = {}): Promise<void> => {
    cluster = await createTestCluster(options);
    cluster.start();
  };
  /** As the agent of a node writes it. */
  const reportStatus = async (
    name: string,
    status: Partial<ReportStatus['ids']> = {},
    more: Partial<ReportStatus> = {},
  ) => {
    const uid = (await cluster.get('Node', name))?.metadata.uid ?? '';
    await cluster.client.patch(
      NODE_NETWORK_REPORTS,
      { name },
      {
        type: 'apply',
        fieldManager: 'udn-agent',
        body: {
          metadata: { name, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }] },
          status: {
            rendering: 'Always',
            observed: '2999-01-01T00:00:00Z',
            networks: { ready: 0, pending: 0, failed: 0 },
            ids: { ready: '', pending: '', failed: '', ...status },
            ...more,
          },
        },
      },
    );
  };
  const statusOf = async (key = 'ns/net'): Promise<NetworkStatus> =>
    (await cluster.get('UserDefinedNetwork', key))?.['status'] as NetworkStatus;
  const shows = (nodes: NetworkStatus['nodes']) =>
    vi.waitFor(async () => expect((await statusOf()).nodes).toEqual(nodes), { timeout: 5_000, interval: 5 });
  type Nodes = NonNullable<NetworkStatus['nodes']>;
  const counts = ({
    ready = 0,
    pending = 0,
    failing = 0,
    silent = 0,
    ...more
  }: Partial<Nodes> & { total: number }) => ({
    ...{ ready, pending, failing, silent, summary: `${ready}/${ready + pending + failing + silent}`, ...more },
  });
  const isReady = (expected: RegExp) =>
    vi.waitFor(async () => expect(conditionOf(await statusOf(), 'Ready')).toMatch(expected), {
      timeout: 5_000,
      interval: 5,
    });
  const nodesReady = (status: NetworkStatus) => conditionOf(status, 'NodesReady');
  const conditionOf = ({ conditions = [] }: NetworkStatus, name: string) => {
    const found = conditions.find(({ type }) => type === name);
    return found && `${found.status} ${found.reason} ${found.message}`;
  };

  it('waits for no node that is excluded by a label or by its system, from when it is', async () => {
    await start();
    const windows = node('n2', {}, { labels: { 'kubernetes.io/os': 'windows' } });
    await cluster.createAndSettle(tenant('ns'), node('n1'), windows, node('n3'), layer2Udn('ns/net', ['10.2.0.0/16']));
    await reportStatus('n1', { ready: '0-1' });
    await isReady(/^Unknown NodesSilent 1 of 2 nodes have not reported: n3[.]/);
    const label = (value: string | null) =>
      cluster.client.patch(
        NODES,
        { name: 'n3' },
        { type: 'merge', body: { metadata: { labels: { 'k8s.ovn.org/exclude-from-networks': value } } } },
      );
    await label('');
    await shows(counts({ total: 1, ready: 1 }));
    await isReady(/^True NetworkReady/);
    await label(null);
    await isReady(/^Unknown NodesSilent/);
  });

  it('counts the nodes that say something, and names those that cannot program it; Ready says the same', async () => {
    await start();
    await cluster.createAndSettle(
      tenant('ns'),
      ...['n1', 'n2', 'n3'].map((name) => node(name)),
      layer2Udn('ns/net', ['10.2.0.0/16']),
    );
    await cluster.settled();
    await shows(counts({ total: 3, silent: 3 }));
    expect(nodesReady(await statusOf())).toMatch(/^Unknown NodesSilent None of the 3 nodes has reported/);
    await isReady(/^Unknown NodesSilent/);
    await reportStatus('n1', { ready: '0-1' });
    await reportStatus('n2', { ready: '0' });
    await reportStatus('n3', { ready: '0' }, { rendering: 'OnDemand' });
    await shows(counts({ total: 3, ready: 1, pending: 1, failing: 0 }));
    expect(nodesReady(await statusOf())).toMatch(/^False NodesPending/);
    await isReady(/^False NodesPending 1 of 3 nodes have not programmed the network yet: n2/);
    await reportStatus('n2', { ready: '0-1' });
    await shows(counts({ total: 3, ready: 2, pending: 0, failing: 0 }));
    expect(nodesReady(await statusOf())).toMatch(/^True NodesReady/);
    await isReady(/^True NetworkReady/);
    const exceptions = [
      { network: 'ns_net', state: 'Failed' as const, message: 'EINVAL', since: '2026-01-01T00:00:00Z' },
    ];
    await reportStatus('n3', { ready: '0', failed: '1' }, { rendering: 'OnDemand', exceptions });
    const problems = [{ node: 'n3', message: 'EINVAL' }];
    await shows(counts({ total: 3, ready: 2, pending: 0, failing: 1, problems }));
    const status = await statusOf();
    expect(nodesReady(status)).toBe('False NodesFailing 1 of 3 nodes cannot program the network: n3: EINVAL');
    await isReady(/^False NodesFailing/);
    // Its report goes with a Node.
    await cluster.delete('Node', 'n3');
    await shows(counts({ total: 2, ready: 2, pending: 0, failing: 0 }));
    await vi.waitFor(async () => expect(await cluster.get('NodeNetworkReport', 'n3')).toBeUndefined());
  });

  it('on layer 3 says both what nodes were given and what they made of it', async () => {
    await start();
    await cluster.create(tenant('ns'), node('n1'), layer3Udn('ns/net', ['10.2.0.0/16']));
    await reportStatus('n1', { ready: '0-1' });
    await shows(counts({ total: 1, allocated: 1, failed: 0, ready: 1, pending: 0, failing: 0 }));
  });

  it('does not say that all nodes have it before all have said something', async () => {
    await start();
    await cluster.create(tenant('ns'), node('n1'), node('n2'), layer2Udn('ns/net', ['10.2.0.0/16']));
    await reportStatus('n1', { ready: '0-1' });
    await shows(counts({ total: 2, ready: 1, pending: 0, failing: 0, silent: 1 }));
    expect(nodesReady(await statusOf())).toMatch(/^Unknown NodesSilent 1 of 2 nodes have not reported: n2/);
    await reportStatus('n2', { ready: '0-1' });
    await shows(counts({ total: 2, ready: 2, pending: 0, failing: 0 }));
    expect(nodesReady(await statusOf())).toMatch(/^True NodesReady/);
  });

  it('says nothing of nodes any more when no namespace has the network', async () => {
    await start();
    const network = { topology: 'Layer2', layer2: { role: 'Primary', subnets: ['10.2.0.0/16'] } };
    await cluster.create(tenant('ns', { team: 'a' }), node('n1'), cudn('red', { matchLabels: { team: 'a' } }, network));
    await reportStatus('n1', { ready: '0-1' });
    const statusOfRed = async () =>
      (await cluster.get('ClusterUserDefinedNetwork', 'red'))?.['status'] as NetworkStatus;
    await vi.waitFor(async () => expect(nodesReady(await statusOfRed())).toMatch(/^True/));
    const namespaceSelector = { matchLabels: { team: 'b' } };
    await cluster.patch('ClusterUserDefinedNetwork', 'red', { spec: { namespaceSelector } });
    await vi.waitFor(async () => {
      expect(nodesReady(await statusOfRed())).toBeUndefined();
      expect(await statusOfRed()).not.toHaveProperty('nodes');
    });
  });

  it('takes no report for one of it that is older than its NAD, however old the network itself is', async () => {
    const serverClock = createFakeClock();
    await start({ serverClock });
    const network = { topology: 'Layer2', layer2: { role: 'Primary', subnets: ['10.2.0.0/16'] } };
    await cluster.create(node('n1'), cudn('red', { matchLabels: { team: 'a' } }, network));
    const later = async (): Promise<string> => {
      await serverClock.advance(60_000);
      return `${new Date(serverClock.wall()).toISOString().slice(0, 19)}Z`;
    };
    // The ids of another network that was there before: red has none yet.
    await reportStatus('n1', { ready: '0-1' }, { observed: await later() });
    const made = await later();
    await cluster.createAndSettle(tenant('ns', { team: 'a' }));
    const nodesOfRed = async () =>
      ((await cluster.get('ClusterUserDefinedNetwork', 'red'))?.['status'] as NetworkStatus | undefined)?.nodes;
    const wait = { timeout: 5_000, interval: 5 };
    await vi.waitFor(
      async () => expect(await nodesOfRed()).toEqual(counts({ total: 1, ready: 0, pending: 1, failing: 0 })),
      wait,
    );
    // The same ids: that they mean red now is all that is new.
    await reportStatus('n1', { ready: '0-1' }, { observed: made });
    await vi.waitFor(
      async () => expect(await nodesOfRed()).toEqual(counts({ total: 1, ready: 1, pending: 0, failing: 0 })),
      wait,
    );
  });

  it('is written again when somebody changes it', async () => {
    await start();
    await cluster.create(tenant('ns'), node('n1'), layer2Udn('ns/net', ['10.2.0.0/16']));
    await reportStatus('n1', { ready: '0-1' });
    await shows(counts({ total: 1, ready: 1, pending: 0, failing: 0 }));
    await cluster.settled();
    const ref = { namespace: 'ns', name: 'net' };
    const body = { status: { nodes: { ready: 7 } } };
    await cluster.client.patch(USER_DEFINED_NETWORKS, ref, { type: 'merge', body }, { subresource: 'status' });
    await shows(counts({ total: 1, ready: 7, pending: 0, failing: 0, summary: '1/1' }));
    await shows(counts({ total: 1, ready: 1, pending: 0, failing: 0 }));
  });

  it('a report that cannot be read is left out, and stops nothing', async () => {
    await start();
    await cluster.create(tenant('ns'), node('n1'), node('n2'), layer2Udn('ns/net', ['10.2.0.0/16']));
    await reportStatus('n1', { ready: '9-1' });
    await reportStatus('n2', { ready: '0-1' });
    await shows(counts({ total: 2, ready: 1, pending: 0, failing: 0, silent: 1 }));
    expect(cluster.manager.mirrors.caches.reports.has('n1')).toBe(false);
  });

  it('of one network is written once for many reports', async () => {
    const clock = createFakeClock();
    await start({ clock });
    const names = Array.from({ length: 50 }, (_, i) => `n${i}`);
    await cluster.createAndSettle(
      tenant('ns'),
      ...names.map((name) => node(name)),
      layer2Udn('ns/net', ['10.2.0.0/16']),
    );
    await clock.advance(30_000);
    await cluster.settled();
    const statusWrites = () =>
      cluster.observations.filter(
        (one) =>
          one.source === 'writer' &&
          one.about.kind === 'written' &&
          one.about.resource.plural === 'userdefinednetworks',
      ).length;
    const before = statusWrites();
    for (const name of names) await reportStatus(name, { pending: '1' });
    for (const name of names) await reportStatus(name, { ready: '1' });
    await cluster.settled();
    expect(statusWrites() - before).toBe(0);
    // Users wait for it: that all nodes have the network is written a second later, and with it that the network is ready.
    await clock.advance(1_000);
    await cluster.settled();
    expect(statusWrites() - before).toBe(2);
    await isReady(/^True/);
    expect((await statusOf()).nodes).toMatchObject({ ready: 50 });
    await clock.advance(300_000);
    await cluster.settled();
    expect(statusWrites() - before).toBe(2);
    // That one has it no more waits for the usual turn.
    await reportStatus('n7', { pending: '1' });
    await clock.advance(14_000);
    await cluster.settled();
    expect(statusWrites() - before).toBe(2);
    await clock.advance(16_000);
    await cluster.settled();
    expect(statusWrites() - before).toBe(4);
    await isReady(/^False NodesPending 1 of 50 nodes have not programmed the network yet: n7/);
  });

  it('is not ready any more when an agent stops renewing its report, until it renews it', async () => {
    const clock = createFakeClock();
    await start({ clock });
    await cluster.create(tenant('ns'), node('n1'), node('n2'), layer2Udn('ns/net', ['10.2.0.0/16']));
    const renew = (name: string) =>
      reportStatus(
        name,
        { ready: '0-1' },
        { renewTime: new Date(clock.wall()).toISOString(), leaseDurationSeconds: 40 },
      );
    const pass = async (seconds: number, ...names: string[]) => {
      for (let passed = 0; passed < seconds; passed += 10) {
        for (const name of names) await renew(name);
        await clock.advance(10_000);
        await cluster.settled();
      }
    };
    await pass(60, 'n1', 'n2');
    await isReady(/^True/);
    await pass(90, 'n1');
    await isReady(/^Unknown NodesSilent 1 of 2 nodes have stopped reporting: n2\. Check udn-agent there\.$/);
    await shows(counts({ total: 2, ready: 1, silent: 1 }));
    await pass(20, 'n1', 'n2');
    await isReady(/^True/);
  });
});
