/** The agent is killed and comes back while packets flow. Needs root and `make build`. */
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { FAMILIES, type Ip } from '../../net/ip.ts';
import type { Sandbox } from '../../sandbox/index.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { describeDifferences } from '../oracles/reachability/matrix.ts';
import { measureCluster } from '../oracles/reachability/measure.ts';
import { applyAndWait, readPod, useCluster } from './support/cluster/cluster.ts';
import { pod } from './support/cluster/manifests.ts';
import { tenantManifests } from './support/cluster/one-of-each.ts';
import { restartsOf } from './support/cluster/restarts.ts';
import { networkStatesOn } from './support/cluster/udnctl.ts';
import { addressOfFamily } from './support/packets/packets.ts';
import { readProgrammed } from './support/state/rows.ts';

const NODES = ['node-1', 'node-2'] as const;
const cluster = useCluster({ name: 'test-restart' });

const NETWORKS = ['red', 'green', 'plain'] as const;
const MANIFESTS = [
  ...tenantManifests(),
  ...NETWORKS.flatMap((name) => [
    pod(name, `${name}-a`, 'node-1'),
    pod(name, `${name}-b`, 'node-1'),
    pod(name, `${name}-c`, 'node-2'),
  ]),
];

interface Flow {
  readonly from: string;
  readonly to: Ip;
}

/** On one node and between nodes, of every network, of both families. */
const flowsOf = async (sandbox: Sandbox): Promise<Flow[]> => {
  const flows = NETWORKS.map(async (name) => {
    const receivers = await Promise.all(['b', 'c'].map((letter) => readPod(sandbox, `${name}/${name}-${letter}`)));
    return receivers.flatMap((to) =>
      FAMILIES.map((family) => ({ from: `${name}/${name}-a`, to: addressOfFamily(to, family) })),
    );
  });
  return (await Promise.all(flows)).flat();
};

/** From the kill, which the agent's start follows, to both pods' Ready. */
const SERVED_MS = 5_000;

/** For 12 s: on a busy machine an agent takes half of that to be back. */
const COUNT = 600;
const INTERVAL_SECONDS = 0.02;

/** Resolves when all have been sent. @returns how many were lost */
const ping = async (sandbox: Sandbox, { from, to }: Flow): Promise<number> => {
  const argv = ['ping', '-q', '-i', String(INTERVAL_SECONDS), '-c', String(COUNT), '-W', '1', to];
  const { stdout } = await sandbox
    .exec(from, argv)
    .catch((error: unknown) => z.object({ stdout: z.string() }).parse(error));
  const received = /(\d+) received/.exec(stdout)?.[1];
  return COUNT - Number(received);
};

/** A new agent runs, and says that every network is in place. */
const untilBack = (sandbox: Sandbox, node: string, before: number): Promise<void> =>
  eventually(async () => {
    expect(await restartsOf(sandbox, node)).toBe(before + 1);
    expect(await networkStatesOn(sandbox, node)).toEqual(['default ready', 'green_net ready', 'red_net ready']);
  });

beforeAll(async () => {
  await applyAndWait(cluster(), MANIFESTS);
  // Every neighbour and every tunnel is known from here on.
  expect(describeDifferences(await measureCluster(cluster()))).toEqual([]);
});

describe('the agents of both nodes, killed while packets flow', () => {
  it('lose no packet, and leave every row and flow as it was', async () => {
    const sandbox = cluster();
    const flows = await flowsOf(sandbox);
    expect(flows).toHaveLength(NETWORKS.length * 2 * FAMILIES.length);
    const before = await Promise.all(NODES.map((node) => readProgrammed(sandbox, node)));
    let isPinging = true;
    const pings = Promise.all(flows.map((flow) => ping(sandbox, flow))).finally(() => {
      isPinging = false;
    });
    const times = await Promise.all(NODES.map((node) => restartsOf(sandbox, node)));
    await Promise.all(NODES.map((node) => sandbox.kill(node, 'agent', 'SIGKILL')));
    await Promise.all(NODES.map((node, index) => untilBack(sandbox, node, times[index] ?? 0)));
    expect(isPinging).toBe(true);
    expect(await pings).toEqual(flows.map(() => 0));
    const after = await Promise.all(NODES.map((node) => readProgrammed(sandbox, node)));
    for (const [index] of NODES.entries()) {
      expect(difference(before[index]?.rows, after[index]?.rows)).toEqual([]);
      expect(difference(before[index]?.flows, after[index]?.flows)).toEqual([]);
    }
  });

  it('serve pods that come while they are away, and isolation is as before', async () => {
    await Promise.all(NODES.map((node) => cluster().kill(node, 'agent', 'SIGKILL')));
    const start = performance.now();
    await applyAndWait(cluster(), [pod('red', 'red-d', 'node-2'), pod('green', 'green-d', 'node-1')]);
    expect(performance.now() - start).toBeLessThan(SERVED_MS);
    expect(describeDifferences(await measureCluster(cluster()))).toEqual([]);
  });
});

/** Lines of one that the other does not have. */
const difference = (before: readonly string[] = [], after: readonly string[] = []): string[] => [
  ...before.filter((line) => !after.includes(line)).map((line) => `- ${line}`),
  ...after.filter((line) => !before.includes(line)).map((line) => `+ ${line}`),
];
