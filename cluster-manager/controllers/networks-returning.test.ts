import { describe, expect, it } from 'vitest';
import { nad, namespace, netConf, node, pod } from '../testing/objects.ts';
import { observe } from '../testing/observed.ts';
import { clusterPerTest } from '../testing/per-test.ts';

const { cluster } = clusterPerTest({ isStarted: true });

const { addressOf, eventsAbout } = observe(() => cluster);
const selecting = (selection: string) => ({ annotations: { 'k8s.v1.cni.cncf.io/networks': selection } });
const BLUE = netConf('default/blue', 'blue', { role: 'secondary', subnets: '10.9.0.0/24' });
const NAD = 'NetworkAttachmentDefinition';

describe('a network that goes and comes back', () => {
  it('gives nobody what its pods run with, in whatever namespace they are', async () => {
    const running = Array.from({ length: 40 }, (_, i) => `b/p${i}`);
    const coming = Array.from({ length: 20 }, (_, i) => `a/x${i}`);
    await cluster.create(namespace('a'), namespace('b'), node('n1'), nad('default/blue', BLUE));
    await cluster.createAndSettle(...running.map((key) => pod(key, selecting('default/blue'))));
    const before = await Promise.all(running.map((key) => addressOf(key, 'default/blue')));
    await cluster.deleteAndSettle(NAD, 'default/blue');
    await cluster.createAndSettle(...coming.map((key) => pod(key, selecting('default/blue'))));
    await cluster.createAndSettle(nad('default/blue', BLUE));
    const after = await Promise.all([...running, ...coming].map((key) => addressOf(key, 'default/blue')));
    expect(after.slice(0, running.length)).toEqual(before);
    expect(new Set(after).size).toBe(running.length + coming.length);
    expect(after).not.toContain(undefined);
  });

  it('says which pods have the same', async () => {
    await cluster.create(namespace('a'), namespace('b'), node('n1'));
    const entry = { ip_addresses: ['10.9.0.7/24'], mac_address: '0a:58:0a:09:00:07', tunnel_id: 17, role: 'secondary' };
    const annotations = {
      'k8s.v1.cni.cncf.io/networks': 'default/blue',
      'k8s.ovn.org/pod-networks': JSON.stringify({ 'default/blue': entry }),
    };
    await cluster.createAndSettle(pod('a/old', { annotations }), pod('b/young', { annotations }));
    await cluster.createAndSettle(nad('default/blue', BLUE));
    expect(eventsAbout('old')).toEqual([]);
    expect(eventsAbout('young')).toContain(
      'AllocationConflict: network blue: address 10.9.0.7 already belongs to a/old (default/blue); delete the pod',
    );
  });
});
