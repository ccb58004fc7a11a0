/** What goes wrong on a node, without a program that stops. */
import { expect, it } from 'vitest';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import type { Said } from '../support/cluster/udnctl.ts';
import { firstLine, MINUTE_MS, NODE, type Operator } from './operator.ts';

/** Within which udnctl says that a node cannot be reached: eight seconds, and what a busy machine adds. The API server waits for 30. */
const UNREACHABLE_MS = 25_000;

const inTime = async (ask: () => Promise<Said>): Promise<Said> => {
  const start = performance.now();
  const said = await ask();
  expect(performance.now() - start).toBeLessThan(UNREACHABLE_MS);
  return said;
};

/** @param operator as the cluster of the file has it */
export const incidentsOfNode = ({ asked, problems, of, unavailable, isWell, onNode }: Operator): void => {
  it('the uplink is off the gateway bridge', async () => {
    const { shows, unavailableBecomes } = of('uplink');
    await onNode('ovs-vsctl del-port br-ex eth0');
    try {
      // Its kubelet and the API server are beyond the uplink, so that nobody reaches it: others know this, and no more.
      const [early] = await Promise.all([inTime(problems), unavailableBecomes(/^True AgentNotReporting: /)]);
      expect(firstLine(early)).toMatch(/^error {4}node-1.* {2}\[node-unreachable\]$/);
      const [said, explained] = [await inTime(problems), await inTime(() => asked('explain', 'pod', 'red/a'))];
      const cause = 'node-1: NetworkUnavailable=AgentNotReporting since \\S+: udn-agent has stopped reporting: .*';
      expect(firstLine(said)).toMatch(new RegExp(`^error {4}${cause} {2}\\[node-unreachable\\]$`));
      expect(said.stderr).toMatch(
        /^udnctl: pod \S+ cannot be reached: .*; udnctl status shows the last report of its node/,
      );
      expect(explained.stderr).toMatch(new RegExp(`^udnctl: ${cause}\nudnctl: pod \\S+ cannot be reached`));
      expect([said.status, explained.status, explained.stdout]).toEqual([1, 2, '']);
      shows(['problems', '--node', NODE], said);
      // The other node asks each of its peers twice a minute.
      const status = await eventually(async () => {
        const found = await asked('status');
        expect(found.stdout).toMatch(new RegExp(`^${NODE} +silent .*does not reach the API server$`, 'm'));
        expect(found.stdout).toMatch(
          new RegExp(`^node-2 +reporting .*do not answer through their tunnels: ${NODE} `, 'm'),
        );
        return found;
      }, MINUTE_MS);
      shows(['status'], status);
    } finally {
      await onNode('ovs-vsctl add-port br-ex eth0');
    }
    await isWell();
    await eventually(async () => expect(await unavailable()).toMatchObject({ status: 'False' }), MINUTE_MS);
  });

  it('the kubelet is outside of its cgroup', async () => {
    const { problemBecomes } = of('kubelet-cgroup');
    const own = '/sys/fs/cgroup/kubelet.slice/kubelet.service';
    const move = (from: string, to: string): string => `while read pid; do echo $pid > ${to}; done < ${from}`;
    const pids = (await onNode(`cat ${own}/cgroup.procs`)).trim().split('\n');
    await onNode(move(`${own}/cgroup.procs`, '/sys/fs/cgroup/cgroup.procs'));
    await problemBecomes(/^warning {2}no process is in the cgroup of the kubelet, .*\[kubelet-cgroup-missing\]$/, 0);
    await onNode(`rmdir ${own}`);
    await problemBecomes(/^warning {2}the cgroup of the kubelet was not found: .*\[kubelet-cgroup-missing\]$/, 0);
    await onNode(`mkdir ${own}; for pid in ${pids.join(' ')}; do echo $pid > ${own}/cgroup.procs; done`);
    await isWell();
  });

  it('the MTU of the uplink is too small for tunnels', async () => {
    const { problemBecomes } = of('mtu');
    await onNode('ovs-vsctl set Interface br-ex mtu_request=1400');
    await problemBecomes(/^error {4}packets of networks do not fit the tunnels of this node .*\[mtu-too-large\]$/, 1);
    await onNode('ovs-vsctl set Interface br-ex mtu_request=1500');
    await isWell();
    await onNode('ovs-vsctl clear Interface br-ex mtu_request');
  });

  it('somebody flushes nftables, again and again', async () => {
    const { problemBecomes } = of('nftables');
    for (let round = 0; round < 3; round++) {
      await onNode('nft flush ruleset');
      await eventually(async () => expect(await onNode('nft list tables')).toContain('inet ovn-udn'));
    }
    await problemBecomes(
      /^warning .*nftables of this node was found changed and repaired [3-9] times in 5 minutes.*\[changed-by-others\]$/,
      0,
    );
  });
};
