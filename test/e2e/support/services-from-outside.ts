/** Who reaches Services by node ports and external addresses, and as whom: with packets. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { ManifestObject, Sandbox } from '../../../sandbox/index.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import { applyAndWait, deletePods } from './cluster.ts';
import { layer2, layer3, namespace, plainNamespace, pod } from './manifests.ts';
import { nodeAddress, outside } from './north-south.ts';
import { rowsNaming } from './rows.ts';
import type { RunThere, Target } from './service-clients.ts';
import {
  addressTargets,
  answeredBy,
  clientsSeen,
  type Doors,
  doorsOf,
  fromHost,
  fromOutside,
  fromPod,
  giveIngress,
  nodePortTargets,
  publicService,
  routeBy,
  whoAnswers,
} from './service-doors.ts';
import { backend } from './services.ts';

const TENANTS = ['red', 'blue', 'green', 'plain'] as const;
type Tenant = (typeof TENANTS)[number];
const NODES = ['node-1', 'node-2'] as const;
type NodeName = (typeof NODES)[number];

/** red and blue have the same addresses. */
const LAYER3 = ['10.76.0.0/16/24', 'fd00:76::/48/64'];
const NETWORKS: readonly ManifestObject[] = [
  layer3('red', 'net', LAYER3),
  layer3('blue', 'net', LAYER3),
  layer2('green', 'net', ['10.77.0.0/16', 'fd00:77::/64']),
];

/** `web` has pods on both nodes, `local` only on node-2, and is for what comes to that node. */
const WEB = (tenant: Tenant): Doors => doorsOf(TENANTS.indexOf(tenant));
const LOCAL = (tenant: Tenant): Doors => doorsOf(10 + TENANTS.indexOf(tenant));
const LATE = (tenant: Tenant): Doors => doorsOf(20 + TENANTS.indexOf(tenant));
/** The endpoint of `local`, for everybody. */
const FAR = (tenant: Tenant): Doors => doorsOf(30 + TENANTS.indexOf(tenant));

const backends = (tenant: Tenant): string[] => NODES.map((node) => `${tenant}-web-${node}`);
const client = (tenant: Tenant, node: NodeName): string => `${tenant}/${tenant}-client-${node}`;
const other = (node: NodeName): NodeName => (node === 'node-1' ? 'node-2' : 'node-1');

/** As often as it takes for each of two endpoints to get one, but for one in two thousand times; then there is a second try. */
const OFTEN = 12;

export interface Kernel {
  /** Without it, what tenants and the host have to do with Services of another network on their own node is not looked at. */
  readonly hasVrf?: boolean;
  /**
   * OVS's userspace datapath gives a packet up that conntrack has seen eight times (dpif-netdev, `MAX_RECIRC_DEPTH`), as on the
   * way from a pod to one of another network on the same node, or from the default network to a tenant's external address.
   */
  readonly hasKernelDatapath?: boolean;
}

