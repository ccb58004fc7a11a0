import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseNodeSubnets } from '../../api/annotations/node-subnets.ts';
import { parsePodNetworks } from '../../api/annotations/pod-networks.ts';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { violationsOf } from '../../cli/invariants/invariants.ts';
import type { Violation } from '../../cli/invariants/violation.ts';
import type { KubeObject } from '../../kube/types.ts';
import { createTestCluster, type TestCluster } from '../testing/harness.ts';
import { askPrimary, ipamClaim, layer2Udn, layer3Udn, node, pod, tenant } from '../testing/objects.ts';

const NAMESPACES = ['a', 'b'];

const ns = fc.constantFrom(...NAMESPACES);
const small = fc.integer({ min: 0, max: 1 });
const index = fc.integer({ min: 0, max: 4 });

/** Few names, so that steps meet each other: the same is created, deleted and created again. */
const simpleStep = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('udn' as const), ns, layer3: fc.boolean(), n: small }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete-udn' as const), ns, n: small }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('node' as const), n: index }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete-node' as const), n: index }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('pod' as const), ns, n: index }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('complete-pod' as const), ns, n: index }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('delete-pod' as const), ns, n: index }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('claim' as const), ns, n: small }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete-claim' as const), ns, n: small }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('claim-pod' as const), ns, n: index, claim: small }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'settle' as const }) },
);
const step = fc.oneof(
  { weight: 8, arbitrary: simpleStep },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('restart' as const), meanwhile: fc.array(simpleStep, { maxLength: 6 }) }),
  },
);

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const run = (cluster: TestCluster, one: Step): Promise<void> => tolerant(tryToRun(cluster, one));

/** What is there already, or gone already, is as good. */
const tolerant = async (request: Promise<void>): Promise<void> => {
  try {
    await request;
  } catch (error) {
    expect(error).toMatchObject({ name: 'KubeError', status: expect.toBeOneOf([404, 409]) });
  }
};

const persistent = (key: string) => layer2Udn(key, ['10.20.0.0/28'], { ipam: { lifecycle: 'Persistent' } });

const tryToRun = async (cluster: TestCluster, one: Step): Promise<void> => {
  switch (one.kind) {
    case 'udn': {
      const key = `${one.ns}/net-${one.n}`;
      return cluster.create(one.layer3 ? layer3Udn(key, ['10.20.0.0/22']) : persistent(key));
    }
    case 'delete-udn':
      return cluster.delete('UserDefinedNetwork', `${one.ns}/net-${one.n}`);
    case 'node':
      return cluster.create(node(`n${one.n}`));
    case 'delete-node':
      return cluster.delete('Node', `n${one.n}`);
    case 'pod':
      return cluster.create(pod(`${one.ns}/p${one.n}`));
    case 'complete-pod':
      return cluster.patch('Pod', `${one.ns}/p${one.n}`, { status: { phase: 'Succeeded' } }, 'status');
    case 'delete-pod':
      return cluster.delete('Pod', `${one.ns}/p${one.n}`);
    case 'claim':
      return cluster.create(ipamClaim(`${one.ns}/c${one.n}`, `${one.ns}_net-0`));
    case 'delete-claim':
      return cluster.delete('IPAMClaim', `${one.ns}/c${one.n}`);
    case 'claim-pod':
      return cluster.create(pod(`${one.ns}/p${one.n}`, askPrimary({ 'ipam-claim-reference': `c${one.claim}` })));
    case 'settle':
      return cluster.settled();
    case 'restart':
      await cluster.stop();
      for (const other of one.meanwhile) if (other.kind !== 'settle') await run(cluster, other);
      cluster.start();
      return;
  }
};

const annotationOf = (object: KubeObject, name: string): string | undefined =>
  object.metadata.annotations?.[`k8s.ovn.org/${name}`];

const expectUnique = (values: readonly string[]): void => {
  expect(new Set(values).size, values.join(' ')).toBe(values.length);
};

