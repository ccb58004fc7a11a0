/**
 * Policies of administrators with packets, over both families and on a layer-3, a layer-2 and the default network at once: they are
 * of the cluster. Needs root and `make build`.
 */
import { isIPv6 } from 'node:net';
import { beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import type { Ip } from '../../net/ip.ts';
import type { ManifestObject } from '../../sandbox/index.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { type Expected, expectAnswers } from '../oracles/policies/expected.ts';
import { applyAndWait, deletePods, useCluster } from './support/cluster/cluster.ts';
import { restartsOf } from './support/cluster/restarts.ts';
import { networkStatesOn } from './support/cluster/udnctl.ts';
import { ADMIN_DEFINITIONS, adminPolicy, named } from './support/policies/admin-manifests.ts';
import { streamToBreak } from './support/policies/broken-stream.ts';
import { networkPolicy, servingPod } from './support/policies/manifests.ts';
import {
  attempts,
  attemptsAt,
  type Member,
  POLICY_MANIFESTS,
  POLICY_TENANTS,
  type PolicyTenant,
  type Port,
  probedPod,
  readMembers,
} from './support/policies/members.ts';
import { nameServerSetting, serveNames } from './support/policies/name-server.ts';
import { addressesInSets } from './support/policies/rows.ts';
import { app, EVERY, FRIENDS, withPolicies } from './support/policies/with-policies.ts';
import { expectNoDifference } from './support/state/no-difference.ts';
import { ownedRows } from './support/state/owned-rows.ts';

const NODES = ['node-1', 'node-2'] as const;
const TENANTS = named(...POLICY_TENANTS);
const WEB = { pods: { namespaceSelector: TENANTS, podSelector: app('web') } };
const FROM_FRIENDS = [{ pods: { namespaceSelector: EVERY, podSelector: FRIENDS.podSelector } }];
const FROM_CLIENTS = [{ pods: { namespaceSelector: EVERY, podSelector: { matchLabels: { role: 'stranger' } } } }];
const HOST_PORT = 18_090;
const TCP: readonly Port[] = [['TCP', 8080]];
const UDP: readonly Port[] = [['UDP', 8081]];
const cluster = useCluster({
  ...{ name: 'test-admin-policy', ipFamily: 'dual' },
  settings: nameServerSetting(NODES.length),
});

let members: ReadonlyMap<string, Member>;
let before: readonly (readonly string[])[];

const member = (name: string): Member => {
  const found = members.get(name);
  if (found === undefined) throw new Error(`there is no pod ${name}`);
  return found;
};
const every = (expected: (tenant: PolicyTenant) => readonly Expected[]): Expected[] => POLICY_TENANTS.flatMap(expected);
const between = (from: string, to: string, isAllowed: boolean, ports?: readonly Port[]): Expected[] =>
  every((tenant) => attempts(member(`${tenant}-${from}`), member(`${tenant}-${to}`), isAllowed, ports));
const apply = async (...policies: readonly ManifestObject[]): Promise<void> => {
  await (await cluster().objects()).apply(policies);
};

const friendsOnly = POLICY_TENANTS.map((tenant) =>
  networkPolicy(tenant, 'friends', { podSelector: app('web'), ingress: [{ from: [FRIENDS] }] }),
);

/** With the network of node-2. */
const hostServer = (): ManifestObject => {
  const made = servingPod('plain', 'host-server', 'node-2', { ports: [HOST_PORT], hostname: 'host' });
  return { ...made, spec: { ...(made['spec'] as object), hostNetwork: true } };
};

beforeAll(async () => {
  await apply(...ADMIN_DEFINITIONS);
  await applyAndWait(cluster(), [...POLICY_MANIFESTS, hostServer()]);
  members = await readMembers(cluster());
  await restartAgents();
  await expectNoDifference(cluster(), NODES);
  before = await Promise.all(NODES.map((node) => ownedRows(cluster(), node)));
}, 300_000);

/** They look for definitions at their start, and then once a minute. */
const restartAgents = async (): Promise<void> => {
  const restarts = () => Promise.all(NODES.map((node) => restartsOf(cluster(), node)));
  const known = await restarts();
  await Promise.all(NODES.map((node) => cluster().kill(node, 'agent', 'SIGTERM')));
  await eventually(async () => {
    expect(await restarts()).toEqual(known.map((count) => count + 1));
    await Promise.all(NODES.map((node) => networkStatesOn(cluster(), node)));
  }, 60_000);
};

it('decide before network policies: deny, pass, and allow, the first that matches', async () => {
  const admin = (name: string, priority: number, rule: object) =>
    adminPolicy('AdminNetworkPolicy', name, { priority, subject: WEB, ingress: [rule] });
  const deny = admin('deny', 10, { action: 'Deny', from: FROM_FRIENDS });
  await withPolicies(cluster(), [...friendsOnly, deny], async () => {
    await expectAnswers(cluster(), [
      ...between('friend', 'server', false),
      ...between('client', 'server', false),
      ...between('friend', 'other', true),
      ...between('server', 'friend', true),
    ]);
    const pass = admin('pass', 5, { action: 'Pass', from: FROM_FRIENDS });
    const allow = admin('allow', 1, {
      ...{ action: 'Allow', from: FROM_CLIENTS, ports: [{ portNumber: { protocol: 'TCP', port: 8080 } }] },
    });
    await withPolicies(cluster(), [pass, allow], () =>
      expectAnswers(cluster(), [
        ...between('friend', 'server', true),
        ...between('client', 'server', true, TCP),
        ...between('client', 'server', false, UDP),
      ]),
    );
  });
});

it('of the baseline deny what no network policy decides', async () => {
  const baseline = adminPolicy('BaselineAdminNetworkPolicy', 'default', {
    ...{ subject: { namespaces: TENANTS }, ingress: [{ action: 'Deny', from: [{ namespaces: EVERY }] }] },
  });
  await withPolicies(cluster(), [baseline], async () => {
    await expectAnswers(cluster(), [...between('friend', 'server', false), ...between('friend', 'other', false)]);
    await withPolicies(cluster(), friendsOnly, () =>
      expectAnswers(cluster(), [
        ...between('friend', 'server', true),
        ...between('client', 'server', false),
        ...between('friend', 'other', false),
      ]),
    );
  });
  await expectAnswers(cluster(), between('friend', 'other', true));
});

it('keep pods from networks, and from nodes by their labels', async () => {
  const outside = (await cluster().status()).outside.map((address) => address.split('/')[0] ?? '');
  const atOutside = (answeredBy: string | undefined, ports: readonly Port[]) =>
    every((tenant) => attemptsAt(member(`${tenant}-client`), outside, answeredBy, ports));
  const toNode = (answeredBy: string | undefined, addresses: readonly string[]) =>
    every((tenant) => attemptsAt(member(`${tenant}-client`), addresses, answeredBy, [['TCP', HOST_PORT]]));
  const addresses = await addressesOfNode('node-2');
  await apply({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-2', labels: { vault: 'yes' } } });
  await expectAnswers(cluster(), [...atOutside('outside', [...TCP, ...UDP]), ...toNode('host', addresses)]);
  const subject = { pods: { namespaceSelector: TENANTS, podSelector: app('client') } };
  const networks = outside.map((address) => `${address}/${isIPv6(address) ? 128 : 32}`);
  const policy = adminPolicy('ClusterNetworkPolicy', 'outside', {
    ...{ tier: 'Admin', priority: 3, subject },
    egress: [
      { action: 'Deny', to: [{ networks }], protocols: [{ tcp: { destinationPort: { number: 8080 } } }] },
      { action: 'Deny', to: [{ nodes: { matchLabels: { vault: 'yes' } } }] },
    ],
  });
  await withPolicies(cluster(), [policy], () =>
    expectAnswers(cluster(), [
      ...atOutside(undefined, TCP),
      ...atOutside('outside', UDP),
      ...toNode(undefined, addresses),
      ...between('client', 'server', true),
    ]),
  );
  await expectAnswers(cluster(), toNode('host', addresses));
});

it('let pods out to what a domain name stands for, also when agents start while no server answers', async () => {
  const outside = (await cluster().status()).outside.map((address) => address.split('/')[0] ?? '');
  const atOutside = (answeredBy: string) =>
    every((tenant) => attemptsAt(member(`${tenant}-client`), outside, answeredBy, TCP));
  const policy = adminPolicy('ClusterNetworkPolicy', 'names', {
    ...{ tier: 'Admin', priority: 3, subject: { pods: { namespaceSelector: TENANTS, podSelector: app('client') } } },
    egress: [
      { action: 'Accept', to: [{ domainNames: ['www.example.com'] }] },
      { action: 'Deny', to: [{ networks: ['0.0.0.0/0', '::/0'] }] },
    ],
  });
  // Whoever has the name tries for pods, too.
  const peers = POLICY_TENANTS.flatMap((tenant) => member(`${tenant}-server`).addresses);
  const stop = await serveNames(cluster(), { 'www.example.com': [...outside, ...peers] });
  await withPolicies(cluster(), [policy], async () => {
    await expectAnswers(cluster(), [...atOutside('outside'), ...between('client', 'server', false)]);
    await stop();
    await restartAgents();
    await expectAnswers(cluster(), atOutside('outside'));
  });
});

it.each(['Admin', 'Baseline'])(
  'stop connections that become forbidden, in both directions, in tier %s',
  async (tier) => {
    const policy = (name: string, podSelector: object, rules: object) =>
      adminPolicy('ClusterNetworkPolicy', name, {
        ...{ tier, priority: 9, subject: { pods: { namespaceSelector: TENANTS, podSelector } } },
        ...rules,
      });
    const streams = await Promise.all(
      POLICY_TENANTS.flatMap((tenant, index) =>
        [
          ['client', 'server'],
          ['friend', 'other'],
        ].map(([from, to]) => {
          const address = member(`${tenant}-${to}`).addresses[index % 2] as Ip;
          return streamToBreak(cluster(), { from: `${tenant}/${tenant}-${from}`, to: address });
        }),
      ),
    );
    const policies = [
      policy('in', app('web'), { ingress: [{ action: 'Deny', from: [{ namespaces: EVERY }] }] }),
      policy('out', FRIENDS.podSelector, { egress: [{ action: 'Deny', to: [{ namespaces: EVERY }] }] }),
    ];
    await withPolicies(cluster(), policies, async () => {
      const ends = await Promise.all(streams.map(({ broken }) => broken));
      expect(ends).toEqual(streams.map(() => 'silence'));
    });
    await expectAnswers(cluster(), [...between('client', 'server', true), ...between('friend', 'other', true)]);
  },
);

it('that deny everything leave the kubelet its probes', async () => {
  const nothing = adminPolicy('AdminNetworkPolicy', 'nothing', {
    ...{ priority: 0, subject: { namespaces: TENANTS } },
    ingress: [{ action: 'Deny', from: [{ moons: {} }] }],
    egress: [{ action: 'Deny', to: [{ networks: ['0.0.0.0/0', '::/0'] }] }],
  });
  await withPolicies(cluster(), [nothing], async () => {
    await expectAnswers(cluster(), [...between('client', 'server', false), ...between('friend', 'other', false)]);
    await applyAndWait(cluster(), POLICY_TENANTS.map(probedPod));
    await deletePods(cluster(), ...POLICY_TENANTS.map((tenant) => `${tenant}/${tenant}-probed`));
  });
});

it('mean nobody on another network that has the same addresses', async () => {
  const known = await Promise.all(NODES.map((node) => addressesInSets(cluster(), node)));
  const policy = adminPolicy('AdminNetworkPolicy', 'blue', {
    ...{ priority: 0, subject: { namespaces: named('red') } },
    ingress: [{ action: 'Deny', from: [{ namespaces: named('blue') }] }],
    egress: [{ action: 'Deny', to: [{ namespaces: named('blue') }] }],
  });
  const reds = [...members.values()].filter(({ namespace }) => namespace === 'red');
  const own = new Set(reds.flatMap(({ addresses }) => addresses));
  await withPolicies(cluster(), [policy], async () => {
    await expectAnswers(cluster(), [
      ...attempts(member('red-client'), member('red-server'), true),
      ...attempts(member('red-friend'), member('red-other'), true),
    ]);
    for (const [index, node] of NODES.entries()) {
      const added = (await addressesInSets(cluster(), node)).filter((address) => !known[index]?.includes(address));
      expect(added.filter((address) => !own.has(address))).toEqual([]);
    }
  });
});

it('leave nothing when they are gone', async () => {
  await expectNoDifference(cluster(), NODES);
  expect(await Promise.all(NODES.map((node) => ownedRows(cluster(), node)))).toEqual(before);
});

const addressesOfNode = async (name: string): Promise<string[]> => {
  const node = nodeSchema.parse(await (await cluster().objects()).get('Node', name));
  return node.status.addresses.filter(({ type }) => type === 'InternalIP').map(({ address }) => address);
};

const nodeSchema = z.object({
  status: z.object({ addresses: z.array(z.object({ type: z.string(), address: z.string() })) }),
});
