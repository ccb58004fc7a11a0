/**
 * EgressFirewalls with packets, over both families and on a layer-3, a layer-2 and the default network at once. Needs root and `make build`.
 */
import { isIPv6 } from 'node:net';
import { beforeAll, expect, it } from 'vitest';
import type { Ip } from '../../net/ip.ts';
import type { ManifestObject } from '../../sandbox/index.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { type Expected, expectAnswers } from '../oracles/policies/expected.ts';
import { applyAndWait, useCluster } from './support/cluster/cluster.ts';
import { layer2, layer3, namespace, plainNamespace } from './support/cluster/manifests.ts';
import { restartsOf } from './support/cluster/restarts.ts';
import { networkStatesOn } from './support/cluster/udnctl.ts';
import { nodeAddress, outside } from './support/networks/north-south.ts';
import { arrivedAtHost } from './support/policies/around-router.ts';
import { streamToBreak } from './support/policies/broken-stream.ts';
import { networkPolicy, servingPod } from './support/policies/manifests.ts';
import {
  attempts,
  attemptsAt,
  clientPod,
  type Member,
  POLICY_TENANTS,
  type Port,
  readMembers,
} from './support/policies/members.ts';
import { RESOLVER_SETTING, resolversIn, serveResolvers, tellOf } from './support/policies/name-resolver.ts';
import { app, EVERY, withPolicies } from './support/policies/with-policies.ts';
import { backend, clusterIps, handMadeSlice, service } from './support/services/services.ts';
import { expectNoDifference } from './support/state/no-difference.ts';
import { ownedRows } from './support/state/owned-rows.ts';

const NODES = ['node-1', 'node-2'] as const;
const FAMILIES = [4, 6] as const;
const TCP: readonly Port[] = [['TCP', 8080]];
const UDP: readonly Port[] = [['UDP', 8081]];
const HOST_PORT = 18_091;
const NODE_PORT = 30_191;
const cluster = useCluster({ name: 'test-egress-firewall', ipFamily: 'dual', settings: RESOLVER_SETTING });

let members: ReadonlyMap<string, Member>;
let before: readonly (readonly string[])[];

const member = (name: string): Member => {
  const found = members.get(name);
  if (found === undefined) throw new Error(`there is no pod ${name}`);
  return found;
};
const every = (expected: (tenant: (typeof POLICY_TENANTS)[number]) => readonly Expected[]): Expected[] =>
  POLICY_TENANTS.flatMap(expected);
const OUTSIDE = FAMILIES.map(outside);
const atOutside = (answeredBy: 'outside' | undefined, ports: readonly Port[]): Expected[] =>
  every((tenant) => attemptsAt(member(`${tenant}-client`), OUTSIDE, answeredBy, ports));
const atHost = (answeredBy: 'host' | undefined): Expected[] =>
  every((tenant) =>
    attemptsAt(
      member(`${tenant}-client`),
      FAMILIES.map((family) => nodeAddress('node-2', family)),
      answeredBy,
      [['TCP', HOST_PORT]],
    ),
  );
const inside = (): Expected[] =>
  every((tenant) => attempts(member(`${tenant}-client`), member(`${tenant}-server`), true));
const atServices = async (): Promise<Expected[]> => {
  const all = POLICY_TENANTS.map(async (tenant) => {
    const ips = await clusterIps(cluster(), `${tenant}/server`);
    return attemptsAt(member(`${tenant}-client`), ips, `${tenant}-server`, [['TCP', 80]]);
  });
  return (await Promise.all(all)).flat();
};

const firewall = (tenant: string, egress: readonly object[]): ManifestObject => ({
  apiVersion: 'k8s.ovn.org/v1',
  kind: 'EgressFirewall',
  metadata: { namespace: tenant, name: 'default' },
  spec: { egress },
});
const firewalls = (egress: readonly object[]): ManifestObject[] =>
  POLICY_TENANTS.map((tenant) => firewall(tenant, egress));
const to = (type: 'Allow' | 'Deny', cidrSelector: string, ports?: readonly object[]) => ({
  ...{ type, to: { cidrSelector } },
  ...(ports && { ports }),
});
const DENY_REST = ['0.0.0.0/0', '::/0'].map((all) => to('Deny', all));
const HTTP = [{ protocol: 'TCP', port: 8080 }];
const ECHO = [{ protocol: 'TCP', port: 8082 }];
const ALLOW_OUTSIDE = OUTSIDE.map((ip) => to('Allow', `${ip}/${isIPv6(ip) ? 128 : 32}`, [...HTTP, ...ECHO]));