const checkNetworks = async (cluster: TestCluster): Promise<Map<string, string>> => {
  const ids = new Map<string, string>();
  const routerKeys: string[] = [];
  const networkOfNad = new Map<string, string>();
  for (const nad of await cluster.list('NetworkAttachmentDefinition')) {
    const name = annotationOf(nad, 'network-name') ?? '';
    expect(name).not.toBe('');
    ids.set(name, annotationOf(nad, 'network-id') ?? '');
    networkOfNad.set(`${nad.metadata.namespace}/${nad.metadata.name}`, name);
    const keys = annotationOf(nad, 'tunnel-keys');
    if (keys !== undefined) routerKeys.push(String(JSON.parse(keys)[1]));
  }
  expectUnique([...ids.values()]);
  expectUnique(routerKeys);
  return networkOfNad;
};

const checkNodes = async (cluster: TestCluster): Promise<void> => {
  const nodes = await cluster.list('Node');
  expectUnique(nodes.map((one) => annotationOf(one, 'node-id') ?? ''));
  const subnets = nodes.flatMap((one) =>
    [...parseNodeSubnets(annotationOf(one, 'node-subnets') ?? '{}', one.metadata.name)].flatMap(([network, list]) =>
      list.map((subnet) => `${network} ${subnet}`),
    ),
  );
  expectUnique(subnets);
};

const checkPods = async (cluster: TestCluster, networkOfNad: ReadonlyMap<string, string>): Promise<void> => {
  const active = (await cluster.list('Pod')).filter(
    (one) => (one['status'] as { phase?: string })?.phase !== 'Succeeded',
  );
  const held = active.flatMap((one) => {
    const entries = parsePodNetworks(annotationOf(one, 'pod-networks') ?? '{}', one.metadata.name);
    return [...entries].flatMap(([nad, { ipAddresses, mac, tunnelId }]) =>
      // An entry may outlive its NAD. Nobody reads it then; it must not be taken for one of another network.
      [...ipAddresses, mac, `key ${tunnelId}`].map((item) => `${networkOfNad.get(nad) ?? `gone ${nad}`} ${item}`),
    );
  });
  expectUnique(held);
};

const ipsOf = (claim: KubeObject): readonly string[] => (claim['status'] as { ips?: string[] } | undefined)?.ips ?? [];

/** A claim has its addresses alone; a pod that names one has what the claim has. */
const checkClaims = async (cluster: TestCluster): Promise<void> => {
  const claims = await cluster.list('IPAMClaim');
  const networkOf = (claim: KubeObject) => (claim['spec'] as { network: string }).network;
  expectUnique(claims.flatMap((claim) => ipsOf(claim).map((ip) => `${networkOf(claim)} ${ip}`)));
  const holders = new Map(claims.flatMap((claim) => ipsOf(claim).map((ip) => [`${networkOf(claim)} ${ip}`, claim])));
  for (const one of await cluster.list('Pod')) {
    const { namespace, name, annotations = {} } = one.metadata;
    if ((one['status'] as { phase?: string })?.phase === 'Succeeded') continue;
    const networks = parsePodNetworks(annotations['k8s.ovn.org/pod-networks'] ?? '{}', name);
    for (const ip of networks.get(`${namespace}/net-0`)?.ipAddresses ?? []) {
      const holder = holders.get(`${namespace}_net-0 ${ip}`)?.metadata.name;
      const asked = annotations['v1.multus-cni.io/default-network'] ?? '';
      if (holder !== undefined) expect(asked).toContain(`"ipam-claim-reference":"${holder}"`);
    }
  }
};

/** What an object got stays as it is for as long as the object is there. */
const checkStable = async (cluster: TestCluster, history: Map<string, unknown>): Promise<void> => {
  const stays = (key: string, value: unknown): void => {
    if (history.has(key)) expect(value, key).toEqual(history.get(key));
    // What it has not got yet may come at any time: what it waits for has to be let go first.
    if (value !== undefined) history.set(key, value);
  };
  for (const one of await cluster.list('Node')) {
    const { uid, name } = one.metadata;
    stays(`${uid} id`, annotationOf(one, 'node-id'));
    stays(`${uid} default`, parseNodeSubnets(annotationOf(one, 'node-subnets') ?? '{}', name).get('default'));
  }
  for (const one of await cluster.list('NetworkAttachmentDefinition')) {
    stays(`${one.metadata.uid} id`, annotationOf(one, 'network-id'));
    stays(`${one.metadata.uid} keys`, annotationOf(one, 'tunnel-keys'));
  }
  for (const one of await cluster.list('IPAMClaim')) {
    stays(`${one.metadata.uid} ips`, ipsOf(one).length === 0 ? undefined : ipsOf(one));
  }
  for (const one of await cluster.list('Pod')) {
    const entries = parsePodNetworks(annotationOf(one, 'pod-networks') ?? '{}', one.metadata.name);
    for (const [nad, entry] of entries) stays(`${one.metadata.uid} ${nad}`, entry);
  }
};

