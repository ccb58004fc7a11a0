import { describe, expect, it } from 'vitest';
import { askPrimary, cudn, ipamClaim, layer2Udn, pod, tenant } from '../testing/objects.ts';
import { observe } from '../testing/observed.ts';
import { clusterPerTest } from '../testing/per-test.ts';

const { cluster } = clusterPerTest();

const { addressOf, entryOf, eventsAbout, statusOf } = observe(() => cluster);

const network = (key: string) => layer2Udn(key, ['10.20.0.0/16'], { ipam: { lifecycle: 'Persistent' } });
const naming = (claim: string) => askPrimary({ 'ipam-claim-reference': claim });
const VM = { labels: { 'vm.kubevirt.io/name': 'vm' } };

describe('a virtual machine', () => {
  const running = (key: string, claim: string) => pod(key, { ...naming(claim), ...VM });

  it('has the addresses of its claim in both of its pods while it moves', async () => {
    cluster.start();
    await cluster.createAndSettle(
      tenant('ns'),
      network('ns/net'),
      ipamClaim('ns/c', 'ns_net'),
      running('ns/from', 'c'),
    );
    const from = await entryOf('ns/from', 'ns/net');
    await cluster.createAndSettle(running('ns/to', 'c'));
    const to = await entryOf('ns/to', 'ns/net');
    expect([to.ip_addresses, to.mac_address]).toEqual([from.ip_addresses, from.mac_address]);
    expect(to.tunnel_id).not.toBe(from.tunnel_id);
    expect(await statusOf('ns/c')).toMatchObject({ ownerPod: { name: 'to' } });
    await cluster.patchAndSettle('Pod', 'ns/from', { status: { phase: 'Succeeded' } }, 'status');
    await cluster.delete('Pod', 'ns/from');
    await cluster.createAndSettle(pod('ns/other'));
    expect(await addressOf('ns/other', 'ns/net')).toBe('10.20.0.4/16');
    expect(await addressOf('ns/to', 'ns/net')).toBe('10.20.0.3/16');
  });

  it('moves with its addresses without a claim where its annotation says so, also over a restart', async () => {
    const machine = (key: string) =>
      pod(key, { ...VM, annotations: { 'kubevirt.io/allow-pod-bridge-network-live-migration': '' } });
    cluster.start();
    await cluster.createAndSettle(tenant('ns'), layer2Udn('ns/net', ['10.20.0.0/16']), machine('ns/from'));
    await cluster.createAndSettle(machine('ns/to'));
    expect(await addressOf('ns/to', 'ns/net')).toBe('10.20.0.3/16');
    await cluster.stop();
    cluster.start();
    await cluster.settled();
    expect(eventsAbout('to')).toEqual([]);
    await cluster.delete('Pod', 'ns/from');
    await cluster.createAndSettle(pod('ns/a'));
    expect(await addressOf('ns/a', 'ns/net')).toBe('10.20.0.4/16');
    await cluster.delete('Pod', 'ns/to');
    await cluster.createAndSettle(pod('ns/b'));
    expect(await addressOf('ns/b', 'ns/net')).toBe('10.20.0.3/16');
  });

  it('is another one when its object is another one, whatever its host name', async () => {
    const machine = (key: string, uid: string) =>
      pod(key, {
        labels: { ...VM.labels, 'kubevirt.io/created-by': uid },
        annotations: { 'kubevirt.io/allow-pod-bridge-network-live-migration': '' },
      });
    cluster.start();
    await cluster.createAndSettle(tenant('ns'), layer2Udn('ns/net', ['10.20.0.0/16']), machine('ns/from', 'u1'));
    await cluster.createAndSettle(machine('ns/to', 'u1'), machine('ns/other', 'u2'));
    const addresses = await Promise.all(['from', 'to', 'other'].map((name) => addressOf(`ns/${name}`, 'ns/net')));
    expect(addresses).toEqual(['10.20.0.3/16', '10.20.0.3/16', '10.20.0.4/16']);
  });

  it('is another one in another namespace of its network, whatever its name', async () => {
    const shared = { topology: 'Layer2', layer2: { role: 'Primary', subnets: ['10.20.0.0/16'] } };
    const annotations = { 'kubevirt.io/allow-pod-bridge-network-live-migration': '' };
    cluster.start();
    await cluster.create(tenant('a', { team: 'x' }), tenant('b', { team: 'x' }));
    await cluster.createAndSettle(cudn('net', { matchLabels: { team: 'x' } }, shared));
    await cluster.createAndSettle(...['a/from', 'a/to', 'b/from'].map((key) => pod(key, { ...VM, annotations })));
    const addresses = await Promise.all(['a', 'b'].map((ns) => addressOf(`${ns}/from`, `${ns}/net`)));
    expect(addresses.sort()).toEqual(['10.20.0.3/16', '10.20.0.4/16']);
    expect(await addressOf('a/to', 'a/net')).toBe(await addressOf('a/from', 'a/net'));
  });

  it('may ask for one MAC in both of its pods, which no other may have', async () => {
    const asking = { ...askPrimary({ mac: '02:00:00:00:00:01' }) };
    cluster.start();
    await cluster.createAndSettle(
      tenant('ns'),
      layer2Udn('ns/net', ['10.20.0.0/16']),
      pod('ns/from', { ...asking, ...VM }),
    );
    await cluster.createAndSettle(pod('ns/to', { ...asking, ...VM }), pod('ns/other', asking));
    expect(await entryOf('ns/to', 'ns/net')).toMatchObject({
      ip_addresses: ['10.20.0.4/16'],
      mac_address: '02:00:00:00:00:01',
    });
    expect(eventsAbout('other')).toEqual([
      'ErrorAllocatingPod: network ns_net: MAC 02:00:00:00:00:01 already belongs to ns/from (ns/net)',
    ]);
  });
});