/** With the network of node-2. */
const hostServer = (): ManifestObject => {
  const made = servingPod('plain', 'host-server', 'node-2', { ports: [HOST_PORT], hostname: 'host' });
  return { ...made, spec: { ...(made['spec'] as object), hostNetwork: true } };
};

const ofTenant = (tenant: string): ManifestObject[] => [
  clientPod(tenant, 'client', false),
  backend(tenant, `${tenant}-server`, 'node-2', 'web'),
  service(tenant, 'server', { app: 'web' }),
];

/** Its endpoint is no pod; on networks of tenants there are none of such endpoints. */
const FAR = [
  service('plain', 'far', { spec: { ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }] } }),
  ...OUTSIDE.map((ip) => handMadeSlice('plain', `far-${isIPv6(ip) ? 6 : 4}`, 'far', [ip])),
];
const atFar = async (answeredBy: 'outside' | undefined): Promise<Expected[]> =>
  attemptsAt(member('plain-client'), await clusterIps(cluster(), 'plain/far'), answeredBy, [['TCP', 80]]);

/** A port of the nodes for the server of the default network. */
const ENTRY = service('plain', 'entry', {
  app: 'web',
  spec: {
    type: 'NodePort',
    ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, nodePort: NODE_PORT }],
  },
});

beforeAll(async () => {
  await serveResolvers(cluster());
  await applyAndWait(cluster(), [
    ...['red', 'green'].map((name) => namespace(name)),
    plainNamespace('plain'),
    layer3('red', 'net', ['10.91.0.0/16/24', 'fd00:91::/48/64']),
    layer2('green', 'net', ['10.92.0.0/16', 'fd00:92::/64']),
    ...POLICY_TENANTS.flatMap(ofTenant),
    ...[ENTRY, ...FAR, hostServer()],
    { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-2', labels: { vault: 'yes' } } },
  ]);
  members = await readMembers(cluster());
  await expectNoDifference(cluster(), NODES);
  before = await Promise.all(NODES.map((node) => ownedRows(cluster(), node)));
}, 300_000);

it('let out what a rule allows before one that denies, and are not about the cluster itself', async () => {
  await expectAnswers(cluster(), [
    ...atOutside('outside', [...TCP, ...UDP]),
    ...atHost('host'),
    ...(await atFar('outside')),
  ]);
  await withPolicies(cluster(), firewalls([...ALLOW_OUTSIDE, ...DENY_REST]), async () => {
    await expectApplied();
    await expectAnswers(cluster(), [
      ...atOutside('outside', TCP),
      ...atOutside(undefined, UDP),
      ...atHost(undefined),
      ...inside(),
      ...(await atServices()),
      ...(await atFar('outside')),
    ]);
    const streams = await Promise.all(
      POLICY_TENANTS.map((tenant, index) =>
        streamToBreak(cluster(), { from: `${tenant}/${tenant}-client`, to: OUTSIDE[index % 2] as Ip }),
      ),
    );
    await (await cluster().objects()).apply(firewalls([...DENY_REST, ...ALLOW_OUTSIDE]));
    await expectApplied();
    expect(await Promise.all(streams.map(({ broken }) => broken))).toEqual(streams.map(() => 'silence'));
    await expectAnswers(cluster(), [...atOutside(undefined, TCP), ...(await atFar(undefined)), ...inside()]);
    await expectEntered();
  });
  await expectAnswers(cluster(), atOutside('outside', [...TCP, ...UDP]));
});

/** Of both nodes: the client is on one of them, the server on the other. */
const expectApplied = async (): Promise<void> => {
  const objects = await cluster().objects();
  const status = 'EgressFirewall Rules applied';
  const expected = { status, messages: NODES.map((node) => `${node}: ${status}`) };
  await eventually(async () => {
    const found = POLICY_TENANTS.map(async (tenant) => {
      const { metadata, ...object } = await objects.get('EgressFirewall', `${tenant}/default`);
      expect(metadata.name).toBe('default');
      return object['status'];
    });
    expect(await Promise.all(found)).toEqual(POLICY_TENANTS.map(() => expected));
  }, 60_000);
};

/** What comes in is answered, whatever may not be begun. */
const expectEntered = async (): Promise<void> => {
  const answers = FAMILIES.map(async (family) => {
    const ip = nodeAddress('node-1', family);
    const url = `http://${family === 6 ? `[${ip}]` : ip}:${NODE_PORT}/hostname`;
    return (await cluster().outside(['curl', '-sg', '--max-time', '5', url])).stdout;
  });
  expect(await Promise.all(answers)).toEqual(FAMILIES.map(() => 'plain-server'));
};

it('let out to nodes by their labels', async () => {
  const vaults = { nodeSelector: { matchLabels: { vault: 'yes' } } };
  await withPolicies(cluster(), firewalls([{ type: 'Allow', to: vaults }, ...DENY_REST]), async () => {
    await expectAnswers(cluster(), [...atHost('host'), ...atOutside(undefined, TCP)]);
    await (await cluster().objects()).apply(firewalls([{ type: 'Deny', to: vaults }]));
    await expectAnswers(cluster(), [...atHost(undefined), ...atOutside('outside', TCP)]);
  });
});

it('let out by a wildcard what pods have been told of its names, for as long as that counts', async () => {
  const wildcard = '*.example.com';
  const byName = firewalls([{ type: 'Allow', to: { dnsName: wildcard }, ports: HTTP }, ...DENY_REST]);
  await withPolicies(cluster(), byName, async () => {
    await expectApplied();
    await expectAnswers(cluster(), atOutside(undefined, TCP));
    // Whoever owns a name tries for pods, too.
    const servers = POLICY_TENANTS.flatMap((tenant) => member(`${tenant}-server`).addresses);
    await tellOf(cluster(), wildcard, 'www.example.com.', [...OUTSIDE, ...servers]);
    await expectAnswers(cluster(), [...atOutside('outside', TCP), ...atOutside(undefined, UDP), ...inside()]);
    await tellOf(cluster(), wildcard, 'www.example.com.', OUTSIDE, 600);
    await expectAnswers(cluster(), atOutside(undefined, TCP));
    await tellOf(cluster(), wildcard, 'www.example.org.', OUTSIDE);
    await expectAnswers(cluster(), atOutside(undefined, TCP));
  });
  await eventually(async () => expect(await resolversIn(cluster())).toEqual([]));
});

/** What the host would make of them is another question: in local gateway mode it sends them on. */
it('are about what goes around the router to the host, too', async () => {
  const around = () =>
    arrivedAtHost(cluster(), { pod: member('plain-client').key, node: 'node-1', destinations: OUTSIDE });
  expect(await around()).toEqual(OUTSIDE);
  await withPolicies(cluster(), firewalls(DENY_REST), async () => {
    await expectAnswers(cluster(), atOutside(undefined, TCP));
    expect(await around()).toEqual([]);
  });
});

it('open nothing that a network policy closes, and no network policy opens what they close', async () => {
  const policies = (egress: readonly object[]) =>
    POLICY_TENANTS.map((tenant) =>
      networkPolicy(tenant, 'out', { podSelector: app('client'), policyTypes: ['Egress'], egress }),
    );
  const all = [{ to: ['0.0.0.0/0', '::/0'].map((cidr) => ({ ipBlock: { cidr } })) }];
  await withPolicies(cluster(), [...firewalls(ALLOW_OUTSIDE), ...policies([{ to: [{ podSelector: EVERY }] }])], () =>
    expectAnswers(cluster(), [...atOutside(undefined, TCP), ...inside()]),
  );
  await withPolicies(cluster(), [...firewalls([...ALLOW_OUTSIDE, ...DENY_REST]), ...policies(all)], () =>
    expectAnswers(cluster(), [...atOutside('outside', TCP), ...atOutside(undefined, UDP), ...inside()]),
  );
});

it('hold while agents restart, and leave nothing when they are gone', async () => {
  const byName = { type: 'Allow', to: { dnsName: '*.example.com' }, ports: [{ protocol: 'UDP', port: 8081 }] };
  await withPolicies(cluster(), firewalls([...ALLOW_OUTSIDE, byName, ...DENY_REST]), async () => {
    await tellOf(cluster(), '*.example.com', 'www.example.com.', OUTSIDE);
    const holds = () => expectAnswers(cluster(), [...atOutside('outside', [...TCP, ...UDP]), ...atHost(undefined)]);
    await holds();
    const known = await Promise.all(NODES.map((node) => ownedRows(cluster(), node)));
    await Promise.all(
      NODES.map(async (node) => {
        const times = await restartsOf(cluster(), node, 'agent');
        await cluster().kill(node, 'agent', 'SIGKILL');
        await eventually(async () => {
          expect(await restartsOf(cluster(), node, 'agent')).toBe(times + 1);
          await networkStatesOn(cluster(), node);
        }, 60_000);
      }),
    );
    await holds();
    await expectNoDifference(cluster(), NODES);
    expect(await Promise.all(NODES.map((node) => ownedRows(cluster(), node)))).toEqual(known);
  });
  await expectNoDifference(cluster(), NODES);
  expect(await Promise.all(NODES.map((node) => ownedRows(cluster(), node)))).toEqual(before);
});
