import { describe, expect, it } from 'vitest';
import { askPrimary, layer2Udn, nad, netConf, pod, tenant } from '../testing/objects.ts';
import { observe } from '../testing/observed.ts';
import { clusterPerTest } from '../testing/per-test.ts';

const { cluster } = clusterPerTest();

const { addressOf, annotation, entryOf, eventsAbout } = observe(() => cluster);

const PARTS = {
  reservedSubnets: ['10.20.9.0/24'],
  infrastructureSubnets: ['10.20.8.0/24'],
  defaultGatewayIPs: ['10.20.8.7'],
};
const MAC = '02:00:00:00:00:01';

it('a network without a free address stops no other', async () => {
  cluster.start();
  const full = ['a', 'b', 'c', 'd', 'late'].map((name) => pod(`full/${name}`));
  await cluster.createAndSettle(tenant('full'), layer2Udn('full/net', ['10.20.0.0/29']), ...full);
  await cluster.createAndSettle(tenant('roomy'), layer2Udn('roomy/net', ['10.20.0.0/29']), pod('roomy/p'));
  expect(await addressOf('roomy/p', 'roomy/net')).toBe('10.20.0.3/29');
  expect(cluster.events.map(({ message }) => message)).toEqual([
    'network full_net: subnet 10.20.0.0/29 has no free address left',
  ]);
});

describe('what a pod asks of its primary network', () => {
  it('it gets, also of a reserved subnet', async () => {
    cluster.start();
    await cluster.createAndSettle(
      tenant('ns'),
      layer2Udn('ns/net', ['10.20.0.0/16'], PARTS),
      pod('ns/a', askPrimary({ ips: ['10.20.9.9'], mac: MAC })),
      // A prefix length is allowed and has no meaning.
      pod('ns/b', askPrimary({ ips: ['10.20.5.5/24'] })),
    );
    expect(await entryOf('ns/a', 'ns/net')).toMatchObject({
      ip_addresses: ['10.20.9.9/16'],
      mac_address: MAC,
      gateway_ips: ['10.20.8.7'],
    });
    expect(await addressOf('ns/b', 'ns/net')).toBe('10.20.5.5/16');
  });

  it.each([
    [{ ips: ['10.21.0.5'] }, 'no requested address (10.21.0.5) is in subnet 10.20.0.0/16'],
    [
      { ips: ['10.20.0.5', 'fd00::5'] },
      '2 addresses are requested (10.20.0.5, fd00::5), but the number of subnets of the network is 1',
    ],
    [{ ips: ['10.20.9.9'] }, 'requested address 10.20.9.9 already belongs to ns/first (ns/net)'],
    [
      { ips: ['10.20.8.7'] },
      'requested address 10.20.8.7 is not available to pods: it is in infrastructure subnet 10.20.8.0/24',
    ],
    [
      { ips: ['10.20.0.0'] },
      'requested address 10.20.0.0 is not available to pods: it is the network address of subnet 10.20.0.0/16',
    ],
    [{ mac: MAC }, `MAC ${MAC} already belongs to ns/first (ns/net)`],
    [{ mac: '0a:58:0a:14:08:07' }, "requested MAC 0a:58:0a:14:08:07 is that of the network's gateway"],
  ])('and can not have, %j, keeps it without any, and an event says why', async (fields, message) => {
    cluster.start();
    await cluster.createAndSettle(
      tenant('ns'),
      layer2Udn('ns/net', ['10.20.0.0/16'], PARTS),
      pod('ns/first', askPrimary({ ips: ['10.20.9.9'], mac: MAC })),
    );
    await cluster.createAndSettle(pod('ns/p', askPrimary(fields)));
    expect(eventsAbout('p')).toEqual([`ErrorAllocatingPod: network ns_net: ${message}`]);
    expect(await annotation('Pod', 'ns/p', 'pod-networks')).toBeUndefined();
    expect(cluster.manager.state?.pods.sizeOf('ns_net')).toBe(1);
  });

  it.each([
    [
      '[{"namespace":"kube-system","name":"default"}]',
      'unexpected default NSE namespace "kube-system", expected "ovn-kubernetes"',
    ],
    ['[{"namespace":"ovn-kubernetes","name":"net"}]', 'unexpected default NSE name "net", expected "default"'],
    ['[]', 'exactly one network is possible'],
    [
      '[{"namespace":"ovn-kubernetes","name":"default","mac":"01:00:00:00:00:01"}]',
      'is not the MAC address of an interface',
    ],
    ['[{"namespace":"ovn-kubernetes","name":"default","ips":["10.20.0"]}]', '10.20.0'],
  ])('gets an event when it says %s', async (text, message) => {
    cluster.start();
    await cluster.createAndSettle(
      tenant('ns'),
      layer2Udn('ns/net', ['10.20.0.0/16']),
      pod('ns/p', { annotations: { 'v1.multus-cni.io/default-network': text } }),
    );
    expect(eventsAbout('p')).toEqual([expect.stringContaining(message)]);
    expect(await addressOf('ns/p', 'ns/net')).toBeUndefined();
  });

  it('and somebody has, it gets when that one leaves', async () => {
    cluster.start();
    await cluster.createAndSettle(
      tenant('ns'),
      layer2Udn('ns/net', ['10.20.0.0/16']),
      pod('ns/first', askPrimary({ ips: ['10.20.5.5'], mac: MAC })),
    );
    await cluster.createAndSettle(pod('ns/second', askPrimary({ ips: ['10.20.5.5'], mac: MAC })));
    expect(await addressOf('ns/second', 'ns/net')).toBeUndefined();
    await cluster.patchAndSettle('Pod', 'ns/first', { status: { phase: 'Succeeded' } }, 'status');
    expect(await entryOf('ns/second', 'ns/net')).toMatchObject({ ip_addresses: ['10.20.5.5/16'], mac_address: MAC });
    // The first one is gone for good: its deletion takes nothing away.
    await cluster.delete('Pod', 'ns/first');
    await cluster.createAndSettle(pod('ns/third', askPrimary({ ips: ['10.20.5.5'] })));
    expect(await addressOf('ns/third', 'ns/net')).toBeUndefined();
  });

  it("is its namespace's business: the same address is free on another network", async () => {
    cluster.start();
    const asking = askPrimary({ ips: ['10.20.5.5'], mac: MAC });
    await cluster.createAndSettle(
      ...['a', 'b'].flatMap((ns) => [tenant(ns), layer2Udn(`${ns}/net`, ['10.20.0.0/16']), pod(`${ns}/p`, asking)]),
    );
    expect(await addressOf('a/p', 'a/net')).toBe('10.20.5.5/16');
    expect(await addressOf('b/p', 'b/net')).toBe('10.20.5.5/16');
  });

  it('of an excluded subnet goes to nobody', async () => {
    cluster.start();
    await cluster.createAndSettle(
      tenant('ns'),
      nad('ns/net', netConf('ns/net', 'red', { excludeSubnets: '100.200.0.0/24' })),
      pod('ns/a'),
      pod('ns/b', askPrimary({ ips: ['100.200.0.9'] })),
    );
    expect(await addressOf('ns/a', 'ns/net')).toBe('100.200.1.0/16');
    expect(eventsAbout('b')).toEqual([
      'ErrorAllocatingPod: network red: requested address 100.200.0.9 is not available to pods: it is in excluded subnet 100.200.0.0/24',
    ]);
  });
});
