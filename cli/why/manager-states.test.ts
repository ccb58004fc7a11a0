/** States that the real cluster manager makes on the embedded API server, and what is said about them. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { PRIMARY_NETWORK_LABEL } from '../../api/names.ts';
import { createTestCluster, type TestCluster, type TestClusterOptions } from '../../cluster-manager/testing/harness.ts';
import {
  askPrimary,
  cudn,
  ipamClaim,
  layer2Udn,
  layer3Udn,
  nad,
  namespace,
  node,
  pod,
  tenant,
  udn,
} from '../../cluster-manager/testing/objects.ts';
import { EVENTS, LEASES } from '../../kube/resources.ts';
import { clusterNetworks, clusterPods } from '../commands/cluster-lists.ts';
import { askWhy, questionOf } from '../commands/why.ts';
import { READY } from './testing/objects.ts';

let cluster: TestCluster;
const start = async (options: TestClusterOptions = {}): Promise<void> => {
  cluster = await createTestCluster(options);
  cluster.start();
  await cluster.create(namespace('ovn-udn'), node('n1', { 'k8s.ovn.org/node-chassis-id': 'c' }));
  await cluster.client.create(LEASES, {
    metadata: { namespace: 'ovn-udn', name: 'udn-cluster-manager' },
    spec: { holderIdentity: 'cm-1', leaseDurationSeconds: 15, renewTime: new Date(NOW).toISOString() },
  });
};
beforeEach(() => start());
afterEach(() => cluster.close());

const NOW = Date.parse('2026-06-01T00:00:00Z');

const ask = async (...words: string[]) => {
  await cluster.settled();
  const { lines, exitStatus, data } = await askWhy(cluster.client, questionOf(words, 'default'), NOW);
  return { answer: lines[0], next: lines[1], exitStatus, cause: (data as { cause?: string }).cause, lines };
};

const primaryLayer2 = (cidr: string) => ({ topology: 'Layer2', layer2: { role: 'Primary', subnets: [cidr] } });
const runs = (key: string) => cluster.patch('Pod', key, { status: READY }, 'status');
/** As the agent would. */
const attach = (key: string, more: object = {}) =>
  cluster.patch('Pod', key, {
    metadata: {
      annotations: {
        'k8s.ovn.org/pod-networks': JSON.stringify({
          default: { ip_addresses: ['10.128.0.5/23'], mac_address: '0a:58:0a:80:00:05', role: 'infrastructure-locked' },
          ...more,
        }),
      },
    },
  });

it('a network and a pod that are well', async () => {
  await cluster.create(tenant('red'), layer3Udn('red/net', ['10.100.0.0/16']), pod('red/web'));
  await attach('red/web', {
    'red/net': { ip_addresses: ['10.100.0.4/24'], mac_address: '0a:58:0a:64:00:04', role: 'primary' },
  });
  await runs('red/web');
  // What its conditions say of the node comes after them.
  await expect
    .poll(() => ask('udn', 'red/net'))
    .toMatchObject({ answer: 'UserDefinedNetwork red/net is ready, as far as could be read', exitStatus: 0 });
  // No agent runs here, and none reports.
  const answer = 'pod red/web is ready, as far as could be read';
  expect(await ask('red/web')).toMatchObject({ answer, exitStatus: 0 });
  expect(await ask('network/red_net')).toMatchObject({ exitStatus: 0 });
});

it('a network above the limit that this cluster manager has, whatever the usual one is', async () => {
  await cluster.close();
  await start({ limits: { maxNetworks: 1 } });
  await cluster.createAndSettle(tenant('red'), layer2Udn('red/net', ['10.100.0.0/16']));
  await cluster.create(tenant('blue'), layer2Udn('blue/net', ['10.100.0.0/16']), pod('blue/web'));
  const limit = 'at most 1 networks are allowed in this cluster (--max-networks), 1 exist';
  for (const words of [['udn', 'blue/net'], ['blue/web']]) {
    const { answer, next, cause } = await ask(...words);
    expect([cause, answer]).toEqual(['id-missing', expect.stringContaining(limit)]);
    expect(next).toContain('when another network is deleted');
  }
  await cluster.delete('UserDefinedNetwork', 'red/net');
  expect((await ask('udn', 'blue/net')).exitStatus).toBe(0);
});