const check = async (cluster: TestCluster, history: Map<string, unknown>): Promise<void> => {
  await cluster.settled();
  const networkOfNad = await checkNetworks(cluster);
  await checkNodes(cluster);
  await checkPods(cluster, networkOfNad);
  await checkClaims(cluster);
  await checkStable(cluster, history);
  await checkInvariants(cluster);
};

const KINDS = [
  'Namespace',
  'Node',
  'Pod',
  'UserDefinedNetwork',
  'NetworkAttachmentDefinition',
  'IPAMClaim',
  'NetworkIdPool',
];

/** What `udnctl doctor --cluster` would say, but for entries that outlive their NAD: their pods are to be deleted. */
const checkInvariants = async (cluster: TestCluster): Promise<void> => {
  const lists = await Promise.all(
    KINDS.map(async (kind) => (await cluster.list(kind)).map((object) => ({ ...object, kind }))),
  );
  const isOutlived = ({ rule, objects: [first] }: Violation): boolean =>
    rule === 'orphan' && first?.startsWith('Pod/') === true;
  expect(violationsOf(lists.flat()).filter((one) => !isOutlived(one))).toEqual([]);
};

const clear = async (cluster: TestCluster): Promise<void> => {
  for (const kind of ['Pod', 'IPAMClaim', 'UserDefinedNetwork', 'Node']) {
    for (const { metadata } of await cluster.list(kind)) {
      const { namespace, name } = metadata;
      await tolerant(cluster.delete(kind, namespace === undefined ? name : `${namespace}/${name}`));
    }
  }
  await cluster.settled();
};

const config = parseClusterConfig({ clusterSubnets: '10.128.0.0/21/23' });

const live = async (steps: readonly Step[], cluster: TestCluster): Promise<void> => {
  try {
    await cluster.create(...NAMESPACES.map((name) => tenant(name)));
    cluster.start();
    await cluster.create(persistent('a/net-0'), ipamClaim('a/c0', 'a_net-0'));
    const history = new Map<string, unknown>();
    for (const one of steps) {
      await run(cluster, one);
      if (one.kind === 'settle' || one.kind === 'restart') await check(cluster, history);
    }
    await check(cluster, history);
    await clear(cluster);
    expect(await cluster.list('IPAMClaim')).toEqual([]);
    expect(await cluster.list('UserDefinedNetwork')).toEqual([]);
    expect(await cluster.list('NetworkAttachmentDefinition')).toEqual([]);
    expect([...(cluster.manager.state?.registry.networks() ?? [])]).toEqual([]);
    expect(cluster.manager.state?.nodes.nodes()).toEqual([]);
  } finally {
    await cluster.close();
  }
};

describe('cluster manager', () => {
  it('gives nothing twice and leaves nothing behind, whatever happens in whatever order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        await live(steps, await createTestCluster({ config }));
      }),
      { numRuns: 30 },
    );
  }, 300_000);

  it('does so when the API server fails now and then, with and without having done what was asked', async () => {
    const fault = fc.option(fc.record({ status: fc.constantFrom(409, 429, 500, 503), isDone: fc.boolean() }), {
      nil: undefined,
      freq: 3,
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 5, maxLength: 25 }),
        fc.array(fault, { maxLength: 60 }),
        async (steps, faults) => {
          let asked = 0;
          // After the last fault everything works: what is left to be done has to get done.
          await live(steps, await createTestCluster({ config, fault: () => faults[asked++] }));
        },
      ),
      { numRuns: 20 },
    );
  }, 300_000);
});
