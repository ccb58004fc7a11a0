import { expect, it } from 'vitest';
import { firstOf, linkIn, namesIn, pairOf } from './pod-state.suite.ts';
import type { PodWorld } from './pod-world.suite.ts';
import type { PodNetwork } from './types.ts';

export const removalCases = (world: PodWorld): void => {
  removeCases(world);
  otherCases(world);
};

const removeCases = ({ netlink, dualStackPod, look, disturb, harness, newNetns }: PodWorld): void => {
  it('removes by the name on the node, again and again', async () => {
    const desired = dualStackPod();
    await netlink().pods.ensure(desired);
    await netlink().pods.remove(ends(desired));
    const { node, pod } = await look(desired);
    expect(namesIn(pod)).toEqual(['lo']);
    expect(desired.interfaces.map(({ hostName }) => linkIn(node, hostName))).toEqual([undefined, undefined]);
    await netlink().pods.remove(ends(desired));
    await netlink().pods.remove([]);
    expect(await netlink().pods.ensure(desired)).toBe('created');
  });

  it('removes by the name in the pod', async () => {
    const desired = dualStackPod();
    const { netns, interfaces } = desired;
    await netlink().pods.ensure(desired);
    await netlink().pods.remove([
      { netns, name: 'eth0' },
      { netns, name: 'absent' },
    ]);
    const { node, pod } = await look(desired);
    expect(namesIn(pod)).toEqual(['lo', 'ovn-udn1']);
    expect(interfaces.map(({ hostName }) => linkIn(node, hostName) !== undefined)).toEqual([false, true]);
  });

  it('has nothing to remove when the namespace is gone', async () => {
    const desired = { ...dualStackPod(), netns: await newNetns() };
    await netlink().pods.ensure(desired);
    await harness().deleteNetns(desired.netns);
    await netlink().pods.remove([{ netns: desired.netns, name: 'eth0' }, ...ends(desired)]);
    expect(
      (await netlink().pods.list()).filter(({ hostName }) => ends(desired).some((end) => end.hostName === hostName)),
    ).toEqual([]);
  });

  it('refuses to remove what is not ours, but removes the rest', async () => {
    const desired = dualStackPod();
    await netlink().pods.ensure(desired);
    const elsewhere = await newNetns();
    await disturb(undefined, pairOf({ ...firstOf(desired), hostName: 'foreign' }, elsewhere, 0));
    const foreign = [{ hostName: 'foreign' }, { netns: elsewhere, name: 'eth0' }];
    await expect(netlink().pods.remove([...foreign, ...ends(desired)])).rejects.toMatchObject({
      code: 'ERR_POD_LINK_FOREIGN',
      message: `not deleted, because foreign: foreign, eth0 in ${elsewhere}`,
    });
    const { node, pod } = await look(desired);
    expect(namesIn(pod)).toEqual(['lo']);
    expect(linkIn(node, 'foreign')).toBeDefined();
    await disturb(undefined, { op: 'link.delete', name: 'foreign' });
  });
};

const otherCases = ({ netlink, dualStackPod, disturb, newNetns }: PodWorld): void => {
  it('makes a pod again while its removal goes on', async () => {
    const desired = dualStackPod();
    for (let round = 0; round < 10; round++) {
      await netlink().pods.ensure(desired);
      const removed = netlink().pods.remove(ends(desired));
      expect(await netlink().pods.ensure(desired)).toMatch(/created|repaired/);
      await removed;
      expect(await netlink().pods.check(desired)).toEqual([]);
    }
  });

  it('lists what is on the node, by whose it is', async () => {
    const desired = dualStackPod();
    await netlink().pods.ensure(desired);
    const first = firstOf(desired);
    const unfinished = `${first.hostName}x`;
    await disturb(undefined, pairOf({ ...first, hostName: unfinished }, await newNetns()));
    const all = await netlink().pods.list();
    expect(all.map(({ hostName }) => hostName)).toEqual(
      expect.arrayContaining([...desired.interfaces.map(({ hostName }) => hostName), unfinished]),
    );
    expect(all.find(({ hostName }) => hostName === unfinished)?.alias).toBeUndefined();
    expect(await netlink().pods.list(first.alias)).toEqual([
      { hostName: first.hostName, alias: first.alias, index: expect.any(Number) },
    ]);
  });
};

const ends = ({ interfaces }: PodNetwork) => interfaces.map(({ hostName }) => ({ hostName }));
