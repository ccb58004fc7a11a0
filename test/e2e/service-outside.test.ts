/**
 * Services by node ports and addresses outside of the cluster while they come, change and go, in shared gateway mode. Who reaches
 * them from where is in service-matrix.test.ts. Needs root and `make build`.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { FAMILIES } from '../../net/ip.ts';
import type { ManifestObject, Sandbox } from '../../sandbox/index.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import type { RunThere, Target } from '../oracles/reachability/service-clients.ts';
import { applyAndWait, deletePods, useCluster } from './support/cluster/cluster.ts';
import { layer2, layer3, namespace, plainNamespace } from './support/cluster/manifests.ts';
import { nodeAddress } from './support/networks/north-south.ts';
import {
  addressTargets,
  answeredBy,
  type EntryPoints,
  entryPointsOf,
  fromOutside,
  giveIngress,
  nodePortTargets,
  publicService,
  routeBy,
  whoAnswers,
} from './support/services/entry-points.ts';
import { backend, targetsOf } from './support/services/services.ts';
import { rowsNaming } from './support/state/rows.ts';

const TENANTS = ['red', 'blue', 'green', 'plain'] as const;
type Tenant = (typeof TENANTS)[number];
const NODES = ['node-1', 'node-2'] as const;

/** red and blue have the same addresses. */
const LAYER3 = ['10.76.0.0/16/24', 'fd00:76::/48/64'];
const NETWORKS: readonly ManifestObject[] = [
  layer3('red', 'net', LAYER3),
  layer3('blue', 'net', LAYER3),
  layer2('green', 'net', ['10.77.0.0/16', 'fd00:77::/64']),
];

/** With pods on both nodes. */
const WEB = (tenant: Tenant): EntryPoints => entryPointsOf(TENANTS.indexOf(tenant));
/** Whose pods come later. */
const LATE = (tenant: Tenant): EntryPoints => entryPointsOf(20 + TENANTS.indexOf(tenant));

const backends = (tenant: Tenant): string[] => NODES.map((node) => `${tenant}-web-${node}`);

/** As often as it takes for each of two endpoints to get one, but for one in two thousand times; then there is a second try. */
const OFTEN = 12;

const cluster = useCluster({ name: 'test-service-outside', ipFamily: 'dual' });

beforeAll(() => applyPublicServices(cluster()), 120_000);

const expectNobody = async (run: RunThere, targets: readonly Target[]): Promise<void> => {
  await eventually(async () => expect((await whoAnswers(run, targets)).filter(isAnswer)).toEqual([]));
};
const outsider = (): RunThere => fromOutside(cluster());

/** As an API server on no node has it: docs/install.md. */
describe('a host outside with a route to ClusterIPs by a node', () => {
  const changeRoutes = async (what: 'replace' | 'delete', targets: readonly Target[]): Promise<void> => {
    const lines = FAMILIES.flatMap((family) =>
      targets
        .filter(({ ip }) => ip.includes(':') === (family === 6))
        .map(({ ip }) => `ip -${family} route ${what} ${ip} via ${nodeAddress('node-1', family)}`),
    );
    await cluster().outside(['sh', '-ec', [...new Set(lines)].join('\n')]);
  };

  it.each(TENANTS)('reaches those of the default network on all nodes, and those of no other: %s', async (tenant) => {
    const targets = await targetsOf(cluster(), `${tenant}/web`);
    await changeRoutes('replace', targets);
    try {
      if (tenant === 'plain') await expectAnswers(outsider(), targets, backends(tenant));
      else expect((await whoAnswers(outsider(), targets)).filter(isAnswer)).toEqual([]);
    } finally {
      await changeRoutes('delete', targets);
    }
  });
});

describe.each(TENANTS)('a Service of %s', (tenant) => {
  it('answers as soon as it has an endpoint and until it has none; deleted, nothing of it is left', async () => {
    const entryPoints = LATE(tenant);
    const targets = [...nodePortTargets('node-1', entryPoints), ...addressTargets(entryPoints)];
    const manifest = publicService(tenant, 'late', 'late', entryPoints);
    await applyAndWait(cluster(), [manifest]);
    await giveIngress(cluster(), `${tenant}/late`, entryPoints);
    await routeBy(cluster(), 'node-1', entryPoints);
    await eventually(async () =>
      expect(await whoAnswers(outsider(), targets)).toEqual(answeredBy(targets, ['(refused)'])),
    );
    await applyAndWait(cluster(), [backend(tenant, `${tenant}-late-1`, 'node-2', 'late')]);
    await expectAnswers(outsider(), targets, [`${tenant}-late-1`]);
    await applyAndWait(cluster(), [backend(tenant, `${tenant}-late-2`, 'node-1', 'late')]);
    await expectAnswers(outsider(), targets, [`${tenant}-late-1`, `${tenant}-late-2`]);
    await deletePods(cluster(), `${tenant}/${tenant}-late-1`, `${tenant}/${tenant}-late-2`);
    await eventually(async () =>
      expect(await whoAnswers(outsider(), targets)).toEqual(answeredBy(targets, ['(refused)'])),
    );
    await (await cluster().objects()).delete([manifest], { timeoutSeconds: 30 });
    for (const node of NODES) {
      await eventually(async () => expect(await leftOf(cluster(), node, `${tenant}/late`, entryPoints)).toEqual([]));
    }
    await expectNobody(outsider(), targets);
  });
});

