import { describe, expect, it, vi } from 'vitest';
import { askPrimary, ipamClaim, layer2Udn, pod, tenant } from '../testing/objects.ts';
import { observe } from '../testing/observed.ts';
import { clusterPerTest } from '../testing/per-test.ts';

const { cluster, reopen } = clusterPerTest();

const { addressOf, eventsAbout, statusOf, readyOf } = observe(() => cluster);

const network = (key: string) => layer2Udn(key, ['10.20.0.0/16'], { ipam: { lifecycle: 'Persistent' } });
const naming = (claim: string) => askPrimary({ 'ipam-claim-reference': claim });

describe('claims over a restart', () => {
  it('gives what claims have to nobody else, and writes nothing', async () => {
    cluster.start();
    await cluster.createAndSettle(
      tenant('ns'),
      network('ns/net'),
      ipamClaim('ns/idle', 'ns_net'),
      ipamClaim('ns/busy', 'ns_net'),
      pod('ns/a', naming('idle')),
      pod('ns/b', naming('busy')),
    );
    const addresses = [(await statusOf('ns/idle'))?.ips[0], (await statusOf('ns/busy'))?.ips[0]];
    await cluster.deleteAndSettle('Pod', 'ns/a');
    await cluster.stop();
    const start = cluster.observations.length;
    cluster.start();
    await cluster.settled();
    expect(cluster.observations.slice(start).filter(({ source }) => source === 'writer')).toEqual([]);
    await cluster.createAndSettle(pod('ns/c'), pod('ns/d', naming('idle')));
    expect(addresses).not.toContain(await addressOf('ns/c', 'ns/net'));
    expect([await addressOf('ns/d', 'ns/net'), await addressOf('ns/b', 'ns/net')]).toEqual(addresses);
  });

  it('between the claim and its pod gives the pod what the claim has', async () => {
    let worksForPods = false;
    await reopen({
      fault: ({ plural }) => (plural === 'pods' && !worksForPods ? { status: 403, isDone: false } : undefined),
    });
    cluster.start();
    await cluster.create(tenant('ns'), network('ns/net'), ipamClaim('ns/c', 'ns_net'), pod('ns/a', naming('c')));
    await vi.waitFor(async () => expect((await statusOf('ns/c'))?.ips).toEqual(['10.20.0.3/16']));
    await cluster.stop();
    expect(await addressOf('ns/a', 'ns/net')).toBeUndefined();
    worksForPods = true;
    await cluster.create(pod('ns/0'));
    cluster.start();
    await cluster.settled();
    expect(await addressOf('ns/a', 'ns/net')).toBe('10.20.0.3/16');
    expect(await addressOf('ns/0', 'ns/net')).toBe('10.20.0.4/16');
  });

  it('reports what two claims have, and leaves it with the older', async () => {
    const has = { ips: ['10.20.0.7/16'] };
    await cluster.create(
      tenant('ns'),
      network('ns/net'),
      ipamClaim('ns/young', 'ns_net', {}, { creationTimestamp: '2026-02-01T00:00:00Z' }),
      ipamClaim('ns/old', 'ns_net', {}, { creationTimestamp: '2026-01-01T00:00:00Z' }),
    );
    for (const name of ['young', 'old']) await cluster.patch('IPAMClaim', `ns/${name}`, { status: has }, 'status');
    cluster.start();
    await cluster.settled();
    await cluster.createAndSettle(pod('ns/a', naming('young')), pod('ns/b', naming('old')));
    const message = 'address 10.20.0.7 already belongs to IPAMClaim ns/old';
    expect(await readyOf('ns/young')).toBe(`False IPAddressConflict: ${message}`);
    expect(eventsAbout('young')).toContain(`ErrorAllocatingIPs: IPAddressConflict: ${message}`);
    expect(await addressOf('ns/a', 'ns/net')).toBeUndefined();
    expect(await addressOf('ns/b', 'ns/net')).toBe('10.20.0.7/16');
    expect(eventsAbout('a')).toEqual([`ErrorAllocatingPod: network ns_net: IPAMClaim ns/young: ${message}`]);
  });

  it('leaves an address that a pod has with the claim that has it, and reports it to the pod', async () => {
    const entry = { ip_addresses: ['10.20.0.7/16'], mac_address: '0a:58:0a:14:00:07', tunnel_id: 12, role: 'primary' };
    await cluster.create(
      tenant('ns'),
      network('ns/net'),
      ipamClaim('ns/c', 'ns_net'),
      pod('ns/a', { annotations: { 'k8s.ovn.org/pod-networks': JSON.stringify({ 'ns/net': entry }) } }),
    );
    await cluster.patch('IPAMClaim', 'ns/c', { status: { ips: ['10.20.0.7/16'] } }, 'status');
    cluster.start();
    await cluster.createAndSettle(pod('ns/b'));
    expect((await statusOf('ns/c'))?.ips).toEqual(['10.20.0.7/16']);
    expect([...eventsAbout('a'), ...eventsAbout('net')].join()).toContain(
      'address 10.20.0.7 already belongs to IPAMClaim ns/c',
    );
    expect(await addressOf('ns/b', 'ns/net')).toBe('10.20.0.3/16');
  });
});
