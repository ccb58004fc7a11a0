/**
 * Whose pods may be on a secondary network: its owner decides. A tenant who names the network of another one gets an event, and neither an
 * address nor a tunnel id; and what he writes keeps nobody from deleting what is theirs.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { FIRST_POD_KEY } from '../../api/pod-entry-rules.ts';
import { createTestCluster, type TestCluster } from '../testing/harness.ts';
import { cudn, ipamClaim, nad, namespace, netConf, node, pod, udn } from '../testing/objects.ts';
import { observe } from '../testing/observed.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());
const { entryOf, eventsAbout, statusOf } = observe(() => cluster);

const SELECTION = 'k8s.v1.cni.cncf.io/networks';
const selecting = (selection: string | readonly object[]) => ({
  annotations: { [SELECTION]: typeof selection === 'string' ? selection : JSON.stringify(selection) },
});
/** Four addresses for pods. */
const SMALL = { role: 'Secondary', subnets: ['10.40.0.0/29'], ipam: { lifecycle: 'Persistent' } };
const secondary = (key: string) => udn(key, { topology: 'Layer2', layer2: SMALL });
const refusal = (network: string, key: string, ns: string) =>
  `ErrorAllocatingPod: network ${network} is not for namespace ${ns}: NetworkAttachmentDefinition ${key} gives no address to its pods; use one of namespace ${ns}`;

const start = async (crossNamespaceAttachments = false): Promise<void> => {
  const config = parseClusterConfig({ crossNamespaceAttachments: String(crossNamespaceAttachments) });
  cluster = await createTestCluster({ config });
  cluster.start();
  await cluster.createAndSettle(
    namespace('a', { team: 'x' }),
    namespace('b', { team: 'x' }),
    namespace('evil'),
    node('n1'),
  );
};

describe("another tenant's secondary network", () => {
  it('gives a pod that names it nothing, however often, and has all for its own', async () => {
    await start();
    await cluster.createAndSettle(secondary('a/net'));
    const greedy = Array.from({ length: 8 }, (_, index) => pod(`evil/p${index}`, selecting('a/net,a/net')));
    await cluster.createAndSettle(...greedy);
    await cluster.createAndSettle(...[0, 1, 2].map((index) => pod(`a/p${index}`, selecting('a/net,a/net'))));
    expect(await entryOf('evil/p0', 'a/net')).toBeUndefined();
    expect(await entryOf('evil/p7', 'a/net/1')).toBeUndefined();
    expect(eventsAbout('p7')).toEqual([refusal('a_net', 'a/net', 'evil')]);
    expect((await entryOf('a/p2', 'a/net/1')).ip_addresses).toEqual(['10.40.0.6/29']);
    // The first six tunnel ids: no other port has any.
    const keys = await Promise.all([0, 1, 2].map(async (index) => (await entryOf(`a/p${index}`, 'a/net')).tunnel_id));
    expect(Math.max(...keys)).toBeLessThan(FIRST_POD_KEY + 6);
  });

  it('is deleted while pods of others name it', async () => {
    await start();
    await cluster.createAndSettle(secondary('a/net'), pod('evil/p', selecting('a/net')));
    await cluster.deleteAndSettle('UserDefinedNetwork', 'a/net');
    expect(await cluster.get('UserDefinedNetwork', 'a/net')).toBeUndefined();
    expect(await cluster.get('NetworkAttachmentDefinition', 'a/net')).toBeUndefined();
  });

  it('gives nothing by a claim of the namespace of the pod either, and such a claim keeps no address', async () => {
    await start();
    await cluster.createAndSettle(
      secondary('a/net'),
      ipamClaim('evil/c', 'a_net', { ipRequests: ['10.40.0.1/29'] }),
      pod('evil/p', selecting([{ namespace: 'a', name: 'net', 'ipam-claim-reference': 'c' }])),
    );
    expect(await entryOf('evil/p', 'a/net')).toBeUndefined();
    expect(await statusOf('evil/c')).toBeUndefined();
    await cluster.createAndSettle(pod('a/p', selecting([{ name: 'net', ips: ['10.40.0.1'] }])));
    expect((await entryOf('a/p', 'a/net')).ip_addresses).toEqual(['10.40.0.1/29']);
  });

  it('of layer 3, whose addresses nodes give, is refused by the same event', async () => {
    await start();
    const layer3 = { role: 'Secondary', subnets: [{ cidr: '10.41.0.0/16' }] };
    await cluster.createAndSettle(udn('a/net', { topology: 'Layer3', layer3 }), pod('evil/p', selecting('a/net')));
    expect(eventsAbout('p')).toEqual([refusal('a_net', 'a/net', 'evil')]);
  });

  it('of namespace default is not for all: a UserDefinedNetwork is for its namespace', async () => {
    await start();
    await cluster.createAndSettle(secondary('default/net'), pod('evil/p', selecting('default/net')));
    expect(eventsAbout('p')).toEqual([refusal('default_net', 'default/net', 'evil')]);
  });
});

it('a ClusterUserDefinedNetwork is for the namespaces that it selects, by the NAD of each', async () => {
  await start();
  await cluster.createAndSettle(cudn('shared', { matchLabels: { team: 'x' } }, { topology: 'Layer2', layer2: SMALL }));
  await cluster.createAndSettle(
    pod('a/own', selecting('shared')),
    pod('b/own', selecting('b/shared')),
    pod('b/others', selecting('a/shared')),
    pod('evil/p', selecting('a/shared')),
  );
  expect((await entryOf('a/own', 'a/shared')).ip_addresses).toEqual(['10.40.0.1/29']);
  expect((await entryOf('b/own', 'b/shared')).ip_addresses).toEqual(['10.40.0.2/29']);
  expect(eventsAbout('others')).toEqual([refusal('cluster_udn_shared', 'a/shared', 'b')]);
  expect(eventsAbout('p')).toEqual([refusal('cluster_udn_shared', 'a/shared', 'evil')]);
});

describe('with --cross-namespace-attachments', () => {
  it('all pods may select all secondary networks, and hold their deletion up', async () => {
    await start(true);
    await cluster.createAndSettle(secondary('a/net'), pod('evil/p', selecting('a/net')));
    expect((await entryOf('evil/p', 'a/net')).ip_addresses).toEqual(['10.40.0.1/29']);
    expect(eventsAbout('p')).toEqual([]);
    await cluster.deleteAndSettle('UserDefinedNetwork', 'a/net');
    expect(await cluster.get('UserDefinedNetwork', 'a/net')).toBeDefined();
    await cluster.deleteAndSettle('Pod', 'evil/p');
    expect(await cluster.get('UserDefinedNetwork', 'a/net')).toBeUndefined();
  });

  it("a primary network stays its namespace's, and the name of a network its own", async () => {
    await start(true);
    const copy = netConf('evil/copy', 'a_net', {
      role: 'secondary',
      subnets: '10.40.0.0/29',
      allowPersistentIPs: true,
    });
    await cluster.createAndSettle(
      namespace('red', { 'k8s.ovn.org/primary-user-defined-network': '' }),
      udn('red/net', { topology: 'Layer2', layer2: { role: 'Primary', subnets: ['10.50.0.0/24'] } }),
      secondary('a/net'),
      nad('evil/copy', copy),
    );
    await cluster.createAndSettle(pod('evil/p', selecting('red/net')), pod('evil/q', selecting('copy')));
    expect(eventsAbout('p')).toEqual([
      'ErrorAllocatingPod: unexpected primary network "red_net" specified with a NetworkSelectionElement red/net',
    ]);
    expect(await entryOf('evil/q', 'evil/copy')).toBeUndefined();
  });
});
