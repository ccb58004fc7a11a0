/** A node that hears nothing of a network's end keeps its pods on the wire: they reach nobody who comes after them. */
import { describe, expect, it } from 'vitest';
import { parseNetworkIdPool, type RetiredEntry } from '../../../../api/network-id-pool.ts';
import { CommandError } from '../../../../datapath/exec/errors.ts';
import { PODS } from '../../../../kube/resources.ts';
import { FAMILIES } from '../../../../net/ip.ts';
import type { Sandbox } from '../../../../sandbox/index.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';
import { applyAndWait, deletePods, readPod } from '../cluster/cluster.ts';
import { layer2, namespace, pod } from '../cluster/manifests.ts';
import { addressOfFamily } from '../packets/packets.ts';
import { idOf, patience } from '../state/gone-networks.ts';

const CUT_OFF = 'node-2';
const SUBNETS = ['10.83.0.0/16', 'fd00:83::/64'];

/** Call it where tests are declared. */
export const cutOffNode = (cluster: () => Sandbox): void => {
  describe('of a network whose end a node has not heard of', () => {
    it('the id stays reserved, so that its pod there reaches nobody of the next network', async () => {
      await applyAndWait(cluster(), [...networkOf('cut'), pod('cut', 'a', 'node-1'), pod('cut', 'b', CUT_OFF)]);
      const [before, sender] = [await readPod(cluster(), 'cut/a'), await readPod(cluster(), 'cut/b')];
      const id = await idOf(cluster(), 'cut');
      const from = addressOfFamily(sender, 4);
      await callOut(cluster(), 'cut/b', addressOfFamily(before, 4));
      await eventually(async () => expect(await hears(cluster(), 'cut/a', from)).toBe(true), 60_000);
      // Of networks before it, the node is to have said all.
      await eventually(async () => expect(await retiredIds(cluster())).toEqual([]), await patience(cluster()));
      await whileCutOff(cluster(), async () => {
        const client = await cluster().client();
        for (const name of ['a', 'b']) {
          await client.delete(PODS, { namespace: 'cut', name }, { gracePeriodSeconds: 0 }).catch(() => {});
        }
        await (await cluster().objects()).delete(networkOf('cut'));
        await applyAndWait(cluster(), [...networkOf('next'), pod('next', 'a', 'node-1')]);
        // Nothing but the id distinguishes the two.
        const after = await readPod(cluster(), 'next/a');
        for (const family of FAMILIES) expect(addressOfFamily(after, family)).toBe(addressOfFamily(before, family));
        expect(await idOf(cluster(), 'next')).not.toBe(id);
        expect(await hears(cluster(), 'next/a', from)).toBe(false);
        await eventually(async () => expect(await retiredIds(cluster())).toMatchObject([{ id, network: 'cut_net' }]));
      });
      await eventually(async () => expect(await retiredIds(cluster())).toEqual([]), await patience(cluster()));
      await deletePods(cluster(), 'next/a');
      await (await cluster().objects()).delete(networkOf('next'));
    });
  });
};

const networkOf = (tenant: string) => [namespace(tenant), layer2(tenant, 'net', SUBNETS)];

/** Goes on as long as the pod's network namespace is there. */
const callOut = async (sandbox: Sandbox, from: string, to: string): Promise<void> => {
  await sandbox.exec(from, ['sh', '-ec', `setsid ping -i 0.2 ${to} </dev/null >/dev/null 2>&1 &`]);
};

const HEARS_SECONDS = 4;

const hears = async (sandbox: Sandbox, where: string, from: string): Promise<boolean> => {
  const filter = `icmp and src host ${from}`;
  try {
    await sandbox.exec(where, ['timeout', `${HEARS_SECONDS}`, 'tcpdump', '-nni', 'ovn-udn1', '-c', '1', filter]);
    return true;
  } catch (error) {
    if (error instanceof CommandError && error.exitCode === 124) return false;
    throw error;
  }
};

const whileCutOff = async (sandbox: Sandbox, work: () => Promise<void>): Promise<void> => {
  for (const program of ['agent', 'kubelet'] as const) await sandbox.kill(CUT_OFF, program, 'SIGSTOP');
  try {
    await work();
  } finally {
    for (const program of ['kubelet', 'agent'] as const) await sandbox.kill(CUT_OFF, program, 'SIGCONT');
  }
};

const retiredIds = async (sandbox: Sandbox): Promise<readonly RetiredEntry[]> =>
  parseNetworkIdPool(await (await sandbox.objects()).get('networkidpool', 'cluster')).status.retired;
