/**
 * The words of ovn-kubernetes that its users' tools wait for: conditions with reasons and messages, events, annotations. Each is
 * compared in full, as a tool that has seen ovn-kubernetes does; what we add comes after them.
 */
import { describe, expect, it } from 'vitest';
import type { ObjectInput } from '../../kube/types.ts';
import {
  askPrimary,
  cudn,
  ipamClaim,
  layer2Udn,
  layer3Udn,
  nad,
  namespace,
  netConf,
  node,
  pod,
  tenant,
  udn,
} from '../testing/objects.ts';
import { observe } from '../testing/observed.ts';
import { clusterPerTest } from '../testing/per-test.ts';

const { cluster } = clusterPerTest({ isStarted: true });

const { annotation, condition, entryOf, eventsAbout, readyOf } = observe(() => cluster);

type Objects = readonly ObjectInput[];

interface Row {
  readonly name: string;
  readonly objects: Objects;
  /** Made when all is settled. */
  readonly later?: Objects | undefined;
  /** Deleted in the end, if there is one: `KIND KEY`. */
  readonly deleted?: string | undefined;
  /** Of which the condition is. */
  readonly of: readonly [kind: 'UserDefinedNetwork' | 'ClusterUserDefinedNetwork', key: string];
  readonly type: string;
  /** `STATUS REASON: MESSAGE` */
  readonly says: string;
}

const TEAM = { matchLabels: { team: 'a' } };
const LAYER2 = { topology: 'Layer2', layer2: { role: 'Primary', subnets: ['10.30.0.0/16'] } };
const NET = layer2Udn('ns/net', ['10.20.0.0/16']);
/** With room for two nodes. */
const SMALL = udn('ns/net', {
  topology: 'Layer3',
  layer3: { role: 'Primary', subnets: [{ cidr: '10.20.0.0/23', hostSubnet: 24 }] },
});
const BLUE = cudn('blue', TEAM, LAYER2);
const TENANTS = [tenant('a', { team: 'a' }), tenant('b', { team: 'a' })];
const UDN = ['UserDefinedNetwork', 'ns/net'] as const;
const CUDN = ['ClusterUserDefinedNetwork', 'blue'] as const;
const CREATED = 'NetworkCreated';
const ALLOCATED = 'NetworkAllocationSucceeded';

const ROWS: readonly Row[] = [
  {
    name: 'a network of a namespace that works',
    ...{ objects: [tenant('ns'), node('n1'), NET], of: UDN, type: CREATED },
    says: 'True NetworkAttachmentDefinitionCreated: NetworkAttachmentDefinition has been created',
  },
  {
    name: 'a network of several namespaces that works',
    ...{ objects: [...TENANTS, node('n1'), BLUE], of: CUDN, type: CREATED },
    says: 'True NetworkAttachmentDefinitionCreated: NetworkAttachmentDefinition has been created in following namespaces: [a, b]',
  },
  {
    name: 'nodes that have what they need',
    ...{ objects: [tenant('ns'), node('n1'), layer3Udn('ns/net', ['10.20.0.0/16'])], of: UDN, type: ALLOCATED },
    says: 'True NetworkAllocationSucceeded: Network allocation succeeded for all synced nodes.',
  },
  {
    name: 'a node without a subnet',
    ...{ objects: [tenant('ns'), node('n1'), node('n2'), SMALL], later: [node('n3')], of: UDN, type: ALLOCATED },
    says: 'False InternalError: Network allocation failed for at least one node: n3, check UDN events for more info.',
  },
  {
    name: 'a foreign NAD with its name',
    ...{ objects: [tenant('ns'), nad('ns/net', { type: 'macvlan' }), NET], of: UDN, type: CREATED },
    says: 'False SyncError: foreign NetworkAttachmentDefinition with the desired name already exist [ns/net]',
  },
  {
    name: 'another primary network in its namespace',
    ...{ objects: [tenant('ns'), nad('ns/hand', netConf('ns/hand', 'hand')), NET], of: UDN, type: CREATED },
    says: 'False SyncError: primary network already exist in namespace "ns": "hand"',
  },
  {
    name: 'a namespace without the label',
    ...{ objects: [namespace('ns'), NET], of: UDN, type: CREATED },
    says:
      'False SyncError: invalid primary network state for namespace "ns": a valid primary user defined network or network attachment definition custom resource, ' +
      'and required namespace label "k8s.ovn.org/primary-user-defined-network" must both be present',
  },
  ...(
    [
      ['10.128.0.0/16', 'cluster subnet "10.128.0.0/14"'],
      ['172.16.0.0/16', 'service subnet "172.16.1.0/24"'],
      ['100.64.0.0/16', 'built-in join subnet "100.64.0.0/16"'],
      ['169.254.0.0/17', 'masquerade subnet "169.254.0.0/17"'],
      ['100.88.0.0/16', 'transit switch subnet "100.88.0.0/16"'],
    ] as const
  ).map(
    ([subnet, range]): Row => ({
      name: `a subnet that overlaps the ${range}`,
      ...{ objects: [tenant('ns'), layer3Udn('ns/net', [subnet])], of: UDN, type: CREATED },
      says: `False SyncError: failed to generate NetworkAttachmentDefinition: user defined subnet "${subnet}" overlaps ${range}`,
    }),
  ),
  {
    name: 'a network that is deleted while pods use it',
    objects: [tenant('ns'), node('n1'), NET, pod('ns/b'), pod('ns/a')],
    ...{ deleted: 'UserDefinedNetwork ns/net', of: UDN, type: CREATED },
    says: 'False SyncError: failed to delete NetworkAttachmentDefinition [ns/net]: network in use by the following pods: [ns/a ns/b]',
  },
  {
    name: 'a network of several namespaces that is deleted while a pod uses it',
    objects: [...TENANTS, node('n1'), BLUE, pod('b/p')],
    ...{ deleted: 'ClusterUserDefinedNetwork blue', of: CUDN, type: CREATED },
    says:
      'False NetworkAttachmentDefinitionSyncError: failed to delete NetworkAttachmentDefinition [b/blue]: ' +
      'network in use by the following pods: [b/p]',
  },
];

