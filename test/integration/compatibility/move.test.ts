/**
 * A cluster manager that comes to a cluster in which that of ovn-kubernetes has given out ids, subnets and addresses: all of it
 * stays, as docs/compatibility.md says, and nothing of it is given out again. On a real API server.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  CLUSTER_USER_DEFINED_NETWORKS,
  IPAM_CLAIMS,
  NETWORK_ATTACHMENT_DEFINITIONS,
  USER_DEFINED_NETWORKS,
} from '../../../api/resources.ts';
import {
  askPrimary,
  cudn,
  ipamClaim,
  layer2Udn,
  layer3Udn,
  node,
  pod,
  tenant,
} from '../../../cluster-manager/testing/objects.ts';
import { isAlreadyExists } from '../../../kube/errors.ts';
import { NAMESPACES, NODES, PODS, SERVICE_ACCOUNTS } from '../../../kube/resources.ts';
import type { KubeObject, ObjectInput, ResourceType } from '../../../kube/types.ts';
import { eventually } from '../../conformance/kube/harness.ts';
import { type Cluster, startCluster } from './cluster.ts';

const TENANTS = ['mv-shop', 'mv-vms', 'mv-green'];
const NODE_NAMES = ['mv-n1', 'mv-n2', 'mv-n3'];
const SHOP_KEYS = [16_711_683 + 54, 16_715_832];

/** In the order and form in which ovn-kubernetes writes them, with what is its own besides. */
const NODES_BEFORE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'mv-n1': {
    'k8s.ovn.org/node-id': '7',
    'k8s.ovn.org/node-transit-switch-port-ifaddr': '{"ipv4":"100.88.0.7/16","ipv6":"fd97::7/64"}',
    'k8s.ovn.org/node-subnets': '{"default":["10.128.4.0/23"],"mv-green_green":["10.52.9.0/24"]}',
    'k8s.ovn.org/layer2-topology-version': '2.0',
    'k8s.ovn.org/zone-name': 'mv-n1',
  },
  'mv-n2': {
    'k8s.ovn.org/node-id': '3',
    // A reader has to expect a single subnet without its list.
    'k8s.ovn.org/node-subnets': '{"default":"10.128.0.0/23","mv-green_green":"10.52.2.0/24"}',
    'k8s.ovn.org/udn-layer2-node-gateway-router-lrp-tunnel-ids': '{"mv-vms_vms":4}',
  },
};

/** As ovn-kubernetes renders it: the keys in its own order. */
const shopConfig = (namespace: string): string =>
  '{"cniVersion":"1.1.0","type":"ovn-k8s-cni-overlay","name":"cluster_udn_mv-shop",' +
  `"netAttachDefName":"${namespace}/mv-shop","role":"primary","topology":"layer2","joinSubnet":"100.65.0.0/16,fd99::/64",` +
  '"transitSubnet":"100.88.0.0/16","subnets":"10.50.0.0/16"}';

const vmsConfig =
  '{"cniVersion":"1.1.0","type":"ovn-k8s-cni-overlay","name":"mv-vms_vms","netAttachDefName":"mv-vms/vms","role":"primary",' +
  '"topology":"layer2","joinSubnet":"100.65.0.0/16,fd99::/64","transitSubnet":"100.88.0.0/16","subnets":"10.51.0.0/28",' +
  '"allowPersistentIPs":true}';

const greenConfig =
  '{"cniVersion":"1.1.0","type":"ovn-k8s-cni-overlay","name":"mv-green_green","netAttachDefName":"mv-green/green",' +
  '"role":"primary","topology":"layer3","joinSubnet":"100.65.0.0/16,fd99::/64","subnets":"10.52.0.0/16/24"}';

/** What a pod on the network of the shop has: neither the lowest address nor the lowest key. */
const WEB = JSON.stringify({
  default: {
    ip_addresses: ['10.128.4.9/23'],
    mac_address: '0a:58:0a:80:04:09',
    routes: [{ dest: '10.128.0.0/14', nextHop: '10.128.4.1' }],
    ip_address: '10.128.4.9/23',
    role: 'infrastructure-locked',
  },
  'mv-shop/mv-shop': {
    ip_addresses: ['10.50.0.77/16'],
    mac_address: '0a:58:0a:32:00:4d',
    gateway_ips: ['10.50.0.1'],
    routes: [
      { dest: '172.16.1.0/24', nextHop: '10.50.0.1' },
      { dest: '100.65.0.0/16', nextHop: '10.50.0.1' },
    ],
    ip_address: '10.50.0.77/16',
    gateway_ip: '10.50.0.1',
    tunnel_id: 33,
    role: 'primary',
  },
});

let cluster: Cluster;
let before: readonly KubeObject[];

const get = (resource: ResourceType, name: string, namespace?: string) =>
  cluster.client.get(resource, { name, ...(namespace !== undefined && { namespace }) });

const make = async (resource: ResourceType, object: ObjectInput): Promise<KubeObject> => {
  // Both are the server's to say.
  const { uid: _uid, creationTimestamp: _time, ...metadata } = object.metadata;
  return cluster.client.create(resource, { ...object, metadata });
};