/** Call it where tests are declared. */
export const servicesFromOutside = (
  cluster: () => Sandbox,
  { hasVrf = false, hasKernelDatapath = false }: Kernel = {},
): void => {
  beforeAll(() => applyPublicServices(cluster()), 120_000);

  const expectNobody = async (run: RunThere, targets: readonly Target[]): Promise<void> => {
    await eventually(async () => expect((await whoAnswers(run, targets)).filter(isAnswer)).toEqual([]));
  };
  const outsider = (): RunThere => fromOutside(cluster());
  const inPod = (tenant: Tenant, node: NodeName): RunThere => fromPod(cluster(), client(tenant, node));

  servicesBetweenNetworks(cluster, TENANTS, { hasVrf, hasKernelDatapath });

  describe.each(TENANTS)('a Service of %s', (tenant) => {
    it.each(NODES)('answers outside by its node port on %s', async (node) => {
      await expectAnswers(outsider(), nodePortTargets(node, WEB(tenant)), backends(tenant));
    });

    it.each(NODES)('answers outside by its external addresses and those of its load balancer, by %s', async (node) => {
      await routeBy(cluster(), node, WEB(tenant));
      await expectAnswers(outsider(), addressTargets(WEB(tenant)), backends(tenant));
    });

    it.each(NODES)('answers pods of its network on %s, by both nodes and all addresses', async (node) => {
      const targets = [...NODES.flatMap((one) => nodePortTargets(one, WEB(tenant))), ...addressTargets(WEB(tenant))];
      await expectAnswers(inPod(tenant, node), targets, backends(tenant));
    });

    it('stays on the node with externalTrafficPolicy Local, and sees who asks', async () => {
      const name = `${tenant}-local-node-2`;
      await routeBy(cluster(), 'node-2', LOCAL(tenant));
      const targets = [...nodePortTargets('node-2', LOCAL(tenant)), ...addressTargets(LOCAL(tenant))];
      await expectAnswers(outsider(), targets, [name]);
      expect(await clientsSeen(outsider(), targets)).toEqual({ 4: [outside(4)], 6: [outside(6)] });
      await routeBy(cluster(), 'node-1', LOCAL(tenant));
      await expectNobody(outsider(), [...nodePortTargets('node-1', LOCAL(tenant)), ...addressTargets(LOCAL(tenant))]);
    });

    it('is reached by a pod of its network with externalTrafficPolicy Local, on another node as on its own', async () => {
      const targets = nodePortTargets('node-2', LOCAL(tenant));
      for (const node of NODES) await expectAnswers(inPod(tenant, node), targets, [`${tenant}-local-node-2`]);
      const asNode = { 4: [nodeAddress('node-1', 4)], 6: [nodeAddress('node-1', 6)] };
      expect(await clientsSeen(inPod(tenant, 'node-1'), targets)).toEqual(asNode);
    });

    it('answers as soon as it has an endpoint and until it has none; deleted, nothing of it is left', async () => {
      const doors = LATE(tenant);
      const targets = [...nodePortTargets('node-1', doors), ...addressTargets(doors)];
      const manifest = publicService(tenant, 'late', 'late', doors);
      await applyAndWait(cluster(), [manifest]);
      await giveIngress(cluster(), `${tenant}/late`, doors);
      await routeBy(cluster(), 'node-1', doors);
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
        await eventually(async () => expect(await leftOf(cluster(), node, `${tenant}/late`, doors)).toEqual([]));
      }
      await expectNobody(outsider(), targets);
    });
  });

  it('an endpoint that is the node sees who asks, with externalTrafficPolicy Local', async () => {
    const doors = { ...doorsOf(50), ingress: [] };
    const onNode = backend('plain', 'plain-on-node', 'node-2', 'on-node');
    await applyAndWait(cluster(), [
      { ...onNode, spec: { ...(onNode['spec'] as object), hostNetwork: true } },
      publicService('plain', 'on-node', 'on-node', doors, { externalTrafficPolicy: 'Local' }),
    ]);
    await routeBy(cluster(), 'node-2', doors);
    const targets = [...nodePortTargets('node-2', doors), ...addressTargets(doors)];
    await expectAnswers(outsider(), targets, ['node-2']);
    expect(await clientsSeen(outsider(), targets)).toEqual({ 4: [outside(4)], 6: [outside(6)] });
    await expectNobody(outsider(), nodePortTargets('node-1', doors));
  });

  it('no node says that it has an external address', async () => {
    const doors = TENANTS.flatMap((tenant) => [...WEB(tenant).externalIps, ...WEB(tenant).ingress]);
    expect(await neighboursFound(cluster(), doors)).toEqual([]);
    // So that silence means something.
    expect(await neighboursFound(cluster(), [nodeAddress('node-1', 4), nodeAddress('node-2', 6)])).toHaveLength(2);
  });

  it('a port that is no Service’s answers nobody', async () => {
    await expectNobody(outsider(), nodePortTargets('node-1', doorsOf(90)));
  });

  it('an agent that starts again changes nothing of a Service, and takes away what has gone meanwhile', async () => {
    const doors = doorsOf(40);
    const gone = publicService('red', 'gone', 'web', doors);
    await applyAndWait(cluster(), [gone]);
    await expectAnswers(outsider(), nodePortTargets('node-1', doors), backends('red'));
    const before = await leftOf(cluster(), 'node-1', 'red/web', WEB('red'));
    expect(before).not.toEqual([]);
    await cluster().kill('node-1', 'agent', 'SIGKILL');
    await (await cluster().objects()).delete([gone], { timeoutSeconds: 30 });
    await eventually(async () => expect(await leftOf(cluster(), 'node-1', 'red/gone', doors)).toEqual([]));
    expect(await leftOf(cluster(), 'node-1', 'red/web', WEB('red'))).toEqual(before);
  });
};

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