it('a network above the limit of its namespace', async () => {
  await cluster.close();
  await start({ limits: { maxNetworks: 9, maxNetworksPerNamespace: 1 } });
  await cluster.createAndSettle(tenant('red'), layer2Udn('red/net', ['10.100.0.0/16']));
  await cluster.create(layer2Udn('red/more', ['10.101.0.0/16'], { role: 'Secondary' }));
  const { answer, next, cause } = await ask('udn', 'red/more');
  expect([cause, answer]).toEqual(['id-missing', expect.stringContaining('allowed in a namespace')]);
  expect(next).toContain('another network of the namespace is deleted; or raise --max-networks-per-namespace');
});

it('a label that is missing, and one that came later', async () => {
  await cluster.create(namespace('red'), layer2Udn('red/net', ['10.100.0.0/16']), pod('red/web'));
  const entry = { ip_addresses: ['10.128.0.5/23'], mac_address: '0a:58:0a:80:00:05', role: 'primary' };
  await attach('red/web', { default: entry });
  await runs('red/web');
  expect(await ask('udn', 'red/net')).toMatchObject({ cause: 'label-missing', exitStatus: 1 });
  expect((await ask('red/web')).answer).toContain('UserDefinedNetwork red/net has no effect');
  await cluster.patch('Namespace', 'red', { metadata: { labels: { [PRIMARY_NETWORK_LABEL]: '' } } });
  expect(await ask('udn', 'red/net')).toMatchObject({ exitStatus: 0 });
  await attach('red/web', { default: entry });
  expect((await ask('red/web')).cause).toBe('older-than-network');
});

it('two networks of the cluster that select one namespace', async () => {
  await cluster.create(tenant('red', { a: '', b: '' }));
  await cluster.createAndSettle(cudn('one', { matchLabels: { a: '' } }, primaryLayer2('10.1.0.0/16')));
  await cluster.create(cudn('two', { matchLabels: { b: '' } }, primaryLayer2('10.2.0.0/16')));
  expect(await ask('cudn', 'one')).toMatchObject({ exitStatus: 0 });
  const { answer, cause, next } = await ask('cudn', 'two');
  expect(cause).toBe('primary-taken');
  expect(answer).toContain('NetworkAttachmentDefinition red/one, of ClusterUserDefinedNetwork one');
  expect(next).toContain('delete one of them, or change the labels');
});

it('a NAD of somebody else', async () => {
  await cluster.create(tenant('red'), nad('red/net', { type: 'macvlan' }), layer2Udn('red/net', ['10.100.0.0/16']));
  expect(await ask('udn', 'red/net')).toMatchObject({ cause: 'nad-foreign', exitStatus: 1 });
});

it('what cannot be, is not implemented, or overlaps', async () => {
  await cluster.create(tenant('red'), layer2Udn('red/net', ['10.128.0.0/16']));
  const { cause, answer } = await ask('udn', 'red/net');
  expect([cause, answer]).toEqual(['condition', expect.stringContaining('overlap')]);
});

it('nodes without a subnet', async () => {
  const spec = {
    topology: 'Layer3',
    layer3: { role: 'Primary', subnets: [{ cidr: '10.100.0.0/23', hostSubnet: 24 }] },
  };
  await cluster.create(tenant('red'), udn('red/net', spec), node('n2'), node('n3'));
  const { cause, answer } = await ask('udn', 'red/net');
  expect(cause).toBe('subnets-exhausted');
  expect(answer).toMatch(/node n[123] has no subnet of network red_net: no subnet left in 10\.100\.0\.0\/23/);
});