/** With the finalizer that both have, and owned by its network. */
const rendered = async (
  owner: KubeObject,
  kind: string,
  namespace: string,
  config: string,
  keys: Readonly<Record<string, string>>,
) => {
  const { name, uid } = owner.metadata;
  const ownerReference = {
    ...{ apiVersion: 'k8s.ovn.org/v1', kind, name, uid },
    ...{ controller: true, blockOwnerDeletion: true },
  };
  await make(NETWORK_ATTACHMENT_DEFINITIONS, {
    metadata: {
      namespace,
      name,
      labels: { 'k8s.ovn.org/user-defined-network': '' },
      annotations: keys,
      finalizers: ['k8s.ovn.org/user-defined-network-protection'],
      ownerReferences: [ownerReference],
    },
    spec: { config },
  });
};

const keysOf = (network: string, id: number, tunnelKeys?: readonly number[]) => ({
  'k8s.ovn.org/network-name': network,
  'k8s.ovn.org/network-id': String(id),
  ...(tunnelKeys !== undefined && { 'k8s.ovn.org/tunnel-keys': JSON.stringify(tunnelKeys) }),
});

beforeAll(async () => {
  cluster = await startCluster('test-compatibility-move');
  for (const name of ['mv-n1', 'mv-n2']) await make(NODES, node(name, NODES_BEFORE[name]));
  for (const name of TENANTS) {
    await make(NAMESPACES, tenant(name));
    // A real server lets pods in only when it is there; a controller may have been quicker.
    await make(SERVICE_ACCOUNTS, { metadata: { namespace: name, name: 'default' } }).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  }
  const network = { topology: 'Layer2', layer2: { role: 'Primary', subnets: ['10.50.0.0/16'] } };
  const selector = { matchLabels: { 'kubernetes.io/metadata.name': 'mv-shop' } };
  const shop = await make(CLUSTER_USER_DEFINED_NETWORKS, cudn('mv-shop', selector, network));
  await rendered(shop, 'ClusterUserDefinedNetwork', 'mv-shop', shopConfig('mv-shop'), {
    ...keysOf('cluster_udn_mv-shop', 54, SHOP_KEYS),
  });
  const vms = await make(
    USER_DEFINED_NETWORKS,
    layer2Udn('mv-vms/vms', ['10.51.0.0/28'], { ipam: { lifecycle: 'Persistent' } }),
  );
  await rendered(vms, 'UserDefinedNetwork', 'mv-vms', vmsConfig, {
    ...keysOf('mv-vms_vms', 9, [16_711_683 + 9, 16_715_900]),
  });
  const green = await make(USER_DEFINED_NETWORKS, {
    ...layer3Udn('mv-green/green', []),
    spec: {
      topology: 'Layer3',
      layer3: { role: 'Primary', subnets: [{ cidr: '10.52.0.0/16', hostSubnet: 24 }] },
    },
  });
  await rendered(green, 'UserDefinedNetwork', 'mv-green', greenConfig, keysOf('mv-green_green', 20));
  await make(IPAM_CLAIMS, ipamClaim('mv-vms/vm-1', 'mv-vms_vms', { interface: 'ovn-udn1' }));
  const claimed = { type: 'merge', body: { status: { ips: ['10.51.0.3/28'] } } } as const;
  await cluster.client.patch(IPAM_CLAIMS, { namespace: 'mv-vms', name: 'vm-1' }, claimed, { subresource: 'status' });
  await make(PODS, podOn('mv-shop/web', 'mv-n1', { annotations: { 'k8s.ovn.org/pod-networks': WEB } }));
  before = await objects();
  await cluster.startManager();
  await make(NODES, node('mv-n3'));
  await eventually(async () => expect(await annotation(await get(NODES, 'mv-n3'), 'node-id')).toBeDefined());
}, 180_000);
afterAll(async () => {
  await cluster?.client.delete(CLUSTER_USER_DEFINED_NETWORKS, { name: 'mv-shop' }).catch(() => {});
  await cluster?.close({ namespaces: TENANTS, nodes: NODE_NAMES });
});

const podOn = (key: string, nodeName: string, metadata: Readonly<Record<string, unknown>> = {}): ObjectInput =>
  pod(key, metadata, { nodeName, terminationGracePeriodSeconds: 0 });

const annotation = ({ metadata }: KubeObject, name: string): string | undefined =>
  metadata.annotations?.[`k8s.ovn.org/${name}`];

const objects = async (): Promise<readonly KubeObject[]> =>
  Promise.all([
    get(NODES, 'mv-n1'),
    get(NODES, 'mv-n2'),
    get(NETWORK_ATTACHMENT_DEFINITIONS, 'mv-shop', 'mv-shop'),
    get(NETWORK_ATTACHMENT_DEFINITIONS, 'vms', 'mv-vms'),
    get(NETWORK_ATTACHMENT_DEFINITIONS, 'green', 'mv-green'),
    get(PODS, 'web', 'mv-shop'),
  ]);

