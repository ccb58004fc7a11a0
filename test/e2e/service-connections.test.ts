/**
 * Clients of UDP that go on to send, always from one port, while what they send to is another's, or nobody's: no conntrack on the
 * way remembers for them who it was. Needs root and `make build`.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import type { ManifestObject } from '../../sandbox/index.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import type { RunThere, Target } from '../oracles/reachability/service-clients.ts';
import { applyAndWait, useCluster } from './support/cluster/cluster.ts';
import { layer3, namespace, plainNamespace, pod } from './support/cluster/manifests.ts';
import {
  addressTargets,
  answeredBy,
  type EntryPoints,
  entryPointsOf,
  fromHost,
  fromOutside,
  fromPod,
  nodePortTargets,
  publicService,
  whoAnswers,
} from './support/services/entry-points.ts';
import { backend, targetsOf } from './support/services/services.ts';

const cluster = useCluster({ name: 'test-service-connections', ipFamily: 'dual' });

const NODES = ['node-1', 'node-2'] as const;
const TENANTS = ['red', 'plain'] as const;
const web = (tenant: string, node: string): string => `${tenant}-web-${node}`;

beforeAll(async () => {
  await applyAndWait(cluster(), [
    namespace('red'),
    plainNamespace('plain'),
    layer3('red', 'net', ['10.76.0.0/16/24', 'fd00:76::/48/64']),
    ...TENANTS.flatMap((tenant) => [
      pod(tenant, `${tenant}-client`, 'node-1'),
      ...NODES.map((node) => backend(tenant, web(tenant, node), node, node)),
    ]),
  ]);
}, 120_000);

/** As one connection each, for every conntrack. @param first source port: each has one of its own, as all are asked at once */
const always = (targets: readonly Target[], first: number): Target[] =>
  targets
    .filter(({ protocol }) => protocol === 'UDP')
    .map((target, index) => ({ ...target, sourcePort: first + index }));

/** @param app the node whose pods answer */
const moving = (tenant: string, name: string, app: string, entryPoints: EntryPoints): ManifestObject =>
  publicService(tenant, name, app, { ...entryPoints, ingress: [] });

const remove = async (manifest: ManifestObject): Promise<void> => {
  await (await cluster().objects()).delete([manifest], { timeoutSeconds: 30 });
};

const expectAnswer = (run: RunThere, targets: readonly Target[], name: string): Promise<void> =>
  eventually(async () => expect(await whoAnswers(run, targets)).toEqual(answeredBy(targets, [name])));

const expectNobody = (run: RunThere, targets: readonly Target[]): Promise<void> =>
  eventually(async () => {
    const answers = (await whoAnswers(run, targets)).filter((line) => !/ → \((refused|silent)\)$/.test(line));
    expect(answers).toEqual([]);
  });

it('a process of a node, by a node port and an external address: nobody, one Service, another endpoint, nobody, another Service', async () => {
  const entryPoints = { ...entryPointsOf(1), ingress: [] };
  const run = fromHost(cluster(), 'node-1');
  const targets = always([...nodePortTargets('node-1', entryPoints), ...addressTargets(entryPoints)], 45_100);
  await expectNobody(run, targets);
  await applyAndWait(cluster(), [moving('plain', 'first', 'node-1', entryPoints)]);
  await expectAnswer(run, targets, web('plain', 'node-1'));
  await applyAndWait(cluster(), [moving('plain', 'first', 'node-2', entryPoints)]);
  await expectAnswer(run, targets, web('plain', 'node-2'));
  await remove(moving('plain', 'first', 'node-2', entryPoints));
  await expectNobody(run, targets);
  await applyAndWait(cluster(), [moving('plain', 'second', 'node-1', entryPoints)]);
  await expectAnswer(run, targets, web('plain', 'node-1'));
  await remove(moving('plain', 'second', 'node-1', entryPoints));
  await expectNobody(run, targets);
}, 60_000);

it('a pod, by the ClusterIP of a Service whose endpoint moves while ovn-controller is away', async () => {
  const entryPoints = { ...entryPointsOf(5), externalIps: [], ingress: [] };
  const run = fromPod(cluster(), 'red/red-client');
  await applyAndWait(cluster(), [moving('red', 'away', 'node-1', entryPoints)]);
  const targets = always(await targetsOf(cluster(), 'red/away'), 45_400);
  await expectAnswer(run, targets, web('red', 'node-1'));
  await cluster().kill('node-1', 'ovn-controller', 'SIGSTOP');
  await applyAndWait(cluster(), [moving('red', 'away', 'node-2', entryPoints)]);
  await cluster().kill('node-1', 'ovn-controller', 'SIGKILL');
  await expectAnswer(run, targets, web('red', 'node-2'));
  await remove(moving('red', 'away', 'node-2', entryPoints));
}, 60_000);

it('a client outside, by a node port that goes from network to network', async () => {
  const entryPoints = { ...entryPointsOf(2), externalIps: [], ingress: [] };
  const run = fromOutside(cluster());
  const targets = always(nodePortTargets('node-1', entryPoints), 45_200);
  for (const [tenant, node] of [
    ['red', 'node-1'],
    ['plain', 'node-1'],
    ['red', 'node-2'],
  ] as const) {
    await applyAndWait(cluster(), [moving(tenant, 'moves', node, entryPoints)]);
    await expectAnswer(run, targets, web(tenant, node));
    await remove(moving(tenant, 'moves', node, entryPoints));
    await expectNobody(run, targets);
  }
}, 60_000);

describe.each(TENANTS)('a pod of %s', (tenant) => {
  it('nobody, a Service by all of its entry points, nobody', async () => {
    const entryPoints = { ...entryPointsOf(3 + TENANTS.indexOf(tenant)), ingress: [] };
    const manifest = moving(tenant, 'short', 'node-2', entryPoints);
    const run = fromPod(cluster(), `${tenant}/${tenant}-client`);
    const known = always([...nodePortTargets('node-1', entryPoints), ...addressTargets(entryPoints)], 45_300);
    // From the second datagram on, the userspace datapath takes it for a connection that is established.
    for (let times = 0; times < 2; times++) await expectNobody(run, known);
    await applyAndWait(cluster(), [manifest]);
    const targets = [...known, ...always(await targetsOf(cluster(), `${tenant}/short`), 45_350)];
    await expectAnswer(run, targets, web(tenant, 'node-2'));
    await remove(manifest);
    await expectNobody(run, targets);
  });
});
