/**
 * What is given out in the cluster stays consistent on a real API server, whatever is killed in the middle of 500 creations, and
 * nobody waits for what others do. Needs root and `make build`.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { USER_DEFINED_NETWORKS } from '../../api/resources.ts';
import { examineCluster } from '../../cli/commands/cluster-doctor.ts';
import { layer2Udn, layer3Udn, node, pod, tenant } from '../../cluster-manager/testing/objects.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import { NAMESPACES, NODES, PODS } from '../../kube/resources.ts';
import type { KubeClient, KubeObject, ObjectInput, ResourceType } from '../../kube/types.ts';
import { type KillableName, type Sandbox, startSandbox } from '../../sandbox/index.ts';
import { namespacesOf, untilNothingIsLeft } from '../../sandbox/leaks.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { note } from '../e2e/support/faults/survive.ts';
import { measureLoop } from './tenant-loop.case.ts';

const NAME = 'test-allocation-faults';
const TENANTS = Array.from({ length: 100 }, (_, index) => `t${index}`);
/** Of each tenant, besides its primary one. */
const SECONDARY = [1, 2, 3, 4];
const WRITERS = 8;
/** After how many networks which program is killed. */
const KILLS: ReadonlyMap<number, KillableName> = new Map([
  [80, 'cluster-manager'],
  [160, 'api'],
  [240, 'etcd'],
  [320, 'cluster-manager'],
  [400, 'api'],
]);

let sandbox: Sandbox;
let client: KubeClient;

beforeAll(async () => {
  sandbox = await startSandbox({ name: NAME, nodes: 0, api: 'kube', programs: 'cluster-manager' });
  client = await sandbox.client();
}, 120_000);
afterAll(async () => {
  const namespaces = await namespacesOf(NAME);
  await sandbox?.down();
  await untilNothingIsLeft(NAME, namespaces);
});

/** As a user who tries again until it is there. */
const make = async (resource: ResourceType, object: ObjectInput): Promise<void> => {
  for (const deadline = performance.now() + 60_000; ; await pause(50)) {
    try {
      await client.create(resource, object);
      return;
    } catch (error) {
      if (isAlreadyExists(error)) return;
      if (performance.now() > deadline) throw error;
    }
  }
};

/** Some at a time, in order. */
const each = async <T>(items: readonly T[], work: (item: T, index: number) => Promise<void>): Promise<void> => {
  const entries = items.entries();
  const writer = async (): Promise<void> => {
    for (const [index, item] of entries) await work(item, index);
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
};

const networksOf = (name: string): ObjectInput[] => [
  layer2Udn(`${name}/net`, ['10.20.0.0/16', 'fd00:20::/64']) as ObjectInput,
  ...SECONDARY.map((n) => layer3Udn(`${name}/more${n}`, [`10.${30 + n}.0.0/16`], { role: 'Secondary' }) as ObjectInput),
];

const isCreated = ({ status }: KubeObject): boolean => {
  const { conditions = [] } = (status ?? {}) as { conditions?: { type: string; status: string }[] };
  return conditions.some((one) => one.type === 'NetworkCreated' && one.status === 'True');
};

it('is consistent after programs were killed in the middle of 500 networks', { timeout: 300_000 }, async () => {
  await each(['n1', 'n2', 'n3'], (name) => make(NODES, node(name) as ObjectInput));
  await each(TENANTS, (name) => make(NAMESPACES, tenant(name) as ObjectInput));
  const networks = TENANTS.flatMap(networksOf);
  await each(networks, async (network, index) => {
    const program = KILLS.get(index);
    if (program !== undefined) await sandbox.kill('control-plane', program, 'SIGKILL');
    await make(USER_DEFINED_NETWORKS, network);
    const { namespace = '', name } = network.metadata;
    if (name === 'net') await make(PODS, pod(`${namespace}/web`, { uid: undefined }) as ObjectInput);
  });

  await eventually(async () => {
    const { items } = await client.list(USER_DEFINED_NETWORKS);
    const waiting = items.filter((one) => !isCreated(one)).map(({ metadata }) => metadata.name);
    expect([items.length, waiting]).toEqual([networks.length, []]);
  }, 120_000);
  await eventually(async () => {
    const pods = (await client.list(PODS)).items.filter(({ metadata }) => metadata.name === 'web');
    const addressed = pods.filter(({ metadata }) => metadata.annotations?.['k8s.ovn.org/pod-networks'] !== undefined);
    expect(addressed).toHaveLength(TENANTS.length);
  }, 60_000);
  const { lines, exitStatus } = await examineCluster(client, Date.now());
  expect({ exitStatus, lines }).toEqual({
    exitStatus: 0,
    lines: [expect.stringMatching(/^no problems: 500 networks, 500 NADs, 3 nodes and \d+ pods were checked$/)],
  });
});

/**
 * The API server of a machine with two cores has less time for everybody, which bare writes show; from the manager's queues there
 * may come as much again. Without turns the network of the patient one would wait for all that the other has made.
 */
it('then a tenant who makes and deletes networks in a loop does not hold up the others', {
  timeout: 120_000,
}, async () => {
  const { alone, withLoop, loops } = await measureLoop(client);
  const factors = { network: withLoop.network / alone.network, bare: withLoop.bare / alone.bare };
  note(`tenant loop: ${JSON.stringify({ alone, withLoop, loops, factors })}`);
  expect(loops).toBeGreaterThan(20);
  expect(factors.network).toBeLessThan(Math.max(10, 2 * factors.bare));
});