it('no node says that it has an external address', async () => {
  const entryPoints = TENANTS.flatMap((tenant) => [...WEB(tenant).externalIps, ...WEB(tenant).ingress]);
  expect(await neighboursFound(cluster(), entryPoints)).toEqual([]);
  // So that silence means something.
  expect(await neighboursFound(cluster(), [nodeAddress('node-1', 4), nodeAddress('node-2', 6)])).toHaveLength(2);
});

it('a port that is no Service’s answers nobody', async () => {
  await expectNobody(outsider(), nodePortTargets('node-1', entryPointsOf(90)));
});

it('an agent that starts again changes nothing of a Service, and takes away what has gone meanwhile', async () => {
  const entryPoints = entryPointsOf(40);
  const gone = publicService('red', 'gone', 'web', entryPoints);
  await applyAndWait(cluster(), [gone]);
  await expectAnswers(outsider(), nodePortTargets('node-1', entryPoints), backends('red'));
  const before = await leftOf(cluster(), 'node-1', 'red/web', WEB('red'));
  expect(before).not.toEqual([]);
  await cluster().kill('node-1', 'agent', 'SIGKILL');
  await (await cluster().objects()).delete([gone], { timeoutSeconds: 30 });
  await eventually(async () => expect(await leftOf(cluster(), 'node-1', 'red/gone', entryPoints)).toEqual([]));
  expect(await leftOf(cluster(), 'node-1', 'red/web', WEB('red'))).toEqual(before);
});

/** By everybody of these, and by nobody else. */
const expectAnswers = async (run: RunThere, targets: readonly Target[], names: readonly string[]): Promise<void> => {
  const expected = answeredBy(targets, names);
  const seen = new Set<string>();
  await eventually(async () => {
    const answers = await whoAnswers(run, targets, names.length > 1 ? OFTEN : 1);
    expect(answers.filter((answer) => !expected.includes(answer))).toEqual([]);
    // Who answers is chance, and one try may not meet everybody: what several have seen counts.
    for (const answer of answers) seen.add(answer);
    expect([...seen].sort()).toEqual(expected);
  }, PATIENCE_MS);
};

/** So that there is a second try in a guest, too. */
const PATIENCE_MS = 40_000;

/** Those of addresses, taken for ones on the link, that somebody there has. */
const neighboursFound = async (sandbox: Sandbox, ips: readonly string[]): Promise<string[]> => {
  const { stdout } = await sandbox.outside(['sh', '-c', FIND_NEIGHBOURS, '-', nodeAddress('node-1', 4), ...ips]);
  return stdout.split('\n').filter((line) => line !== '');
};

/** The first argument is one that is there. */
const FIND_NEIGHBOURS = `
dev=$(ip route get "$1" | sed -n 's/.* dev \\([^ ]*\\).*/\\1/p'); shift
for ip; do ip neigh del "$ip" dev "$dev" 2> /dev/null; ip route replace "$ip" dev "$dev"; done
for ip; do ping -c 2 -i 0.3 -W 1 "$ip" > /dev/null & done; wait
for ip; do ip neigh show "$ip" dev "$dev" | grep -o 'lladdr.*' | sed "s/^/$ip /"; ip route del "$ip" dev "$dev"; done
`;

const isAnswer = (line: string): boolean => !/ → \((refused|silent)\)$/.test(line);

/** The networks, their Services and pods. */
const applyPublicServices = async (sandbox: Sandbox): Promise<void> => {
  await applyAndWait(sandbox, [
    ...TENANTS.map((tenant) => (tenant === 'plain' ? plainNamespace(tenant) : namespace(tenant))),
    ...NETWORKS,
    ...TENANTS.flatMap((tenant) => [
      publicService(tenant, 'web', 'web', WEB(tenant)),
      ...NODES.map((node) => backend(tenant, `${tenant}-web-${node}`, node, 'web')),
    ]),
  ]);
  for (const tenant of TENANTS) {
    await giveIngress(sandbox, `${tenant}/web`, WEB(tenant));
  }
};

/** Rows, flows and elements of a Service on a node. @param key `namespace/name` */
const leftOf = async (sandbox: Sandbox, node: string, key: string, entryPoints: EntryPoints): Promise<string[]> => {
  const [rows, flows, table] = await Promise.all([
    rowsNaming(sandbox, node, `"${key}"`),
    sandbox.node(node, ['ovs-ofctl', '--no-stats', 'dump-flows', 'br-ex']),
    sandbox.node(node, ['nft', 'list', 'table', 'inet', 'ovn-udn']),
  ]);
  const names = [
    ...entryPoints.externalIps,
    ...entryPoints.ingress,
    `tp_dst=${entryPoints.nodePort}`,
    `tp_src=${entryPoints.nodePort}`,
  ];
  const isOfService = (line: string): boolean => names.some((name) => new RegExp(`${literally(name)}\\b`).test(line));
  return [
    ...rows,
    ...flows.stdout.split('\n').filter(isOfService),
    ...table.stdout.split('\n').filter((line) => line.includes(`"${key}"`)),
  ].map((line) => line.trim());
};

const literally = (text: string): string => text.replaceAll('.', '\\.');
