/**
 * What users of ovn-kubernetes have in their clusters, on a real API server: docs/compatibility.md says what carries over
 * and what is refused, and nothing here is refused with another message than it has there.
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLUSTER_USER_DEFINED_NETWORKS, USER_DEFINED_NETWORKS } from '../../../api/resources.ts';
import { eventually } from '../../conformance/kube/harness.ts';
import { type Cluster, type Condition, startCluster } from './cluster.ts';

const NAMESPACES = ['cm-green', 'cm-shop-web', 'cm-shop-db', 'cm-vms', 'cm-plain', 'cm-refused'];
const NETWORKS = ['cm-shop', 'cm-lab', 'cm-localnet', 'cm-no-overlay', 'cm-evpn', 'cm-uplink'];

const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

let cluster: Cluster;
let page: string;
beforeAll(async () => {
  page = await readFile('docs/compatibility.md', 'utf8');
  cluster = await startCluster('test-compatibility');
  await cluster.startManager();
  const { kubectl } = cluster;
  await kubectl.run('apply', '--validate=strict', '-f', file('accepted.yaml'));
  for (const network of ACCEPTED) await eventually(async () => expect(await conditionsOf(network)).not.toEqual([]));
  // Those that were there first keep their namespaces.
  await kubectl.run('apply', '--validate=strict', '-f', file('refused.yaml'));
}, 180_000);
afterAll(async () => {
  for (const name of NETWORKS) {
    await cluster?.client.delete(CLUSTER_USER_DEFINED_NETWORKS, { name }).catch(() => {});
  }
  await cluster?.close({ namespaces: NAMESPACES, nodes: [] });
});

const conditionsOf = async (key: string): Promise<readonly Condition[]> => {
  const [first = '', second] = key.split('/');
  const resource = second === undefined ? CLUSTER_USER_DEFINED_NETWORKS : USER_DEFINED_NETWORKS;
  const found = await cluster.client.get(resource, second === undefined ? { name: first } : refOf(key));
  return (found['status'] as { conditions?: Condition[] } | undefined)?.conditions ?? [];
};

const refOf = (key: string) => {
  const [namespace = '', name = ''] = key.split('/');
  return { namespace, name };
};

const stateOf = async (key: string, type: string): Promise<string> => {
  const found = (await conditionsOf(key)).find((one) => one.type === type);
  return `${found?.status} ${found?.reason}: ${found?.message}`;
};

const ACCEPTED = [
  'cm-green/green',
  'cm-shop',
  'cm-vms/vms',
  'cm-plain/storage',
  'cm-plain/macs',
  'cm-lab',
  'cm-localnet',
];

describe('is taken as it is', () => {
  it.each(ACCEPTED)('network %s', async (key) => {
    await eventually(async () =>
      expect(await stateOf(key, 'NetworkAllocationSucceeded')).toMatch(/^True NetworkAllocationSucceeded/),
    );
    expect(await stateOf(key, 'NetworkCreated')).toMatch(/^True NetworkAttachmentDefinitionCreated/);
    // No agent runs here.
    expect(await stateOf(key, 'Ready')).not.toMatch(/^True/);
  });

  it.each(['by-hand', 'localnet-by-hand'])(
    'NetworkAttachmentDefinition %s, written by hand, gets its id',
    async (name) => {
      const id = '-o=jsonpath={.metadata.annotations.k8s\\.ovn\\.org/network-id}';
      await eventually(async () =>
        expect(await cluster.kubectl.run('-n', 'cm-plain', 'get', 'net-attach-def', name, id)).toMatch(/^[0-9]+$/),
      );
    },
  );

  it.each([
    ['cm-green/green', { role: 'primary', topology: 'layer3', mtu: 1300, joinSubnet: '100.65.0.0/16,fd99::/64' }],
    ['cm-shop-db/cm-shop', { role: 'primary', joinSubnet: '100.66.0.0/16', transitSubnet: '100.88.0.0/16' }],
    [
      'cm-vms/vms',
      {
        ...{ allowPersistentIPs: true, defaultGatewayIPs: '10.42.0.5' },
        ...{ reservedSubnets: '10.42.64.0/24', infrastructureSubnets: '10.42.0.0/29' },
      },
    ],
    ['cm-plain/storage', { role: 'secondary', topology: 'layer3', subnets: '10.43.0.0/16' }],
    ['cm-plain/macs', { role: 'secondary', topology: 'layer2' }],
    [
      'cm-plain/cm-localnet',
      {
        ...{ role: 'secondary', topology: 'localnet', physicalNetworkName: 'lab', vlanID: 20, mtu: 1500 },
        ...{ subnets: '10.60.0.0/24', excludeSubnets: '10.60.0.0/28' },
      },
    ],
  ])('the NetworkAttachmentDefinition %s says what tools look for', async (key, expected) => {
    const { namespace, name } = refOf(key);
    const text = await cluster.kubectl.run(
      '-n',
      namespace,
      'get',
      'net-attach-def',
      name,
      '-o=jsonpath={.spec.config}',
    );
    expect(JSON.parse(text)).toMatchObject({ type: 'ovn-k8s-cni-overlay', netAttachDefName: key, ...expected });
  });
});

/** Which network, which condition, and what it says. */
const REFUSED: readonly (readonly [network: string, condition: string, reason: string, message: string])[] = [
  ['cm-no-overlay', 'TransportAccepted', 'TransportNotSupported', "transport 'NoOverlay' is not supported yet"],
  ['cm-evpn', 'TransportAccepted', 'TransportNotSupported', "transport 'EVPN' is not supported yet"],
  [
    'cm-uplink',
    'NetworkCreated',
    'NetworkAttachmentDefinitionSyncError',
    'failed to generate NetworkAttachmentDefinition: spec.uplinks is not supported yet',
  ],
  [
    'cm-refused/overlap',
    'NetworkCreated',
    'SyncError',
    'user defined subnet "10.128.0.0/16" overlaps cluster subnet "10.128.0.0/14"',
  ],
  ['cm-plain/unlabelled', 'NetworkCreated', 'SyncError', 'invalid primary network state for namespace "cm-plain"'],
  ['cm-green/second', 'NetworkCreated', 'SyncError', 'primary network already exist in namespace "cm-green": "green"'],
  [
    'cm-plain/by-hand',
    'NetworkCreated',
    'SyncError',
    'foreign NetworkAttachmentDefinition with the desired name already exist [cm-plain/by-hand]',
  ],
];

