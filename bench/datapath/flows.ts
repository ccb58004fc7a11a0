/** Flows, as many as many networks have, on a bridge of its own: the agent's backend against `ovs-ofctl --bundle`. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { loadCommandRunner } from '../../datapath/exec/spawn-runner.ts';
import { OpenflowBackend } from '../../datapath/openflow/backend.ts';
import { compile } from '../../datapath/openflow/compile.ts';
import type { TestPorts } from '../../datapath/openflow/testing/ports.ts';
import { VswitchWorld } from '../../datapath/openflow/testing/vswitch-world.ts';
import { formatFlow } from '../../datapath/openflow/text/flow.ts';
import type { BridgeItem } from '../../datapath/openflow/types.ts';
import { bridgeItemKey } from '../../datapath/openflow/types.ts';
import { alternate } from '../alternate.ts';
import type { BenchContext } from '../context.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { median } from '../statistics.ts';

const SPAWN_ADDON = join(import.meta.dirname, '..', '..', 'build', 'spawn.node');
const ROUNDS = 3;
const MONITOR_MS = 2_000;
const NETWORKS = 500;
const PORTS = 20;
const COOKIE = 0xdeff105n;
const BRIDGE = 'br-bench';
const PLAIN_BRIDGE = 'br-plain';

/** Each time onto an empty bridge, each on one of its own: the backend's flow monitor is not to listen to the other. */
export const benchFlows = async ({ signal, progress, eachRun }: BenchContext): Promise<BenchResult[]> => {
  const items = flowsOf(NETWORKS);
  progress(`node/flows: ${ROUNDS} × ${items.length} flows each way`);
  await using resources = new AsyncDisposableStack();
  const world = resources.use(await VswitchWorld.create());
  for (const bridge of [BRIDGE, PLAIN_BRIDGE]) await world.addBridge(bridge);
  for (let port = 1; port <= PORTS; port++) await world.addPort(BRIDGE, `p${port}`, port);
  const { ports } = world;
  // Starts programs as the agent does.
  const client = world.newClient({ runner: loadCommandRunner(SPAWN_ADDON) });
  const folder = await mkdtemp(join(tmpdir(), 'bench-flows-'));
  resources.defer(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'flows');
  await writeFile(file, items.map((item) => `${lineOf(item, ports)}\n`).join(''));
  const backend = new OpenflowBackend({ client, ports, cookies: [COOKIE] });
  resources.defer(() => backend.close());
  const desired = new Map(items.map((item) => [bridgeItemKey(item), item]));
  const keys = new Set(desired.keys());
  const [[first, kept] = []] = desired;
  if (first === undefined || kept === undefined) throw new Error('no flows');
  /** One flow stays, so that the bridge is watched. Pending events of the flow monitor from before are awaited. */
  const takeAway = async (): Promise<void> => {
    const one = new Map([[first, kept]]);
    await backend.reconcile({ desired: one, keys, prune: true }, signal);
    await delay(MONITOR_MS, undefined, { signal });
    await backend.reconcile({ desired: one, keys: 'all', prune: true }, signal);
  };
  await takeAway();
  const product = async (): Promise<number> => {
    const start = performance.now();
    const { written, failed } = await backend.reconcile({ desired, keys, prune: true }, signal);
    const milliseconds = performance.now() - start;
    if (written !== items.length - 1)
      throw new Error(`${written} of ${items.length} flows: ${[...failed.values()][0]}`);
    await takeAway();
    return milliseconds;
  };
  const plain = world.socket(PLAIN_BRIDGE);
  const reference = async (): Promise<number> => {
    const start = performance.now();
    await world.ofctl('-O', 'OpenFlow15', '--bundle', 'add-flows', plain, file);
    const milliseconds = performance.now() - start;
    await world.ofctl('del-flows', plain);
    return milliseconds;
  };
  return await eachRun(async (run) => {
    const samples = await alternate({ rounds: ROUNDS, run, warmUp: 2, signal }, product, reference);
    const [value, compared] = [median(samples.values), median(samples.references)];
    return [benchResult({ name: 'node/flows', value, unit: 'ms', reference: compared, rounds: ROUNDS })];
  });
};

const lineOf = (item: BridgeItem, ports: TestPorts): string => {
  const compiled = compile(item, ports);
  if (compiled.kind !== 'flow') throw new Error(`no flow: ${JSON.stringify(compiled)}`);
  return formatFlow(compiled.flow);
};

/** In the forms in which a network's flows are: what comes from its port, and what comes back to it. */
const flowsOf = (networks: number): BridgeItem[] =>
  Array.from({ length: networks }, (_, index) => index + 1).flatMap((network) => {
    const port = `p${(network % PORTS) + 1}`;
    const [high, low] = [network >> 8, network & 255];
    const masquerade = `169.254.${high}.${low}`;
    const mark = `0x${(network + 1).toString(16)}`;
    const flow = (
      table: number,
      priority: number,
      match: Record<string, string | true>,
      actions: string,
    ): BridgeItem => ({
      bridge: BRIDGE,
      kind: 'flow',
      flow: { table, priority, cookie: COOKIE, match, actions: [actions] },
    });
    return [
      ...Array.from({ length: 10 }, (_, tenth) =>
        flow(
          0,
          500 + tenth,
          { ip: true, nw_src: masquerade, nw_dst: `10.${tenth}.0.0/16` },
          `ct(commit,zone=64000,nat(src=172.20.0.11),exec(set_field:${mark}->ct_mark)),output:1`,
        ),
      ),
      ...Array.from({ length: 10 }, (_, tenth) =>
        flow(1, 100 + tenth, { ip: true, ct_state: '+est+trk', ct_mark: mark, nw_dst: masquerade }, 'output:2'),
      ),
      ...Array.from({ length: 2 }, (_, index_) =>
        flow(
          0,
          300 + index_,
          { ipv6: true, ipv6_src: `fd69::${network.toString(16)}` },
          `set_field:${mark}->reg2,resubmit(,1)`,
        ),
      ),
    ].map((item) => (item.kind === 'flow' ? { ...item, flow: { ...item.flow, inPort: port } } : item));
  });
