/**
 * Programs of nodes and of the control plane are killed at random, under traffic and churn. `make chaos MINUTES=…` does it for as
 * long as one likes; `UDN_SEED` repeats an order. Needs root and `make build`.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { type CampaignResult, NODES, prepareCampaign, runCampaign } from './support/chaos/campaign.ts';
import { boundOf, KINDS } from './support/chaos/kills.ts';
import { formatTable, NO_KILL } from './support/chaos/losses.ts';
import { useCluster } from './support/cluster/cluster.ts';
import { untilNothingLeaks } from './support/faults/leaks.ts';
import { createRandom } from './support/faults/random.ts';
import { requireReachability } from './support/faults/reachability.ts';
import { plantForeign, readForeign } from './support/state/foreign.ts';
import { expectNoDifference } from './support/state/no-difference.ts';

const { UDN_CHAOS_MINUTES: minutes } = process.env;
const isLong = minutes !== undefined;
const SECONDS = isLong ? 60 * Number(minutes) : 30;
/** A long one lets pods come and go between two kills. */
const PAUSE_MS = isLong ? 3_000 : 1_500;
const PATIENCE_MS = 300_000;

const cluster = useCluster({ name: 'test-faults-campaign' });

describe('everything is killed, again and again', () => {
  const random = createRandom();
  const readAll = (): Promise<unknown[]> => Promise.all(NODES.map((node) => readForeign(cluster(), node)));
  let foreign: unknown[];
  let result: CampaignResult;
  const report = (): string => {
    const { rows, story, broken, connections, crowding } = result;
    const lines = broken.map(({ path, why }) => `  ${path.name}: ${why}`);
    const summary = `${broken.length} of ${connections} TCP connections broke, ${crowding.toFixed(1)} programs shared a processor`;
    return [`UDN_SEED=${random.seed}`, ...story, formatTable(rows), summary, ...lines].join('\n');
  };

  beforeAll(
    async () => {
      await prepareCampaign(cluster());
      await requireReachability(cluster(), 3);
      for (const node of NODES) await plantForeign(cluster(), node, `red_net_${node}`);
      foreign = await readAll();
      result = await runCampaign(cluster(), { random, seconds: SECONDS, pauseMs: PAUSE_MS });
      if (isLong || process.env['UDN_VERBOSE'] !== undefined) process.stderr.write(`${report()}\n`);
    },
    1000 * SECONDS + PATIENCE_MS,
  );

  it('each kind at least once', () => {
    expect(result.rows.map(({ kind }) => kind)).toEqual([...KINDS.keys(), NO_KILL]);
  });

  /**
   * A translation dies with an ovs-vswitchd of the userspace datapath: what a server sends again before the pod has said something
   * is for the node then, which resets the connection.
   */
  it('no TCP connection between pods breaks', () => {
    const inside = result.broken.filter(({ path }) => !path.isTranslated);
    expect(inside, report()).toEqual([]);
  });

  it('datagrams come through again in time', () => {
    const late = result.rows.filter(({ kind, longestMs }) => longestMs > boundOf(kind, result.crowding));
    expect(late, report()).toEqual([]);
  });

  it('nothing is left of what came and went, and everything is as it should be', async () => {
    await untilNothingLeaks(cluster(), 40_000);
    await expectNoDifference(cluster(), NODES);
    await requireReachability(cluster(), 3);
  });

  it('what others made is untouched', async () => expect(await readAll()).toEqual(foreign));
});