it('a network that is full, and pods that ask for what somebody has', async () => {
  await cluster.create(tenant('red'), layer2Udn('red/net', ['10.100.0.0/29']));
  await cluster.createAndSettle(...['p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7'].map((name) => pod(`red/${name}`)));
  const { data } = await clusterPods(cluster.client, { in: 'red', now: NOW, isWide: false });
  const full = (data as { items: { name: string; cause?: string }[] }).items.filter(
    (one) => one.cause === 'addresses-exhausted',
  );
  expect(full.length).toBeGreaterThan(0);
  expect(await ask(`red/${full[0]?.name}`)).toMatchObject({
    cause: 'addresses-exhausted',
    answer: expect.stringContaining('subnet 10.100.0.0/29 has no free address left'),
  });
});

it('a network with only reserved addresses left, of which pods request one', async () => {
  const spec = {
    topology: 'Layer2',
    layer2: { role: 'Primary', subnets: ['10.100.0.0/29'], reservedSubnets: ['10.100.0.0/29'] },
  };
  await cluster.create(tenant('red'), udn('red/net', spec));
  await cluster.createAndSettle(pod('red/p'));
  expect(await ask('red/p')).toMatchObject({
    cause: 'addresses-exhausted',
    next: expect.stringMatching(/^→ recreate the pod with a request for an address of reservedSubnets/),
  });
});

it('a network that has no address left for a new pod is ready, and says so', async () => {
  const spec = (more: object) => ({ topology: 'Layer2', layer2: { role: 'Primary', ...more } });
  await cluster.create(tenant('red'), tenant('blue'));
  await cluster.create(
    udn('red/net', spec({ subnets: ['10.100.0.0/29'], reservedSubnets: ['10.100.0.0/29'] })),
    udn('blue/net', spec({ subnets: ['10.101.0.0/29'] })),
  );
  await cluster.settled();
  const addresses = async (name: string) => {
    const { answer, lines } = await ask('udn', name);
    return [answer, ...lines.filter((line) => line.includes('a new pod gets no address'))];
  };
  const ready = (name: string) => expect.stringMatching(`${name} is ready`);
  await expect
    .poll(() => addresses('red/net'))
    .toEqual([
      ready('red/net'),
      expect.stringMatching(/warning {2}addresses .* outside of reservedSubnets, where pods get addresses on request$/),
    ]);
  await expect.poll(() => addresses('blue/net')).toEqual([ready('blue/net')]);
  await cluster.createAndSettle(...['p1', 'p2', 'p3', 'p4'].map((name) => pod(`blue/${name}`)));
  expect(await addresses('blue/net')).toEqual([
    ready('blue/net'),
    expect.stringMatching(/warning {2}addresses .* subnet 10\.101\.0\.0\/29 has no free address left$/),
  ]);
});

it('a claim that is not there, and one that another pod has', async () => {
  const persistent = { ipam: { lifecycle: 'Persistent' } };
  const naming = (claim: string) => askPrimary({ 'ipam-claim-reference': claim });
  await cluster.createAndSettle(
    tenant('red'),
    layer2Udn('red/net', ['10.100.0.0/16'], persistent),
    ipamClaim('red/c', 'red_net'),
  );
  await cluster.createAndSettle(pod('red/first', naming('c')));
  await cluster.create(pod('red/second', naming('c')), pod('red/none', naming('nobody')));
  const answers = [await ask('red/none'), await ask('red/second')];
  expect(answers.map(({ cause, exitStatus }) => [cause, exitStatus])).toEqual([
    ['request-refused', 1],
    ['request-refused', 1],
  ]);
  expect(answers[0]?.answer).toContain('nobody');
  expect(answers[1]?.answer).toContain('red/first');
});

it('an annotation that is garbage, of a pod, holds the network and is named', async () => {
  await cluster.createAndSettle(tenant('red'), layer2Udn('red/net', ['10.100.0.0/16']));
  await cluster.createAndSettle(pod('red/odd', { annotations: { 'k8s.ovn.org/pod-networks': '{"default":' } }));
  expect(await ask('red/odd')).toMatchObject({ cause: 'annotation-unreadable' });
  await cluster.delete('UserDefinedNetwork', 'red/net');
  const { answer, cause, next } = await ask('udn', 'red/net');
  expect(cause).toBe('annotation-unreadable');
  expect(answer).toContain('Pod red/odd cannot be read');
  expect(next).toBe('→ kubectl -n red delete pod odd');
  await cluster.delete('Pod', 'red/odd');
  expect(await ask('udn', 'red/net')).toMatchObject({ cause: 'not-found' });
});

