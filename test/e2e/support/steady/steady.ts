/**
 * Packets flow through ten networks, and everything is watched: while an agent is killed and started again, and while other
 * networks come and go.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { FAMILIES } from '../../../../net/ip.ts';
import type { ManifestObject, Sandbox } from '../../../../sandbox/index.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';
import { agentMetrics, hostDrift } from '../cluster/agent-metrics.ts';
import { applyAndWait, readPod } from '../cluster/cluster.ts';
import { layer2, layer3, namespace, pod } from '../cluster/manifests.ts';
import { restartsOf } from '../cluster/restarts.ts';
import { nodeAddress, seenOverHttp } from '../networks/north-south.ts';
import { addressOfFamily } from '../packets/packets.ts';
import { dumpDifference, dumpNode, settledDump } from '../state/node-dump.ts';
import { isPassing } from '../state/passing-flows.ts';
import { comeTo, flowChanges, flowEvents, goFrom, readStays } from './networks.ts';
import {
  clearStop,
  type Loss,
  type Pair,
  pingsThatRun,
  startTraffic,
  stopAll,
  TIMEOUT,
  untilStopped,
  type Volume,
} from './traffic.ts';

const NODE = 'node-1';

const network = (tenant: string, index: number): ManifestObject =>
  index % 2 === 0
    ? layer3(tenant, 'net', ['10.78.0.0/16/24', 'fd00:78::/48/64'])
    : layer2(tenant, 'net', ['10.79.0.0/16', 'fd00:79::/64']);

export interface SteadyScale extends Volume {
  /** Networks with a pod on each of two nodes. */
  readonly tenants: number;
  /** How often the agent is killed. */
  readonly kills: number;
  /** Whether not one ping is lost either while networks come and go: so on the kernel's datapath. */
  readonly isLossless: boolean;
}

/** On the userspace datapath some pings are lost, all within moments (docs/failure-model.md has numbers). */
const ON_THE_HOST: SteadyScale = { tenants: 10, pings: 5, pauseMs: 20, kills: 6, isLossless: false };

interface Scenery extends SteadyScale {
  readonly sandbox: Sandbox;
  readonly names: readonly string[];
  readonly pairs: readonly Pair[];
}

const RECOVERY_MS = 60_000;
const MAX_ROUNDS = 3;
/** Call it where tests are declared. */
export const steady = (cluster: () => Sandbox, scale: SteadyScale = ON_THE_HOST): void => {
  const names = Array.from({ length: scale.tenants }, (_, index) => `t${index}`);
  const pairs = names.map((name): Pair => ({ from: `${name}/${name}-a`, to: `${name}/${name}-b` }));
  const scenery = (): Scenery => ({ ...scale, names, pairs, sandbox: cluster() });

  beforeAll(() => settle(scenery()));

  describe('the agent killed again and again', () => {
    it('changes nothing that was right, and loses no packet', () => killAgainAndAgain(scenery()));
  });

  describe('networks that come and go', () => {
    const what = scale.isLossless ? 'lose no packet' : 'break no connection';
    it(`change nothing of others, and ${what}`, () => comeAndGo(scenery()));
  });
};

/** Every neighbour and every tunnel is known from here on. */
const settle = async ({ sandbox, names, pairs }: Scenery): Promise<void> => {
  const pods = names.flatMap((name) => [pod(name, `${name}-a`, NODE), pod(name, `${name}-b`, 'node-2')]);
  await applyAndWait(sandbox, [...names.map((name) => namespace(name)), ...names.map(network), ...pods]);
  for (const { from, to } of pairs) {
    for (const family of FAMILIES) {
      const address = addressOfFamily(await readPod(sandbox, to), family);
      await eventually(() => sandbox.exec(from, ['ping', '-c', '1', '-W', '1', address]));
      await eventually(async () => expect(await seenOverHttp(sandbox, from, family)).toBe(nodeAddress(NODE, family)));
    }
  }
};

const killAgainAndAgain = async (scenery: Scenery): Promise<void> => {
  const { sandbox, kills } = scenery;
  const before = await dumpNode(sandbox, NODE);
  let lost: readonly Loss[] = [];
  // A machine that is too busy to forward packets loses some, too: but not of each round the same.
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const { changes, losses } = await underTraffic(scenery, async () => {
      for (const isUp of MOMENTS.slice(-kills)) {
        await killAgent(sandbox);
        await eventually(() => isUp(sandbox), RECOVERY_MS);
      }
    });
    expect(changes).toEqual(SIGNS);
    expect(losses.filter(({ isStream }) => isStream)).toEqual([]);
    expect(dumpDifference(before, await dumpNode(sandbox, NODE))).toEqual([]);
    lost = losses;
    if (lost.length === 0) break;
  }
  expect(lost).toEqual([]);
};

const comeAndGo = async (scenery: Scenery): Promise<void> => {
  const { sandbox, names, isLossless } = scenery;
  const stays = await readStays(sandbox, NODE, names);
  const drift = await hostDrift(sandbox, NODE);
  let going = await comeTo(sandbox, NODE, 'going');
  let lost: readonly Loss[] = [];
  // As above: what a busy machine loses it does not lose again.
  for (const name of ['coming', 'later']) {
    const before = await settledDump(sandbox, NODE);
    let coming: readonly string[] = [];
    const { changes, losses } = await underTraffic(scenery, async () => {
      coming = await comeTo(sandbox, NODE, name);
      await goFrom(sandbox, NODE, going);
      // Flows may go after the patch ports.
      await settledDump(sandbox, NODE);
    });
    expect(changes.filter((line) => stays.isConcernedBy(line))).toEqual([]);
    expect(flowEvents(changes)).toEqual(flowChanges(dumpDifference(before, await settledDump(sandbox, NODE))));
    going = coming;
    lost = losses.filter(({ isStream }) => isLossless || isStream);
    if (lost.length === 0) break;
  }
  // Nobody has touched anything: what the agent itself changes is no drift.
  expect(await hostDrift(sandbox, NODE)).toBe(drift);
  expect(lost).toEqual([]);
};