/** Services as pods of other networks and processes of nodes reach them. Call it where tests are declared. */
export const servicesBetweenNetworks = (
  cluster: () => Sandbox,
  tenants: readonly Tenant[],
  { hasVrf = false, hasKernelDatapath = false }: Kernel,
): void => {
  const inPod = (tenant: Tenant, node: NodeName): RunThere => fromPod(cluster(), client(tenant, node));

  describe.each(tenants)('a Service of %s', (tenant) => {
    it.each(NODES)('answers pods of all other networks on %s', async (node) => {
      const nodes = hasVrf ? NODES : [other(node)];
      const targets = [
        ...nodes.flatMap((one) => nodePortTargets(one, WEB(tenant))),
        ...(hasKernelDatapath ? addressTargets(WEB(tenant)) : []),
      ];
      for (const stranger of TENANTS.filter((one) => one !== tenant)) {
        await expectAnswers(inPod(stranger, node), targets, backends(tenant));
      }
    });

    it('answers pods of all other networks on a node that has none of its endpoints', async () => {
      for (const stranger of TENANTS.filter((one) => one !== tenant)) {
        const isShort = stranger !== 'plain' || hasKernelDatapath;
        const targets = [...nodePortTargets('node-2', FAR(tenant)), ...(isShort ? addressTargets(FAR(tenant)) : [])];
        await expectAnswers(inPod(stranger, 'node-1'), targets, [`${tenant}-local-node-2`]);
      }
    });

    it.each(NODES)('answers processes of %s', async (node) => {
      const isReached = hasVrf || tenant === 'plain';
      const targets = [
        ...(isReached ? NODES : [other(node)]).flatMap((one) => nodePortTargets(one, WEB(tenant))),
        ...(isReached ? addressTargets(WEB(tenant)) : []),
      ];
      await expectAnswers(fromHost(cluster(), node), targets, backends(tenant));
    });
  });
};

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
export const applyPublicServices = async (sandbox: Sandbox): Promise<void> => {
  await applyAndWait(sandbox, [
    ...TENANTS.map((tenant) => (tenant === 'plain' ? plainNamespace(tenant) : namespace(tenant))),
    ...NETWORKS,
    ...TENANTS.flatMap((tenant) => [
      publicService(tenant, 'web', 'web', WEB(tenant)),
      publicService(tenant, 'local', 'local', LOCAL(tenant), { externalTrafficPolicy: 'Local' }),
      publicService(tenant, 'far', 'local', FAR(tenant)),
      ...NODES.flatMap((node) => [
        backend(tenant, `${tenant}-web-${node}`, node, 'web'),
        pod(tenant, `${tenant}-client-${node}`, node),
      ]),
      backend(tenant, `${tenant}-local-node-2`, 'node-2', 'local'),
    ]),
  ]);
  for (const tenant of TENANTS) {
    await giveIngress(sandbox, `${tenant}/web`, WEB(tenant));
    await giveIngress(sandbox, `${tenant}/local`, LOCAL(tenant));
    await giveIngress(sandbox, `${tenant}/far`, FAR(tenant));
  }
};

/** Rows, flows and elements of a Service on a node. @param key `namespace/name` */
const leftOf = async (sandbox: Sandbox, node: string, key: string, doors: Doors): Promise<string[]> => {
  const [rows, flows, table] = await Promise.all([
    rowsNaming(sandbox, node, `"${key}"`),
    sandbox.node(node, ['ovs-ofctl', '--no-stats', 'dump-flows', 'br-ex']),
    sandbox.node(node, ['nft', 'list', 'table', 'inet', 'ovn-udn']),
  ]);
  const names = [...doors.externalIps, ...doors.ingress, `tp_dst=${doors.nodePort}`, `tp_src=${doors.nodePort}`];
  const isOfService = (line: string): boolean => names.some((name) => new RegExp(`${literally(name)}\\b`).test(line));
  return [
    ...rows,
    ...flows.stdout.split('\n').filter(isOfService),
    ...table.stdout.split('\n').filter((line) => line.includes(`"${key}"`)),
  ].map((line) => line.trim());
};

const literally = (text: string): string => text.replaceAll('.', '\\.');
