/** Pods and networks that come and go while others stay. Needs root and `make build`. */
import { beforeAll, describe, expect, it } from 'vitest';
import { FAMILIES } from '../../net/ip.ts';
import type { ManifestObject, Sandbox } from '../../sandbox/index.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { describeDifferences } from '../oracles/reachability/matrix.ts';
import { measureReachability, readPods } from '../oracles/reachability/measure.ts';
import type { ReachabilityPod } from '../oracles/reachability/types.ts';
import { applyAndWait, deletePods, readPod, useCluster } from './support/cluster/cluster.ts';
import { layer2, layer3, namespace, plainNamespace, pod } from './support/cluster/manifests.ts';
import { addressesOf, addressOfFamily } from './support/packets/packets.ts';
import { ownRowsNaming } from './support/state/rows.ts';

const NODES = ['node-1', 'node-2'] as const;
const cluster = useCluster({ name: 'test-lifecycle' });

const KINDS = [
  { topology: 'Layer3', name: 'red', network: layer3('red', 'net', ['10.70.0.0/16/24', 'fd00:70::/48/64']) },
  { topology: 'Layer2', name: 'green', network: layer2('green', 'net', ['10.71.0.0/16', 'fd00:71::/64']) },
] as const;

beforeAll(async () => {
  await applyAndWait(cluster(), [
    plainNamespace('plain'),
    pod('plain', 'stays', 'node-1'),
    ...KINDS.flatMap(({ name, network }) => [
      namespace(name),
      network,
      pod(name, `${name}-stays-1`, 'node-1'),
      pod(name, `${name}-stays-2`, 'node-2'),
    ]),
  ]);
});

const TIMING = { timeoutMs: 300, tries: 3 };

/** Everybody reaches whom they should, and nobody else. */
const expectReachability = async (sandbox: Sandbox, desired: readonly string[]): Promise<void> => {
  const pods = (await readPods(await sandbox.objects())).filter(({ key }) => desired.includes(key));
  expect(pods.map(({ key }) => key).sort()).toEqual([...desired].sort());
  expect(describeDifferences(await measureReachability(sandbox, pods, { timing: TIMING }))).toEqual([]);
};

const allAddresses = (found: ReachabilityPod): readonly string[] => [
  ...addressesOf(found),
  ...addressesOf(found, 'infrastructure-locked'),
];

describe.each(KINDS)('a pod of a $topology network', ({ name }) => {
  const stay = ['plain/stays', `${name}/${name}-stays-1`, `${name}/${name}-stays-2`];

  it('that comes later is reached from all nodes', async () => {
    await applyAndWait(cluster(), [pod(name, `${name}-late`, 'node-2')]);
    await expectReachability(cluster(), [...stay, `${name}/${name}-late`]);
    await deletePods(cluster(), `${name}/${name}-late`);
  });

  it('that is deleted leaves no rows, ports or links on any node', async () => {
    const gone = `${name}-gone`;
    const links = await linkCounts(cluster());
    await applyAndWait(cluster(), [pod(name, gone, 'node-1')]);
    expect(await ownRowsNaming(cluster(), 'node-1', gone)).not.toEqual([]);
    expect(await linkCounts(cluster())).toEqual([(links[0] ?? 0) + 2, links[1]]);
    await deletePods(cluster(), `${name}/${gone}`);
    for (const node of NODES) {
      await eventually(async () => expect(await ownRowsNaming(cluster(), node, gone)).toEqual([]));
    }
    await eventually(async () => expect(await linkCounts(cluster())).toEqual(links));
    await expectReachability(cluster(), stay);
  });

  it('that is made again with the same name, elsewhere too, is reached', async () => {
    const again = `${name}-again`;
    for (const node of ['node-1', 'node-1', 'node-2', 'node-1']) {
      await applyAndWait(cluster(), [pod(name, again, node)]);
      await expectReachability(cluster(), [...stay, `${name}/${again}`]);
      await deletePods(cluster(), `${name}/${again}`);
    }
  });
});

describe.each([
  { topology: 'Layer3', name: 'narrow3', network: layer3('narrow3', 'net', ['10.72.0.0/24/29', 'fd00:72::/48/64']) },
  { topology: 'Layer2', name: 'narrow2', network: layer2('narrow2', 'net', ['10.73.0.0/29', 'fd00:73::/64']) },
])('the addresses of a $topology network', ({ name, network }) => {
  /** Of eight addresses two are the subnet's own, one the gateway's and one the management port's. */
  const ROOM = 4;

  it('are given again when a pod that had them is gone, and are of use then', async () => {
    const members = Array.from({ length: ROOM }, (_, index) => `${name}-${index}`);
    await applyAndWait(cluster(), [namespace(name), network, ...members.map((member) => pod(name, member, 'node-1'))]);
    const first = await readPod(cluster(), `${name}/${name}-0`);
    // There is no room for it yet.
    await (await cluster().objects()).apply([pod(name, `${name}-next`, 'node-1')]);
    await expect(
      (await cluster().objects()).wait('pod', `${name}/${name}-next`, 'ready', { timeoutSeconds: 1 }),
    ).rejects.toMatchObject({ code: 'ERR_SANDBOX_TIMEOUT' });
    await deletePods(cluster(), first.key);
    await (await cluster().objects()).wait('pod', `${name}/${name}-next`, 'ready', { timeoutSeconds: 30 });
    const next = await readPod(cluster(), `${name}/${name}-next`);
    expect(addressOfFamily(next, 4)).toBe(addressOfFamily(first, 4));
    const others = members.slice(1).map((member) => `${name}/${member}`);
    await expectReachability(cluster(), [...others, next.key]);
    await deletePods(cluster(), ...others, next.key);
  });
});

describe.each(KINDS)('a $topology network that is deleted', ({ topology, name }) => {
  const inNamespace = `${name}-reborn`;
  const members = [...NODES].map((node) => pod(inNamespace, `${inNamespace}-${node}`, node));
  const keys = NODES.map((node) => `${inNamespace}/${inNamespace}-${node}`);
  const subnets = { Layer3: ['10.74.0.0/16/24', 'fd00:74::/48/64'], Layer2: ['10.75.0.0/16', 'fd00:75::/64'] };
  const network: ManifestObject =
    topology === 'Layer3' ? layer3(inNamespace, 'net', subnets.Layer3) : layer2(inNamespace, 'net', subnets.Layer2);

  it('leaves nothing, and another one with its name and subnets works', async () => {
    await applyAndWait(cluster(), [namespace(inNamespace)]);
    for (let life = 0; life < 2; life++) {
      await applyAndWait(cluster(), [network, ...members]);
      await expectReachability(cluster(), ['plain/stays', ...keys]);
      const pods = await Promise.all(keys.map((key) => readPod(cluster(), key)));
      expect(pods.flatMap(allAddresses)).toHaveLength(NODES.length * 2 * FAMILIES.length);
      await deletePods(cluster(), ...keys);
      await (await cluster().objects()).delete([network], { timeoutSeconds: 30 });
      for (const node of NODES) {
        await eventually(async () =>
          expect(await ownRowsNaming(cluster(), node, inNamespace.replace('-', '.'))).toEqual([]),
        );
        await eventually(async () => expect(await ownRowsNaming(cluster(), node, inNamespace)).toEqual([]));
      }
    }
  });
});

/** How many links each node has. */
const linkCounts = async (sandbox: Sandbox): Promise<number[]> =>
  await Promise.all(
    NODES.map(async (node) => (await sandbox.node(node, ['ip', '-br', 'link'])).stdout.trimEnd().split('\n').length),
  );
