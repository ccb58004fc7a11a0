/** ClusterIPs of every network, with packets. Needs root and `make build`. */
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ManifestObject } from '../../sandbox/index.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { ask, type Target } from '../oracles/reachability/service-clients.ts';
import { applyAndWait, deletePods, readPod, useCluster } from './support/cluster/cluster.ts';
import { layer2, layer3, namespace, plainNamespace, pod } from './support/cluster/manifests.ts';
import { addressesOf, addressOfFamily } from './support/packets/packets.ts';
import { expectAnswersAt, expectRefusedAt, outcomes, repeated, whoAnswered } from './support/services/expectations.ts';
import { backend, clusterIps, handMadeSlice, service, targetsOf } from './support/services/services.ts';
import { rowsNaming } from './support/state/rows.ts';

const cluster = useCluster({ name: 'test-services', ipFamily: 'dual' });

/** red and blue have the same addresses, and so have green and gold. */
const LAYER3 = ['10.76.0.0/16/24', 'fd00:76::/48/64'];
const LAYER2 = ['10.77.0.0/16', 'fd00:77::/64'];
const NETWORKS: readonly ManifestObject[] = [
  layer3('red', 'net', LAYER3),
  layer3('blue', 'net', LAYER3),
  layer2('green', 'net', LAYER2),
  layer2('gold', 'net', LAYER2),
];
const TENANTS = ['red', 'blue', 'green', 'gold', 'plain'] as const;
const NODES = ['node-1', 'node-2'] as const;

beforeAll(async () => {
  await applyAndWait(cluster(), [
    ...TENANTS.filter((tenant) => tenant !== 'plain').map((tenant) => namespace(tenant)),
    plainNamespace('plain'),
    ...NETWORKS,
    ...TENANTS.flatMap((tenant) => [
      service(tenant, 'web', { app: 'web' }),
      ...NODES.flatMap((node) => [
        backend(tenant, `${tenant}-web-${node}`, node, 'web'),
        pod(tenant, `${tenant}-client-${node}`, node),
      ]),
    ]),
  ]);
}, 120_000);

const expectAnswers = async (client: string, key: string, names: readonly string[]): Promise<void> =>
  expectAnswersAt(cluster(), client, await targetsOf(cluster(), key), names);
const expectRefused = async (client: string, key: string): Promise<void> =>
  expectRefusedAt(cluster(), client, await targetsOf(cluster(), key));

/** Of some questions in a row. */
const answersOf = async (client: string, target: Target): Promise<string[]> => {
  const answers: string[] = [];
  for (let count = 0; count < 5; count++) answers.push(...whoAnswered(await ask(cluster(), client, [target])));
  return answers;
};

const nodeOf = (name: string): (typeof NODES)[number] => NODES.find((node) => name.endsWith(node)) ?? NODES[0];

const backends = (tenant: string): string[] => NODES.map((node) => `${tenant}-web-${node}`);

describe.each(TENANTS)('the ClusterIPs of a Service of %s', (tenant) => {
  it.each(NODES)('are answered by its pods of both nodes, for a pod on %s', async (node) => {
    await expectAnswers(`${tenant}/${tenant}-client-${node}`, `${tenant}/web`, backends(tenant));
  });

  it('answer none of its pods’ own calls with silence, also when the pod is its own endpoint', async () => {
    await expectAnswers(`${tenant}/${tenant}-web-node-1`, `${tenant}/web`, backends(tenant));
  });

  it('answer no pod of another network', async () => {
    const targets = await targetsOf(cluster(), `${tenant}/web`);
    const strangers = TENANTS.filter((one) => one !== tenant).map(async (other) => {
      const attempts = await ask(cluster(), `${other}/${other}-client-node-1`, targets);
      expect(whoAnswered(attempts), `${other} → ${tenant}`).toEqual([]);
    });
    await Promise.all(strangers);
  });
});

