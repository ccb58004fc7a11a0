/** What pods run with is theirs at a start, whatever they ask for by then. */
import { describe, expect, it } from 'vitest';
import { IPAM_CLAIMS } from '../../api/resources.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../kube/resources.ts';
import { askPrimary, ipamClaim, layer2Udn, pod, tenant } from '../testing/objects.ts';
import { observe } from '../testing/observed.ts';
import { clusterPerTest } from '../testing/per-test.ts';

const { cluster } = clusterPerTest();

const { addressOf, entryOf, eventsAbout, statusOf } = observe(() => cluster);

const SELECTION = 'k8s.v1.cni.cncf.io/networks';
const annotate = (key: string, annotations: Readonly<Record<string, string | null>>) =>
  cluster.patch('Pod', key, { metadata: { annotations } });

describe('at a start a pod keeps its address', () => {
  it('where it names a claim of a network that keeps nothing', async () => {
    cluster.start();
    await cluster.createAndSettle(
      tenant('ns'),
      layer2Udn('ns/net', ['10.20.0.0/16']),
      ipamClaim('ns/c', 'ns_net'),
      pod('ns/a'),
    );
    await cluster.stop();
    await annotate('ns/a', { 'k8s.ovn.org/primary-udn-ipamclaim': 'c' });
    cluster.start();
    await cluster.settled();
    await cluster.createAndSettle(pod('ns/b'));
    expect(await addressOf('ns/a', 'ns/net')).toBe('10.20.0.3/16');
    expect(await addressOf('ns/b', 'ns/net')).toBe('10.20.0.4/16');
    expect(eventsAbout('a')).toEqual([]);
    expect(await statusOf('ns/c')).toBeUndefined();
  });

  it.each(['[{', '[]', 'another'])('where its selection says %s by now', async (selection) => {
    cluster.start();
    await cluster.createAndSettle(tenant('ns'), layer2Udn('ns/sec', ['10.30.0.0/16'], { role: 'Secondary' }));
    const selecting = { annotations: { [SELECTION]: 'sec' } };
    await cluster.createAndSettle(pod('ns/a', selecting));
    await cluster.stop();
    await annotate('ns/a', { [SELECTION]: selection });
    cluster.start();
    await cluster.settled();
    await cluster.createAndSettle(pod('ns/b', selecting));
    expect(await addressOf('ns/a', 'ns/sec')).toBe('10.30.0.1/16');
    expect(await addressOf('ns/b', 'ns/sec')).toBe('10.30.0.2/16');
  });

  it('by its claim, which it does not name any more', async () => {
    cluster.start();
    const naming = askPrimary({ 'ipam-claim-reference': 'c' });
    const network = layer2Udn('ns/net', ['10.20.0.0/16'], { ipam: { lifecycle: 'Persistent' } });
    await cluster.createAndSettle(tenant('ns'), network, ipamClaim('ns/c', 'ns_net'), pod('ns/a', naming));
    await cluster.stop();
    await annotate('ns/a', { 'v1.multus-cni.io/default-network': '[{' });
    cluster.start();
    await cluster.settled();
    await cluster.createAndSettle(pod('ns/b', naming));
    expect(eventsAbout('b')).toEqual(['ErrorAllocatingPod: network ns_net: IPAMClaim ns/c is in use by pod ns/a']);
    expect(eventsAbout('a').join()).not.toContain('belongs to');
  });

  it('when the older pod that had it as well is gone', async () => {
    cluster.start();
    await cluster.createAndSettle(tenant('ns'), layer2Udn('ns/net', ['10.20.0.0/16']), pod('ns/a'));
    const entry = await entryOf('ns/a', 'ns/net');
    await cluster.stop();
    const annotations = { 'k8s.ovn.org/pod-networks': JSON.stringify({ 'ns/net': entry }) };
    await cluster.create(pod('ns/b', { annotations }));
    cluster.start();
    await cluster.settled();
    await cluster.deleteAndSettle('Pod', 'ns/a');
    await cluster.createAndSettle(pod('ns/d'));
    expect(await entryOf('ns/d', 'ns/net')).toMatchObject({
      ip_addresses: ['10.20.0.4/16'],
      mac_address: '0a:58:0a:14:00:04',
      tunnel_id: entry.tunnel_id + 1,
    });
  });
});

describe('a cluster without the CRD of claims', () => {
  it('works', async () => {
    await cluster.client.delete(CUSTOM_RESOURCE_DEFINITIONS, { name: `${IPAM_CLAIMS.plural}.${IPAM_CLAIMS.group}` });
    await cluster.settled();
    cluster.start();
    await cluster.createAndSettle(tenant('ns'), layer2Udn('ns/net', ['10.20.0.0/16']), pod('ns/a'));
    expect(await addressOf('ns/a', 'ns/net')).toBe('10.20.0.3/16');
    expect(cluster.observations).toContainEqual({
      source: 'mirror',
      about: { kind: 'absent', resource: IPAM_CLAIMS.plural },
    });
  });
});