interface Round {
  readonly changes: readonly string[];
  readonly losses: readonly Loss[];
}

const underTraffic = async (scenery: Scenery, work: () => Promise<void>): Promise<Round> => {
  const { sandbox, pairs, pings } = scenery;
  await clearStop(sandbox, NODE, pairs);
  const watched = watch(sandbox);
  const traffic = startTraffic(sandbox, pairs, scenery);
  // What fails before it is waited for is no rejection that nobody handles.
  const results = Promise.allSettled([watched, traffic]);
  const planted: (typeof CANARIES)[number][] = [];
  try {
    await eventually(async () => expect(await pingsThatRun(sandbox, NODE)).toBe(pairs.length * 2 * pings), 30_000);
    await work();
    for (const canary of CANARIES) {
      await sandbox.node(NODE, canary.command);
      planted.push(canary);
    }
    await eventually(async () => expect(await seenBy(sandbox)).toEqual(expect.arrayContaining(SIGNS)));
  } finally {
    await stopAll(sandbox, NODE, pairs);
    await results;
    for (const { undo } of planted) await sandbox.node(NODE, undo);
  }
  await watched;
  return { changes: await seenBy(sandbox), losses: await traffic };
};

/** Ends it, and waits until it has been started again. */
const killAgent = async (sandbox: Sandbox): Promise<void> => {
  const restarts = await restartsOf(sandbox, NODE);
  // One that has just been started has no process yet.
  await eventually(() => sandbox.kill(NODE, 'agent', 'SIGKILL'));
  await eventually(async () => expect(await restartsOf(sandbox, NODE)).toBeGreaterThan(restarts));
};

/** The agent has compared everything with what there is, and written what it found. */
const hasCompared = async (sandbox: Sandbox): Promise<void> => {
  const metrics = await agentMetrics(sandbox, NODE);
  for (const backend of ['openflow', 'host', 'nftables']) {
    const metric = `udn_agent_reconcile_duration_seconds_count{backend="${backend}",full="true"}`;
    expect(metrics).toContain(metric);
  }
  await sandbox.node(NODE, ['udnctl', 'networks']);
};

const hasProcess = async (sandbox: Sandbox): Promise<void> => {
  await sandbox.node(NODE, ['pgrep', '-f', 'udn-agent.mjs']);
};

const servesMetrics = async (sandbox: Sandbox): Promise<void> => {
  await agentMetrics(sandbox, NODE);
};

/** Changes of somebody else, one for each monitor: what else it shows, and that it shows anything. */
const CANARIES = [
  {
    sign: 'kernel: 192.0.2.99',
    command: ['ip', 'route', 'add', 'blackhole', '192.0.2.99', 'proto', 'static'],
    undo: ['ip', 'route', 'del', 'blackhole', '192.0.2.99'],
  },
  {
    sign: 'flows: nw_dst=192.0.2.99',
    command: ['ovs-ofctl', 'add-flow', 'br-ex', 'ip,nw_dst=192.0.2.99,actions=drop'],
    undo: ['ovs-ofctl', 'del-flows', 'br-ex', 'ip,nw_dst=192.0.2.99'],
  },
  {
    sign: 'nft: steady_canary',
    command: ['nft', 'add', 'table', 'inet', 'steady_canary'],
    undo: ['nft', 'delete', 'table', 'inet', 'steady_canary'],
  },
];

const SIGNS = CANARIES.map(({ sign }) => sign);

/** How far the agent comes before it is killed the next time; the last is not killed. */
const MOMENTS = [hasProcess, servesMetrics, hasCompared, servesMetrics, hasProcess, hasCompared];

const MONITORS = [
  {
    what: 'kernel',
    command: 'ip -o monitor link address route rule',
    isChange: (line: string) => /\S/.test(line) && !BY_ITSELF.test(line),
  },
  {
    what: 'flows',
    command: 'stdbuf -oL ovs-ofctl monitor br-ex watch:!initial',
    isChange: (line: string) => line.includes('event=') && !isPassing(line),
  },
  {
    what: 'nft',
    command: 'stdbuf -oL nft monitor',
    isChange: (line: string) => /^(add|delete|insert|replace|destroy) /.test(line),
  },
];

const fileOf = (what: string): string => `/tmp/steady-${what}`;

/** Resolves when the events of the kernel, OVS and nft are no longer recorded. */
const watch = async (sandbox: Sandbox): Promise<void> => {
  await Promise.all(
    MONITORS.map(async ({ what, command }) => {
      await sandbox.node(NODE, untilStopped(`${command} > ${fileOf(what)} 2>&1`, 'TERM'), TIMEOUT);
    }),
  );
};

/** The recorded events; of a canary only its sign. */
const seenBy = async (sandbox: Sandbox): Promise<string[]> => {
  const seen = await Promise.all(
    MONITORS.map(async ({ what, isChange }) => {
      const { stdout } = await sandbox.node(NODE, ['cat', fileOf(what)]);
      const lines = stdout.split('\n').filter(isChange);
      return lines.map((line) => SIGNS.find((sign) => isSigned(`${what}: ${line}`, sign)) ?? `${what}: ${line}`);
    }),
  );
  return seen.flat();
};

/** Routes that the kernel makes by itself. */
const BY_ITSELF = / (proto kernel|expires)\b/;

const isSigned = (line: string, sign: string): boolean => {
  const [what = '', text = ''] = sign.split(': ');
  return line.startsWith(`${what}: `) && line.includes(text);
};
