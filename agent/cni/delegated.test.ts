/** Calls as Multus makes them: one for the default network, then one for each that the pod selects. */
import { expect, it } from 'vitest';
import { SANDBOX, setUp } from '../testing/cni-handler.ts';

const NETWORKS = {
  default: { ips: ['10.128.0.4/23'], role: 'infrastructure-locked' },
  'red/net': { ips: ['10.20.1.3/24'], role: 'primary' },
  'red/flat': { ips: ['10.90.0.1/24'], tunnelId: 1, role: 'secondary' },
  'red/flat/1': { ips: ['10.90.0.2/24'], tunnelId: 2, role: 'secondary' },
} as const;

const delegated = () => {
  const it = setUp({ multiNetwork: 'delegated' });
  it.cluster
    .network('red_flat', {
      ...{ id: 20, topology: 'layer2', role: 'secondary', subnets: ['10.90.0.0/24'], namespace: 'red', nad: 'flat' },
    })
    .foreignNad('red/macvlan')
    .pod('red/a', { node: 'node1', selects: 'flat,macvlan,flat@second', networks: NETWORKS });
  it.flush();
  const call = (command: string, ifName: string, nad?: string): Promise<string> =>
    it.call(command, { pod: 'red/a', ifName, config: nad === undefined ? {} : { netAttachDefName: nad } });
  const names = (result: string): string[] => JSON.parse(result).interfaces.map(({ name }: { name: string }) => name);
  return { ...it, call, names };
};

const END = (index: number): string => `${SANDBOX.slice(0, 13)}_${index}`;

it('the call for the default network makes that and the primary one', async () => {
  const it = delegated();
  const result = await it.call('ADD', 'eth0');
  expect(it.names(result)).toEqual([SANDBOX.slice(0, 15), 'eth0', END(1), 'ovn-udn1']);
  expect(JSON.parse(result).ips.map((ip: { interface: number }) => ip.interface)).toEqual([1, 3]);
  expect(it.plugins.calls).toEqual([]);
});

it('the call for a NAD makes the attachment that selects it as that interface, and answers with it alone', async () => {
  const it = delegated();
  await it.call('ADD', 'eth0');
  const first = await it.call('ADD', 'net1', 'red/flat');
  const second = await it.call('ADD', 'second', 'red/flat');
  expect([it.names(first), it.names(second)]).toEqual([
    [END(2), 'net1'],
    [END(4), 'second'],
  ]);
  expect(JSON.parse(second).ips).toEqual([{ address: '10.90.0.2/24', interface: 1 }]);
  expect(it.ports.all().map(({ logicalPort }) => logicalPort)).toEqual([
    ...['red_a', 'red.net_red_a', 'red.flat_red_a', 'red.flat.1_red_a'],
  ]);
  for (const [ifName, nad] of [['eth0'], ['net1', 'red/flat'], ['second', 'red/flat']] as const)
    expect(await it.call('CHECK', ifName, nad)).toBe('');
});

it.each([
  ['net2', 'red/flat', 'the pod does not select red/flat as net2'],
  ['net1', 'red/other', 'the pod does not select red/other as net1'],
  ['eth0', 'red/net', 'the pod does not select red/net as eth0'],
  ['net1', undefined, 'CNI_IFNAME must be eth0, not net1'],
])('a call for %s of %s is refused', async (ifName, nad, message) => {
  const it = delegated();
  await expect(it.call('ADD', ifName, nad)).rejects.toThrow(message);
  expect(it.ports.all()).toEqual([]);
});

it('DEL of one takes that one away, and DEL of the default network whatever is left', async () => {
  const it = delegated();
  await it.call('ADD', 'eth0');
  await it.call('ADD', 'net1', 'red/flat');
  await it.call('ADD', 'second', 'red/flat');
  await it.call('DEL', 'second', 'red/flat');
  expect(it.ports.all().map(({ interfaceName }) => interfaceName)).toEqual(['eth0', 'ovn-udn1', 'net1']);
  await expect(it.call('CHECK', 'second', 'red/flat')).rejects.toThrow('differs from the desired state');
  await it.call('DEL', 'eth0');
  expect(it.ports.all()).toEqual([]);
  expect(await it.netlink.pods.list()).toEqual([]);
  expect(await it.call('DEL', 'net1', 'red/flat')).toBe('');
});

it('natively such a call is refused, and what ADD has made for the pod stays at its DEL', async () => {
  const it = setUp();
  it.cluster
    .network('red_flat', {
      ...{ id: 20, topology: 'layer2', role: 'secondary', subnets: ['10.90.0.0/24'], namespace: 'red', nad: 'flat' },
    })
    .pod('red/a', { node: 'node1', selects: 'flat', networks: NETWORKS });
  it.flush();
  await it.call('ADD', { pod: 'red/a' });
  const config = { netAttachDefName: 'red/flat' };
  await expect(it.call('ADD', { pod: 'red/a', ifName: 'net1', config })).rejects.toMatchObject({
    message:
      'red/flat as net1: the agent of this node makes all attachments of a pod by one ADD (--multi-network=native)',
    details: 'for Multus, set --multi-network=delegated',
  });
  await it.call('DEL', { pod: 'red/a', ifName: 'net1', config });
  expect(it.ports.all()).toHaveLength(3);
});
