/** ADD, CHECK and DEL of a pod of several networks. */
import { expect, it } from 'vitest';
import { hostEndMac } from '../../datapath/netlink/pod-interface/marks.ts';
import { NETNS, SANDBOX, setUp } from '../testing/cni-handler.ts';
import { hostName, hostNames } from './plumbing.ts';

const NETWORKS = {
  default: { ips: ['10.128.0.4/23'], role: 'infrastructure-locked' },
  'red/net': { ips: ['10.20.1.3/24'], role: 'primary' },
  'red/flat': { ips: ['10.90.0.1/24'], tunnelId: 1, role: 'secondary' },
  'red/bare': { ips: [], tunnelId: 1, role: 'secondary' },
  'red/flat/1': { ips: ['10.90.0.2/24'], tunnelId: 2, role: 'secondary' },
} as const;

const INDEXED = (index: number): string => `${SANDBOX.slice(0, 13)}_${index}`;

const withSelections = (options?: Parameters<typeof setUp>[0], networks: Partial<typeof NETWORKS> = NETWORKS) => {
  const it = setUp(options);
  const secondary = { topology: 'layer2', role: 'secondary', namespace: 'red' } as const;
  it.cluster
    .network('red_flat', { ...secondary, id: 20, subnets: ['10.90.0.0/24'], nad: 'flat' })
    .network('red_bare', { ...secondary, id: 21, subnets: [], nad: 'bare' })
    .pod('red/a', { node: 'node1', selects: 'flat,bare,flat@second', networks });
  it.flush();
  return it;
};

it('names of the node’s ends have at most 15 characters, and are all different', () => {
  const names = hostNames(SANDBOX);
  expect(new Set(names).size).toBe(34);
  expect(names.every((name) => name.length <= 15)).toBe(true);
  expect([hostName(SANDBOX, 1), hostName(SANDBOX, 33)]).toEqual(['0123456789abc_1', '0123456789ab_33']);
});

it('ADD makes all interfaces in order, in one transaction, and one without addresses has its MAC', async () => {
  const it = withSelections();
  const { interfaces, ips } = JSON.parse(await it.call('ADD', { pod: 'red/a' }));
  expect(interfaces.map(({ name }: { name: string }) => name)).toEqual([
    ...[SANDBOX.slice(0, 15), 'eth0', INDEXED(1), 'ovn-udn1'],
    ...[INDEXED(2), 'net1', INDEXED(3), 'net2', INDEXED(4), 'second'],
  ]);
  expect(ips.map((ip: { address: string; interface: number }) => [ip.address, ip.interface])).toEqual([
    ['10.128.0.4/23', 1],
    ['10.20.1.3/24', 3],
    ['10.90.0.1/24', 5],
    ['10.90.0.2/24', 9],
  ]);
  expect(it.ports.transactions).toBe(1);
  expect(it.ports.all().map(({ logicalPort }) => logicalPort)).toEqual([
    ...['red_a', 'red.net_red_a', 'red.flat_red_a', 'red.bare_red_a', 'red.flat.1_red_a'],
  ]);
  expect(await it.call('CHECK', { pod: 'red/a' })).toBe('');
});

it('ADD waits for the address of every one of them', async () => {
  const { 'red/flat/1': _, ...lacking } = NETWORKS;
  const it = withSelections({}, lacking);
  const answer = it.call('ADD', { pod: 'red/a' });
  answer.catch(() => undefined);
  await it.clock.advance(60_000);
  const details = 'the cluster manager has not allocated its address on network red_flat yet';
  await expect(answer).rejects.toMatchObject({ message: `pod red/a has no addresses: ${details}` });
  expect(it.ports.all()).toEqual([]);
});

it('what fails ends ADD, and everything that was made is gone again', async () => {
  const it = withSelections();
  it.ports.installs = false;
  const answer = it.call('ADD', { pod: 'red/a' });
  answer.catch(() => undefined);
  await it.clock.advance(60_000);
  await expect(answer).rejects.toThrow('ovn-controller has not installed red_a, red.net_red_a, red.flat_red_a');
  expect(it.ports.all()).toEqual([]);
  expect(await it.netlink.pods.list()).toEqual([]);
});

it('CHECK names the attachment that is not as it should be', async () => {
  const it = withSelections();
  await it.call('ADD', { pod: 'red/a' });
  await it.ports.unplug([INDEXED(3)]);
  await expect(it.call('CHECK', { pod: 'red/a' })).rejects.toThrow(
    `port ${INDEXED(3)} of red.bare_red_a is not installed`,
  );
});

