/**
 * What `udnctl render` says of a node is what its databases have: the rows, their columns and nothing else of ours. Needs
 * root and `make build`.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ManifestObject, Sandbox } from '../../sandbox/index.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { networkRendering, startCluster } from './support/cluster/cluster.ts';
import { layer2, layer3, namespace, plainNamespace, pod } from './support/cluster/manifests.ts';
import { backend, service } from './support/services/services.ts';
import { keyOf, type Row, readNodeState, type Tables } from './support/state/node-state.ts';

const NODES = ['node-1', 'node-2'] as const;
const TENANTS = ['red', 'green', 'plain'] as const;
const KINDS = {
  Node: 'nodes',
  Namespace: 'namespaces',
  Pod: 'pods',
  NetworkAttachmentDefinition: 'network-attachment-definitions',
  UserDefinedNetwork: 'udn',
  Service: 'services',
  EndpointSlice: 'endpointslices',
};
const CONNECTIONS = '5000';
const SETTINGS = [
  `connectionsPerNetwork=${CONNECTIONS}`,
  'clusterSubnets=10.128.0.0/14/23,fd00:10:128::/48/64',
  'serviceSubnets=10.96.0.0/16,fd00:10:96::/112',
  `networkRendering=${networkRendering() ?? 'always'}`,
];
const NOTHING_IS_LEFT = expect.objectContaining({ missing: [], tooMany: [], different: [] });
let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startCluster({ name: 'test-render', settings: { UDN_CONNECTIONS_PER_NETWORK: CONNECTIONS } });
  const objects = await sandbox.objects();
  const pods = ['red/a', 'green/a', 'plain/a'].flatMap((key) => NODES.map((node) => podOn(key, node)));
  const backends = TENANTS.map((tenant) => backend(tenant, `${tenant}-web`, 'node-2', 'web'));
  await objects.apply([
    namespace('red'),
    layer3('red', 'net', ['10.60.0.0/16/24', 'fd00:60::/48/64']),
    namespace('green'),
    layer2('green', 'net', ['10.61.0.0/16', 'fd00:61::/64']),
    plainNamespace('plain'),
    ...pods,
    ...backends,
    ...TENANTS.map((tenant) => service(tenant, 'web', { app: 'web', spec: { type: 'NodePort' } })),
  ]);
  await Promise.all(
    [...pods, ...backends].map(({ metadata }) =>
      objects.wait('pod', `${metadata.namespace}/${metadata.name}`, 'ready'),
    ),
  );
});
afterAll(() => sandbox?.down());

const podOn = (key: string, node: string): ManifestObject => {
  const [inNamespace = '', name = ''] = key.split('/');
  return pod(inNamespace, `${name}-${node}`, node);
};

/** Groups of load balancers have no `external_ids`: they are known by their names. */
const identify = (row: Row): string | undefined =>
  keyOf(row) ?? (/(^|_)clusterLBGroup$/.test(String(row['name'])) ? `Load_Balancer_Group/${row['name']}` : undefined);

type Documents = Readonly<Record<'northbound' | 'openvswitch', Readonly<Record<string, readonly Row[]>>>>;

const rendered = async (node: string): Promise<Documents> => {
  const objects = await sandbox.objects();
  const lists = await Promise.all(
    Object.entries(KINDS).map(async ([kind, plural]) => ({ kind: `${kind}List`, items: await objects.list(plural) })),
  );
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: lists });
  const { stdout } = await sandbox.node(node, ['udnctl', 'render', '-f', '-', '--node', node, '--set', ...SETTINGS], {
    input: list,
  });
  return JSON.parse(stdout);
};

/** @returns what one has and the other has not, by key and column */
const compare = (desired: Documents['northbound'], actual: Tables) => {
  const keys = new Map(
    [...actual.values()].flat().flatMap((row): [unknown, string][] => {
      const key = identify(row);
      return key === undefined ? [] : [[row['_uuid'], key]];
    }),
  );
  const there = new Map(
    [...actual.values()].flat().flatMap((row): [string, Row][] => {
      const key = identify(row);
      return key === undefined ? [] : [[key, row]];
    }),
  );
  const marked = Object.values(desired)
    .flat()
    .filter((row) => identify(row) !== undefined);
  const different = marked.flatMap((row) => {
    const found = there.get(identify(row) ?? '') ?? {};
    return Object.entries(row)
      .map(([column, value]) => ({ column, desired: plain(value, keys), found: plain(found[column], keys) }))
      .filter(({ desired: one, found: other }) => JSON.stringify(one) !== JSON.stringify(other))
      .map((difference) => ({ key: identify(row), ...difference }));
  });
  const desiredKeys = new Set(marked.map(identify));
  return {
    rows: marked.length,
    missing: [...desiredKeys].filter((key) => !there.has(key ?? '')),
    tooMany: [...there.keys()].filter((key) => !desiredKeys.has(key)),
    different,
  };
};

/** Sets are sorted, one element stands for itself, and references are keys. */
const plain = (value: unknown, keys: ReadonlyMap<unknown, string>): unknown => {
  if (Array.isArray(value)) {
    const elements = value.map((element) => keys.get(element) ?? element).sort();
    return elements.length === 1 ? elements[0] : elements;
  }
  if (typeof value === 'object' && value !== null) return Object.fromEntries(Object.entries(value).sort());
  return keys.get(value) ?? value;
};

const northboundDifferences = async (node: string) =>
  compare((await rendered(node)).northbound, (await readNodeState(sandbox, node)).northbound);

describe('udnctl render', () => {
  it.each(NODES)(
    '%s: the northbound database has these rows, with these columns, and no more of ours',
    async (node) => {
      // Slices follow their pods, and their mirrors them.
      const result = await eventually(async () => {
        const differences = await northboundDifferences(node);
        expect(differences).toEqual(NOTHING_IS_LEFT);
        return differences;
      });
      // Switches and routers of three networks, ports of pods and between them, meters, ACLs.
      expect(result.rows).toBeGreaterThan(40);
    },
  );

  it('is true again when rows were changed and removed by hand, and after a deletion', async () => {
    const nbctl = (...args: string[]) => sandbox.node('node-1', ['ovn-nbctl', ...args]);
    await nbctl('ls-del', 'red_net_node-1', '--', 'lsp-set-addresses', 'green.net_green_a-node-1', 'unknown');
    await eventually(async () => expect(await northboundDifferences('node-1')).toEqual(NOTHING_IS_LEFT));
    const objects = await sandbox.objects();
    await objects.delete([podOn('green/a', 'node-2'), podOn('red/a', 'node-1')]);
    await eventually(async () => {
      for (const node of NODES) expect(await northboundDifferences(node)).toEqual(NOTHING_IS_LEFT);
    });
  });

  it('knows the settings of Open vSwitch', async () => {
    const { openvswitch } = await rendered('node-1');
    const [row] = openvswitch['Open_vSwitch'] ?? [];
    const { stdout } = await sandbox.node('node-1', ['ovs-vsctl', 'get', 'Open_vSwitch', '.', 'external_ids']);
    const entries = Object.entries((row?.['external_ids'] ?? {}) as Record<string, string>);
    expect(entries.length).toBeGreaterThan(5);
    for (const [name, value] of entries) expect(stdout.replaceAll('"', '')).toContain(`${name}=${value}`);
  });
});