const isAllocated = async (resource: ResourceType, name: string, namespace?: string) =>
  eventually(async () => {
    const status = (await get(resource, name, namespace))['status'] as {
      conditions?: { type: string; status: string }[];
    };
    expect(status?.conditions?.find(({ type }) => type === 'NetworkAllocationSucceeded')).toMatchObject({
      status: 'True',
    });
    return status;
  });

const addressOf = async (key: string, nad: string): Promise<{ ip_addresses?: string[]; tunnel_id?: number }> => {
  const [namespace = '', name = ''] = key.split('/');
  return JSON.parse(annotation(await get(PODS, name, namespace), 'pod-networks') ?? '{}')[nad] ?? {};
};

describe('what has been given out stays', () => {
  it('networks are ready under the ids and with the definitions that they had', async () => {
    const shop = await isAllocated(CLUSTER_USER_DEFINED_NETWORKS, 'mv-shop');
    expect(shop).toMatchObject({ networkName: 'cluster_udn_mv-shop', networkID: 54 });
    expect(await isAllocated(USER_DEFINED_NETWORKS, 'vms', 'mv-vms')).toMatchObject({ networkID: 9 });
    expect(await isAllocated(USER_DEFINED_NETWORKS, 'green', 'mv-green')).toMatchObject({ networkID: 20 });
    const after = await objects();
    for (const [index, { metadata, spec, kind }] of before.entries()) {
      const now = after[index];
      expect(now?.metadata.uid).toBe(metadata.uid);
      if (kind !== 'NetworkAttachmentDefinition') continue;
      for (const [name, value] of Object.entries(metadata.annotations ?? {})) {
        expect(now?.metadata.annotations).toHaveProperty([name], value);
      }
      // The same network, its keys sorted.
      const configOf = (object: unknown) => JSON.parse((object as { config: string }).config);
      expect(configOf(now?.['spec'])).toEqual(configOf(spec));
    }
  });

  it('nodes keep their ids and subnets; what is of no use here is left alone', async () => {
    for (const name of ['mv-n1', 'mv-n2']) {
      const now = await get(NODES, name);
      for (const [key, value] of Object.entries(NODES_BEFORE[name] ?? {})) {
        if (!key.endsWith('node-subnets')) expect(now.metadata.annotations).toHaveProperty([key], value);
      }
      const subnets = JSON.parse(
        (NODES_BEFORE[name]?.['k8s.ovn.org/node-subnets'] ?? '').replace(/:("[^"]*")/g, ':[$1]'),
      );
      expect(JSON.parse(annotation(now, 'node-subnets') ?? '')).toEqual(subnets);
    }
    expect(annotation(await get(NODES, 'mv-n2'), 'node-transit-switch-port-ifaddr')).toContain('100.88.0.3/16');
  });

  it('a pod that runs keeps its addresses to the letter', async () => {
    expect(annotation(await get(PODS, 'web', 'mv-shop'), 'pod-networks')).toBe(WEB);
  });
});

describe('what has been given out is not given out again', () => {
  it('neither ids nor subnets of nodes', async () => {
    const third = await get(NODES, 'mv-n3');
    expect(['3', '7']).not.toContain(annotation(third, 'node-id'));
    const { default: own, 'mv-green_green': green } = JSON.parse(annotation(third, 'node-subnets') ?? '{}');
    expect([...own, ...green]).toHaveLength(2);
    expect(['10.128.4.0/23', '10.128.0.0/23', '10.52.9.0/24', '10.52.2.0/24']).not.toContain(own[0]);
    expect(['10.52.9.0/24', '10.52.2.0/24']).not.toContain(green[0]);
  });

  it('nor the address and the tunnel id of a pod', async () => {
    await make(PODS, podOn('mv-shop/thief', 'mv-n2', askPrimary({ ips: ['10.50.0.77'] })));
    await make(PODS, podOn('mv-shop/next', 'mv-n2'));
    await eventually(async () =>
      expect(await addressOf('mv-shop/next', 'mv-shop/mv-shop')).toMatchObject({ ip_addresses: ['10.50.0.3/16'] }),
    );
    expect((await addressOf('mv-shop/next', 'mv-shop/mv-shop')).tunnel_id).not.toBe(33);
    expect(await addressOf('mv-shop/thief', 'mv-shop/mv-shop')).toEqual({});
    expect(cluster.events).toContainEqual(
      expect.objectContaining({ reason: 'ErrorAllocatingPod', message: expect.stringContaining('10.50.0.77') }),
    );
  });

  it('nor the address of a claim that no pod has now: the next one that names it gets it', async () => {
    await make(PODS, podOn('mv-vms/other', 'mv-n2'));
    await make(PODS, podOn('mv-vms/vm-1', 'mv-n2', askPrimary({ 'ipam-claim-reference': 'vm-1' })));
    await eventually(async () =>
      expect(await addressOf('mv-vms/vm-1', 'mv-vms/vms')).toMatchObject({ ip_addresses: ['10.51.0.3/28'] }),
    );
    await eventually(async () =>
      expect(await addressOf('mv-vms/other', 'mv-vms/vms')).toMatchObject({ ip_addresses: ['10.51.0.4/28'] }),
    );
  });
});