describe('is refused with a condition', () => {
  it.each(REFUSED)('network %s: %s', async (key, type, reason, message) => {
    await eventually(async () => expect(await stateOf(key, type)).toContain(message));
    expect(await stateOf(key, type)).toMatch(new RegExp(`^False ${reason}: `));
    expect(await stateOf(key, 'Ready')).toMatch(/^False /);
    expect(await stateOf(key, 'NetworkCreated')).toMatch(/^False /);
  });

  it('a NetworkAttachmentDefinition that was written by hand, with an event', async () => {
    await eventually(async () =>
      expect(cluster.events).toContainEqual(
        expect.objectContaining({
          reason: 'InvalidNetwork',
          regarding: expect.objectContaining({ name: 'evpn-by-hand' }),
          message: expect.stringContaining('transport evpn is not supported yet'),
        }),
      ),
    );
  });

  it('leaves no NetworkAttachmentDefinition behind', async () => {
    const names = (await cluster.kubectl.run('get', 'net-attach-def', '-A', '-o=name')).trim().split('\n');
    const made = names.map((name) => name.split('/')[1]).sort();
    expect(made).toEqual([
      ...[
        'by-hand',
        'cm-lab',
        'cm-localnet',
        'cm-shop',
        'cm-shop',
        'evpn-by-hand',
        'green',
        'localnet-by-hand',
        'macs',
      ],
      ...['storage', 'vms'],
    ]);
  });
});

it('docs/compatibility.md has each reason, and the message with its names left out', () => {
  for (const [, type, reason, message] of REFUSED) {
    expect(page).toContain(type);
    expect(page).toContain(reason);
    for (const part of message.split(/"[^"]*"|\[[^\]]*\]|'[^']*'/)) expect(page).toContain(part.trim());
  }
});
