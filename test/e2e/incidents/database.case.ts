/** The disk of a node's Open_vSwitch database is full. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import { agentMetrics } from '../support/cluster/agent-metrics.ts';
import { deletePods } from '../support/cluster/cluster.ts';
import { pod } from '../support/cluster/manifests.ts';
import { MINUTE_MS, NODE, type Operator } from './operator.ts';

const FOLDER = '/var/lib/openvswitch';
const REASON = 'commit: I/O error: /etc/openvswitch/conf.db: write failed (No space left on device)';

const EXPLAIN = ['explain', 'pod', 'blue/late'] as const;

/** @param operator as the cluster of the file has it */
export const incidentOfDatabase = ({ cluster, asked, answers, of, isWell, objects, onNode }: Operator): void => {
  describe('conf.db has no disk', () => {
    beforeAll(async () => {
      await onNode(
        `mkdir /tmp/keep; cp -a ${FOLDER}/. /tmp/keep; mount -t tmpfs -o size=1m none ${FOLDER}; cp -a /tmp/keep/. ${FOLDER}`,
      );
      await restartDatabase();
      await onNode(`dd if=/dev/zero of=${FOLDER}/fill bs=1k 2>/dev/null || true`);
      // What is left of the last page of the file takes a few small transactions.
      await onNode(`i=0; while [ $i -lt 100 ] && ovs-vsctl --no-wait --timeout=5 set Open_vSwitch . external_ids:filler=$i 2>/dev/null
        do i=$((i+1)); done; test $i -lt 100`);
      await (await objects()).apply([pod('blue', 'late', NODE)]);
    });

    it('problems, explain and why have what the database said', async () => {
      const incident = of('database');
      const pattern = new RegExp(REASON.replaceAll(/[()]/g, '\\$&'));
      // The pod shows it first; ovn-controller, or the agent itself, has to try to write there.
      await answers(EXPLAIN, pattern);
      await incident.problemBecomes(
        /^error {4}the Open_vSwitch database rejects writes: .*No space left.*\[database-failed\]$/,
        1,
      );
      // Its node is that of the pod.
      await incident.answers(EXPLAIN, `pod blue/late: agent: it has no port: CNI ADD failed: ${REASON}`);
      expect((await asked(...EXPLAIN)).stdout).toMatch(
        /MISSING +blue_net: OVS interface +the port has no OVS interface\n +→ kubectl describe pod; without a CNI call that failed, see /,
      );
      await answers(['why', 'pod', 'blue/late'], pattern);
    });

    it('each call that failed is one line of the log and one of the counter', async () => {
      const lines = await failedCalls();
      expect(lines).toContainEqual(
        expect.objectContaining({ command: 'ADD', pod: 'blue/late', cause: 'ovsdb', reason: REASON }),
      );
      const metrics = await agentMetrics(cluster(), NODE);
      const [, count] = /^udn_agent_cni_failures_total\{command="ADD",cause="ovsdb"\} ([0-9]+)$/m.exec(metrics) ?? [];
      expect(Number(count)).toBeGreaterThanOrEqual(1);
      expect(Number(count)).toBeLessThanOrEqual(lines.length + 1);
    });

    it('with room again the pod starts, and the problem is gone', async () => {
      await onNode(`rm ${FOLDER}/fill`);
      await (await objects()).wait('pod', 'blue/late', 'ready', { timeoutSeconds: 60 });
      await isWell();
      await deletePods(cluster(), 'blue/late');
    });

    afterAll(async () => {
      await onNode(
        `rm -rf /tmp/keep; mkdir /tmp/keep; cp -a ${FOLDER}/. /tmp/keep; umount -l ${FOLDER}; cp -a /tmp/keep/. ${FOLDER}`,
      );
      await restartDatabase();
      await onNode('ovs-vsctl --no-wait remove Open_vSwitch . external_ids filler');
      await isWell();
    });
  });

  const failedCalls = async (): Promise<readonly Record<string, unknown>[]> => {
    const log = readFileSync(join((await cluster().status()).folder, 'log', `${NODE}.agent.log`), 'utf8');
    return log
      .split('\n')
      .filter((line) => line.includes('"CNI call failed"'))
      .map((line): Record<string, unknown> => JSON.parse(line));
  };

  /** A server goes on with the file that it has open, until it starts again. */
  const restartDatabase = async (): Promise<void> => {
    const pidOf = (): Promise<string> => onNode('cat /run/openvswitch/ovsdb-server.pid');
    const before = await pidOf();
    await cluster().kill(NODE, 'ovsdb-server', 'SIGKILL');
    await eventually(async () => {
      expect(await pidOf()).not.toBe(before);
      await onNode('ovs-vsctl --timeout=2 show');
    }, MINUTE_MS);
  };
};
