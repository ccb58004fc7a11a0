/** What becomes of a node's objects that somebody changes or deletes: they are back, soon, counted and seen. */
import { beforeAll, describe, expect, it } from 'vitest';
import { type BackendName, differencesSchema } from '../../../../api/agent-status.ts';
import { CommandError } from '../../../../datapath/exec/errors.ts';
import type { ManifestObject, Sandbox } from '../../../../sandbox/index.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';
import { agentMetrics } from '../cluster/agent-metrics.ts';
import { applyAndWait } from '../cluster/cluster.ts';
import { layer2, layer3, namespace, pod } from '../cluster/manifests.ts';
import type { Damage } from './damages.ts';
import { dumpDifference, dumpNode, type NodeDump, settledDump } from './node-dump.ts';
import { ownedRows } from './owned-rows.ts';

const NODE = 'node-1';
const REPAIR_MS = 40_000;
const LONGEST_REPAIR_MS = 120_000;
/** Where there is an event. */
const EVENT_REPAIR_MS = 1000;

export const DRIFT_MANIFESTS = [
  namespace('red'),
  layer3('red', 'net', ['10.72.0.0/16/24', 'fd00:72::/48/64']),
  namespace('green'),
  layer2('green', 'net', ['10.73.0.0/16', 'fd00:73::/64']),
  pod('red', 'a', NODE),
  pod('green', 'a', NODE),
];

/** Call it where tests are declared. */
export const drift = (
  cluster: () => Sandbox,
  damages: readonly Damage[],
  manifests: readonly ManifestObject[] = DRIFT_MANIFESTS,
): void => {
  let right: NodeDump = {};

  beforeAll(async () => {
    await applyAndWait(cluster(), manifests);
    const settled = await settledDump(cluster(), NODE, await repairMs(cluster()));
    expect(settled['flows']?.length).toBeGreaterThan(20);
    const rows = await ownedRows(cluster(), NODE);
    expect(rows.length).toBeGreaterThan(50);
    right = { ...settled, rows };
  });

  describe('what somebody does to the node is undone, and counted', () => {
    it.each(damages)('$what', async ({ command, look, where, slow = false }) => {
      const slowdown = await cluster().slowdown();
      const counted = await repairs(cluster(), where);
      const start = performance.now();
      if (look === undefined) await cluster().node(NODE, ['sh', '-c', command]);
      else {
        const ms = await timeOfRepair(cluster(), command, look);
        if (!slow) expect(ms).toBeLessThan(EVENT_REPAIR_MS * slowdown);
      }
      await untilRepaired(cluster(), right);
      const seconds = (performance.now() - start) / 1000;
      if (!slow) expect(seconds).toBeLessThan(10 * slowdown);
      expect(await repairs(cluster(), where)).toBeGreaterThan(counted);
    });
  });

  const shown = damages.filter((damage) => damage.shown === true);
  describe.runIf(shown.length > 0)('while it lasts, udnctl diff says where', () => {
    it.each(shown)('$what', async ({ command, where }) => {
      await eventually(
        async () => expect(await differingBackends(cluster(), command)).toContain(where),
        await repairMs(cluster()),
      );
      await untilRepaired(cluster(), right);
      await eventually(async () => expect(await differingBackends(cluster())).toEqual([]));
    });
  });
};

/** On the node itself: nothing but what is looked at takes time. @returns milliseconds after the command has ended */
const timeOfRepair = async (sandbox: Sandbox, command: string, look: string): Promise<number> => {
  const script = `
    look() { ${look}; }
    right=$(look 2>&1)
    ${command}
    start=$(date +%s%3N)
    now=$start
    while [ "$(look 2>&1)" != "$right" ] && [ $((now - start)) -lt ${await repairMs(sandbox)} ]; do
      now=$(date +%s%3N)
    done
    echo $(($(date +%s%3N) - start))`;
  const { stdout } = await sandbox.node(NODE, ['sh', '-c', script]);
  return Number(stdout);
};

const untilRepaired = async (sandbox: Sandbox, right: NodeDump): Promise<void> =>
  eventually(
    async () => {
      const now = { ...(await dumpNode(sandbox, NODE)), rows: await ownedRows(sandbox, NODE) };
      const changes = dumpDifference(right, now);
      if (changes.length > 0) throw new Error(`${changes.length} differences:\n${changes.slice(0, 30).join('\n')}`);
    },
    await repairMs(sandbox),
  );

/** Less than the time of a test, so that the error names what is not as before. */
const repairMs = async (sandbox: Sandbox): Promise<number> =>
  Math.min(REPAIR_MS * (await sandbox.slowdown()), LONGEST_REPAIR_MS);

/** How often the agent found something that somebody had changed, in one place or in all. */
const repairs = async (sandbox: Sandbox, where: BackendName | undefined): Promise<number> => {
  const metrics = await agentMetrics(sandbox, NODE);
  return [...metrics.matchAll(/^udn_agent_drift_repairs_total\{backend="(\w+)"[^}]*\} (\d+)$/gm)]
    .filter(([, backend]) => where === undefined || backend === where)
    .reduce((sum, [, , count]) => sum + Number(count), 0);
};

/** @param damage is done again and again until it was looked: it is there for a moment only each time */
const differingBackends = async (sandbox: Sandbox, damage = 'true'): Promise<BackendName[]> => {
  const script = `
    i=0
    while [ $i -lt 2000 ]; do i=$((i + 1)); ${damage}; done >/dev/null 2>&1 &
    udnctl diff -o json
    status=$?
    kill $! 2>/dev/null
    wait
    exit $status`;
  const { differences } = differencesSchema.parse(JSON.parse(await outputOfDiff(sandbox, script)));
  return [...new Set(differences.map(({ backend }) => backend))];
};

/** It fails when there are differences. */
const outputOfDiff = async (sandbox: Sandbox, script: string): Promise<string> => {
  try {
    return (await sandbox.node(NODE, ['sh', '-c', script])).stdout;
  } catch (error) {
    if (error instanceof CommandError && error.exitCode === 1) return error.stdout;
    throw error;
  }
};