describe.each(['red', 'green', 'plain'])('a Service of %s', (tenant) => {
  const client = `${tenant}/${tenant}-client-node-1`;

  it('without endpoints refuses at once, and answers as soon as it has one, until it has none', async () => {
    const app = 'late';
    await applyAndWait(cluster(), [service(tenant, app, { app })]);
    await expectRefused(client, `${tenant}/${app}`);
    await applyAndWait(cluster(), [backend(tenant, `${tenant}-late-1`, 'node-2', app)]);
    await expectAnswers(client, `${tenant}/${app}`, [`${tenant}-late-1`]);
    await applyAndWait(cluster(), [backend(tenant, `${tenant}-late-2`, 'node-1', app)]);
    await expectAnswers(client, `${tenant}/${app}`, [`${tenant}-late-1`, `${tenant}-late-2`]);
    await deletePods(cluster(), `${tenant}/${tenant}-late-1`);
    await expectAnswers(client, `${tenant}/${app}`, [`${tenant}-late-2`]);
    await deletePods(cluster(), `${tenant}/${tenant}-late-2`);
    await expectRefused(client, `${tenant}/${app}`);
  });

  it('keeps a client with its endpoint when it is asked to', async () => {
    const spec = { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } } };
    await applyAndWait(cluster(), [service(tenant, 'sticky', { app: 'web', spec })]);
    for (const target of await targetsOf(cluster(), `${tenant}/sticky`)) {
      // OVN drops what a client it does not know yet begins with, while it learns where that belongs.
      const [first] = await eventually(async () => {
        const attempts = await ask(cluster(), client, [target]);
        expect(outcomes(attempts)).toEqual(['answered']);
        return attempts;
      });
      const attempts = await ask(cluster(), client, repeated(target));
      expect(outcomes(attempts)).toEqual(['answered']);
      expect(whoAnswered(attempts)).toEqual([first?.text]);
    }
  });

  it('forgets what UDP clients had with an endpoint that is none any more', async () => {
    const names = NODES.map((node) => `${tenant}-moves-${node}`);
    const place = (name: string, app: string): ManifestObject => backend(tenant, name, nodeOf(name), app);
    await applyAndWait(cluster(), [
      service(tenant, 'moves', { app: 'moves' }),
      ...names.map((name) => place(name, 'moves')),
    ]);
    await expectAnswers(client, `${tenant}/moves`, names);
    const targets = (await targetsOf(cluster(), `${tenant}/moves`)).filter(({ protocol }) => protocol === 'UDP');
    // One connection for conntrack, however often it is asked.
    const asked = targets.map((target) => ({ ...target, sourcePort: 45_001 }));
    for (const target of asked) {
      const answers = async (): Promise<string[]> => [...new Set(await answersOf(client, target))];
      const [first = '', ...others] = await answers();
      expect(others).toEqual([]);
      const left = names.filter((name) => name !== first);
      await applyAndWait(cluster(), [place(first, 'elsewhere')]);
      // New ones first: what is sent in the very moment may bring the old one back (docs/services.md, "What does not work yet").
      await expectAnswers(client, `${tenant}/moves`, left);
      await eventually(async () => expect(await answers()).toEqual(left));
      await applyAndWait(cluster(), [place(first, 'moves')]);
      await expectAnswers(client, `${tenant}/moves`, names);
    }
  });

  it('without a selector sends to the addresses of its network that somebody wrote down', async () => {
    const own = await readPod(cluster(), `${tenant}/${tenant}-web-node-2`);
    const stranger = tenant === 'plain' ? '169.254.0.2' : '172.20.0.11';
    await applyAndWait(cluster(), [
      service(tenant, 'manual', { spec: { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4'] } }),
      handMadeSlice(tenant, 'manual-1', 'manual', [stranger, addressOfFamily(own, 4)]),
    ]);
    await expectAnswers(client, `${tenant}/manual`, [`${tenant}-web-node-2`]);
    await applyAndWait(cluster(), [handMadeSlice(tenant, 'manual-1', 'manual', [stranger])]);
    await expectRefused(client, `${tenant}/manual`);
  });

  it('that is deleted leaves no rows on any node, and answers nobody', async () => {
    const manifest = service(tenant, 'short', { app: 'web' });
    await applyAndWait(cluster(), [manifest]);
    const targets = await targetsOf(cluster(), `${tenant}/short`);
    await expectAnswers(client, `${tenant}/short`, backends(tenant));
    await (await cluster().objects()).delete([manifest], { timeoutSeconds: 30 });
    for (const node of NODES) {
      await eventually(async () => expect(await rowsNaming(cluster(), node, `${tenant}/short`)).toEqual([]));
    }
    await eventually(async () => expect(whoAnswered(await ask(cluster(), client, targets))).toEqual([]));
  });
});

it.each(NODES)('processes of %s reach ClusterIPs of the default network, and none of tenants', async (node) => {
  const answered = async (tenant: string): Promise<string[]> => {
    const hosts = (await clusterIps(cluster(), `${tenant}/web`)).map((ip) => (ip.includes(':') ? `[${ip}]` : ip));
    const asked = hosts.map((host) =>
      cluster().node(node, ['sh', '-c', `curl -sg --max-time 2 http://${host}/hostname || echo none`]),
    );
    return (await Promise.all(asked)).map(({ stdout }) => stdout.trim());
  };
  await eventually(async () => {
    for (const name of await answered('plain')) expect(backends('plain')).toContain(name);
  });
  expect(await answered('red')).toEqual(['none', 'none']);
});

/** `pod: addresses`, of the slices in a tenant's namespace that have a label of a Service. */
const slicesWith = async (tenant: string, label: string): Promise<string[]> => {
  const slices = z.array(sliceSchema).parse(await (await cluster().objects()).list('EndpointSlice', tenant));
  return slices
    .filter(({ metadata }) => metadata.labels[label] === 'web')
    .flatMap(({ endpoints }) => endpoints.map(({ addresses, targetRef }) => `${targetRef?.name}: ${addresses}`))
    .sort();
};

const sliceSchema = z.object({
  metadata: z.object({ labels: z.record(z.string(), z.string()) }),
  endpoints: z.array(
    z.object({ addresses: z.array(z.string()), targetRef: z.object({ name: z.string() }).optional() }),
  ),
});

it.each(['red', 'green'])('the slices of %s are mirrored with the addresses on its network', async (tenant) => {
  const pods = await Promise.all(backends(tenant).map((name) => readPod(cluster(), `${tenant}/${name}`)));
  const described = (role: 'primary' | 'infrastructure-locked') =>
    pods.flatMap((one) => addressesOf(one, role).map((ip) => `${one.key.split('/')[1]}: ${ip}`)).sort();
  await eventually(async () => {
    expect(await slicesWith(tenant, 'k8s.ovn.org/service-name')).toEqual(described('primary'));
    expect(await slicesWith(tenant, 'kubernetes.io/service-name')).toEqual(described('infrastructure-locked'));
  });
});

it('an agent that starts again changes no row of a Service, and goes on with what has changed meanwhile', async () => {
  const [node] = NODES;
  const balancers = async (): Promise<string[]> =>
    (await rowsNaming(cluster(), node, 'k8s.ovn.org/owner')).filter((row) => row.includes('/web"'));
  const before = await balancers();
  expect(before).toHaveLength(2 * TENANTS.length);
  await cluster().kill(node, 'agent', 'SIGKILL');
  await applyAndWait(cluster(), [service('red', 'meanwhile', { app: 'web' })]);
  await expectAnswers('red/red-client-node-1', 'red/meanwhile', backends('red'));
  expect(await balancers()).toEqual(before);
});
