/** What goes wrong on a node, without a program that stops. */
import { expect, it } from 'vitest';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import { firstLine, MINUTE_MS, NODE, type Operator } from './operator.ts';

/** @param operator as the cluster of the file has it */
export const incidentsOfNode = ({ asked, problems, problemBecomes, unavailable, isWell, onNode }: Operator): void => {
  it('the uplink is off the gateway bridge', async () => {
    await onNode('ovs-vsctl del-port br-ex eth0');
    // Its kubelet and the API server are beyond the uplink, so that nobody reaches it: others know this, and no more.
    const isSilent = async (): Promise<void> =>
      expect(await unavailable()).toMatchObject({ status: 'True', reason: 'AgentNotReporting' });
    const [said] = await Promise.all([problems(), eventually(isSilent, MINUTE_MS)]);
    expect(said.stderr).toMatch(
      /^udnctl: pod \S+ cannot be reached: .*; udnctl status shows the last report of its node/,
    );
    expect(said.status).toBe(2);
    const { stdout } = await asked('status');
    expect(stdout).toMatch(new RegExp(`^${NODE} +silent .*does not reach the API server$`, 'm'));
    expect(stdout).toMatch(new RegExp(`^node-2 +reporting .*do not answer through their tunnels: ${NODE} `, 'm'));
    await onNode('ovs-vsctl add-port br-ex eth0');
    await isWell();
    await eventually(async () => expect(await unavailable()).toMatchObject({ status: 'False' }), MINUTE_MS);
  });

  it('the kubelet is outside of its cgroup', async () => {
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
    await onNode('ovs-vsctl set Interface br-ex mtu_request=1400');
    await problemBecomes(/^error {4}packets of networks do not fit the tunnels of this node .*\[mtu-too-large\]$/, 1);
    await onNode('ovs-vsctl set Interface br-ex mtu_request=1500');
    await isWell();
    await onNode('ovs-vsctl clear Interface br-ex mtu_request');
  });

  it('somebody flushes nftables, again and again', async () => {
    for (let round = 0; round < 3; round++) {
      await onNode('nft flush ruleset');
      await eventually(async () => expect(await onNode('nft list tables')).toContain('inet ovn-udn'));
    }
    await problemBecomes(/^warning .*\[changed-by-others\]$/, 0);
    expect(firstLine(await problems())).toMatch(
      /nftables of this node was found changed and repaired [3-9] times in 5 minutes/,
    );
  });
};