it('CHECK of a pod that waits fails with the reason, and names the ports that are gone', async () => {
  const it = withSelections();
  await it.call('ADD', { pod: 'red/a' });
  it.cluster.facts.set('nad', 'red/bare', undefined);
  it.cluster.facts.set('nadProblem', 'red/bare', { message: 'it is somebody else’s', contradicts: false });
  it.flush();
  const check = it.call('CHECK', { pod: 'red/a' });
  await expect(check).rejects.toThrow(/desired state: waits: it is somebody else’s$/);
  await it.ports.unplug([SANDBOX.slice(0, 15), INDEXED(2)]);
  await expect(it.call('CHECK', { pod: 'red/a' })).rejects.toThrow(
    'waits: it is somebody else’s; port of red_a is not installed; port of red.flat_red_a is not installed',
  );
});

it('CHECK of a pod whose localnet has lost its mapping fails with that, and looks at its port', async () => {
  const it = setUp();
  const wire = {
    topology: 'localnet',
    role: 'secondary',
    subnets: ['10.90.0.0/24'],
    physical: { name: 'dc' },
  } as const;
  it.cluster
    .network('ns_wire', { ...wire, id: 20, namespace: 'ns', nad: 'wire' })
    .mapped('dc', 'br-dc')
    .pod('ns/a', {
      ...{ node: 'node1', selects: 'wire' },
      networks: {
        default: { ips: ['10.128.0.4/23'], role: 'primary' },
        'ns/wire': { ips: ['10.90.0.1/24'], role: 'secondary' },
      },
    });
  it.flush();
  await it.call('ADD');
  expect(await it.call('CHECK')).toBe('');
  it.cluster.mapped('dc', undefined);
  it.flush();
  await it.ports.unplug([INDEXED(1)]);
  await expect(it.call('CHECK')).rejects.toThrow(
    /ns\/wire as net1: network ns_wire is not on node node1.*; port of ns.wire_ns_a is not installed$/,
  );
});

it('DEL takes everything away, also when nothing knows of the pod any more, and what OVS has lost', async () => {
  const it = withSelections();
  await it.call('ADD', { pod: 'red/a' });
  await it.ports.unplug([INDEXED(2), INDEXED(4)]);
  it.cluster.facts.set('pod', 'red/a', undefined);
  it.flush();
  await it.call('DEL', { pod: 'red/a', netns: NETNS });
  expect(it.ports.all()).toEqual([]);
  expect(await it.netlink.pods.list()).toEqual([]);
  expect(await it.call('DEL', { pod: 'red/a' })).toBe('');
});

it('a pod that is on a network twice has the network’s routes by the first of both', async () => {
  const it = setUp();
  const wide = { id: 20, topology: 'layer3', role: 'secondary', subnets: ['10.91.0.0/16'] } as const;
  it.cluster
    .network('ns_wide', { ...wide, namespace: 'ns', nad: 'wide' })
    .subnets('node1', 'ns_wide', ['10.91.1.0/24'])
    .pod('ns/a', { node: 'node1', selects: 'wide,wide', networks: {} });
  it.flush();
  const entry = (ip: string): object => ({
    ...{ ipAddresses: [`${ip}/24`], mac: `0a:58:0a:5b:01:0${ip.at(-1)}`, gatewayIps: [], role: 'secondary' },
    routes: [{ dest: '10.91.0.0/16', nextHop: '10.91.1.1' }],
  });
  const pod = it.cluster.facts.get('pod', 'ns/a');
  const networks = new Map(Object.entries({ 'ns/wide': entry('10.91.1.3'), 'ns/wide/1': entry('10.91.1.4') }));
  const own = { ipAddresses: ['10.128.0.3/23'], mac: '0a:58:0a:80:00:03', gatewayIps: ['10.128.0.1'], routes: [] };
  const all = new Map([['default', own], ...networks]) as never;
  it.cluster.facts.set('pod', 'ns/a', pod && { ...pod, networks: all });
  it.flush();
  expect(JSON.parse(await it.call('ADD')).ips).toHaveLength(3);
});

it.each([
  ['others', 'bare'],
  ['the same in another order', 'flat@net9,bare@net2,flat@net1'],
  ['one that does not exist', 'none,flat'],
  ['none', undefined],
])('ports that are added again are those of before when the annotation selects %s by then', async (_, selects) => {
  const it = withSelections();
  await it.call('ADD', { pod: 'red/a' });
  const before = it.ports.all();
  const pod = it.cluster.facts.get('pod', 'red/a');
  if (pod === undefined) throw new Error('no pod');
  const links = before.map(({ name, nadKey, interfaceName }) => {
    const mac = pod.networks.get(nadKey)?.mac;
    return { name, mac: mac && hostEndMac(mac), interfaceName };
  });
  it.cluster.pod('red/a', { node: 'node1', networks: NETWORKS, ...(selects !== undefined && { selects }) });
  it.flush();
  await it.ports.unplug(before.map(({ name }) => name));
  await it.handler.replug({ pod, sandbox: SANDBOX, links }, new AbortController().signal);
  expect(it.ports.all()).toEqual(before);
});