describe('the condition of', () => {
  it.each(ROWS)('$name', async ({ objects, later = [], deleted, of: [kind, key], type, says }) => {
    await cluster.createAndSettle(...objects);
    await cluster.createAndSettle(...later);
    const [deletedKind, deletedKey] = deleted?.split(' ') ?? [];
    if (deletedKind !== undefined && deletedKey !== undefined) await cluster.deleteAndSettle(deletedKind, deletedKey);
    const found = await condition(kind, key, type);
    expect(`${found?.status} ${found?.reason}: ${found?.message}`).toBe(says);
  });

  it('an IPAMClaim whose pod has its addresses', async () => {
    const persistent = layer2Udn('ns/net', ['10.20.0.0/16'], { ipam: { lifecycle: 'Persistent' } });
    const asking = pod('ns/p', askPrimary({ 'ipam-claim-reference': 'c' }));
    await cluster.createAndSettle(tenant('ns'), node('n1'), persistent, ipamClaim('ns/c', 'ns_net'), asking);
    expect(await readyOf('ns/c')).toMatch(/^True SuccessfulAllocation: /);
  });
});

describe('the event', () => {
  const SELECTION = 'k8s.v1.cni.cncf.io/networks';
  const withAnnotation = (name: string, value: string) => pod('ns/p', { annotations: { [name]: value } });

  it.each([
    [
      'of a pod that names a primary network',
      [NET, withAnnotation(SELECTION, 'net')],
      'p',
      'ErrorAllocatingPod: unexpected primary network "ns_net" specified with a NetworkSelectionElement ns/net',
    ],
    [
      'of a network without a subnet for a node',
      [node('n2'), SMALL, node('n3')],
      'net',
      /^NetworkAllocationFailed: Error occurred for node (n\d): error allocating network for node \1: /,
    ],
    [
      'of a NAD that names another one',
      [nad('ns/hand', netConf('default/other', 'hand'))],
      'hand',
      'InvalidNetwork: net-attach-def name (ns/hand) is inconsistent with config (default/other)',
    ],
  ] satisfies readonly (readonly [string, Objects, string, RegExp | string])[])(
    '%s',
    async (_, objects, about, words) => {
      await cluster.createAndSettle(tenant('ns'), node('n1'), ...objects);
      expect(eventsAbout(about)).toContainEqual(typeof words === 'string' ? words : expect.stringMatching(words));
    },
  );
});

describe('the annotations of', () => {
  it('a NAD: id, name and tunnel keys of its network', async () => {
    await cluster.createAndSettle(tenant('ns'), node('n1'), NET);
    const values = ['network-id', 'network-name', 'tunnel-keys'].map((name) =>
      annotation('NetworkAttachmentDefinition', 'ns/net', name),
    );
    expect(await Promise.all(values)).toEqual(['1', 'ns_net', '[16711684,16715779]']);
  });

  it('a node: subnets as lists by network', async () => {
    await cluster.createAndSettle(tenant('ns'), node('n1'), layer3Udn('ns/net', ['10.20.0.0/16']));
    expect(await annotation('Node', 'n1', 'node-subnets')).toBe(
      '{"default":["10.128.0.0/23"],"ns_net":["10.20.0.0/24"]}',
    );
  });

  it('a pod: the role of its network, and a single address as text, too', async () => {
    await cluster.createAndSettle(tenant('ns'), node('n1'), NET, pod('ns/p'));
    expect(await entryOf('ns/p', 'ns/net')).toMatchObject({
      ...{ role: 'primary', ip_addresses: ['10.20.0.3/16'], ip_address: '10.20.0.3/16' },
      ...{ gateway_ips: ['10.20.0.1'], gateway_ip: '10.20.0.1' },
    });
  });
});