it('a deletion that waits for pods, and a namespace that goes', async () => {
  await cluster.createAndSettle(tenant('red'), layer2Udn('red/net', ['10.100.0.0/16']), pod('red/web'));
  await cluster.patch('Pod', 'red/web', { metadata: { finalizers: ['example.org/keep'] } });
  await cluster.delete('Namespace', 'red');
  const held = await ask('udn', 'red/net');
  expect(held).toMatchObject({ cause: 'pods-use-it', next: '→ udnctl why red/web explains why that pod still exists' });
  expect(held.answer).toBe('UserDefinedNetwork red/net is not deleted yet: pods use it: red/web (being deleted)');
  const { answer } = await ask('red/web');
  expect(answer).toContain('the finalizer example.org/keep of Pod red/web');
});

it('a manager that does not work is the reason, when it is', async () => {
  await cluster.stop();
  await cluster.create(tenant('red'), layer2Udn('red/net', ['10.100.0.0/16']));
  await cluster.client.patch(
    LEASES,
    { namespace: 'ovn-udn', name: 'udn-cluster-manager' },
    { type: 'merge', body: { spec: { renewTime: new Date(NOW - 600_000).toISOString() } } },
  );
  const { cause, answer } = await ask('udn', 'red/net');
  expect(cause).toBe('manager-away');
  expect(answer).toContain('the cluster manager cm-1 last renewed its Lease at 2026-05-31T23:50:00.000Z');
});

it('events say what objects do not', async () => {
  await cluster.create(tenant('red'), layer3Udn('red/net', ['10.100.0.0/16']), pod('red/web'));
  await attach('red/web');
  await cluster.client.create(EVENTS, {
    metadata: { namespace: 'red', name: 'e1' },
    involvedObject: { kind: 'Pod', namespace: 'red', name: 'web', apiVersion: 'v1' },
    ...{ type: 'Warning', reason: 'ErrorAllocatingPod', message: 'network red_net: subnet 10.100.0.0/24 is full' },
  });
  expect((await ask('red/web')).answer).toContain('subnet 10.100.0.0/24 is full');
});

it('tables have what there is', async () => {
  await cluster.create(tenant('red'), layer2Udn('red/net', ['10.100.0.0/16']), pod('red/web'));
  await cluster.createAndSettle(
    tenant('shop', { team: 'shop' }),
    cudn('shop', { matchLabels: { team: 'shop' } }, primaryLayer2('10.1.0.0/16')),
  );
  // No agent runs here.
  const { tables, notes } = await clusterNetworks(cluster.client, { in: undefined, now: NOW, isWide: false });
  expect(notes).toEqual([]);
  expect(tables[0]?.rows.map((row) => row.slice(0, 8))).toEqual([
    [
      'cluster_udn_shop',
      'cudn shop',
      'layer2',
      'primary',
      '10.1.0.0/16',
      expect.stringMatching(/^[12]$/),
      'unknown',
      '0',
    ],
    ['red_net', 'udn red/net', 'layer2', 'primary', '10.100.0.0/16', expect.stringMatching(/^[12]$/), 'unknown', '1'],
  ]);
  const inRed = await clusterNetworks(cluster.client, { in: 'red', now: NOW, isWide: false });
  expect(inRed.tables[0]?.rows.map(([name]) => name)).toEqual(['red_net']);
  const pods = await clusterPods(cluster.client, { in: 'red', network: 'red_net', now: NOW, isWide: true });
  expect(pods.tables[0]?.rows.map((row) => row.slice(0, 5))).toEqual([
    ['red/web', 'red_net', '10.100.0.3/16', '0a:58:0a:64:00:03', '10.100.0.1'],
    ['', 'default', '', '', ''],
  ]);
});
