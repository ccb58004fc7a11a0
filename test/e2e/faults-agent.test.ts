/** The agent is killed at random moments of ADD and DEL. Needs root and `make build`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { messageOf } from '../../base/error-message.ts';
import { PODS } from '../../kube/resources.ts';
import type { ManifestObject, Objects, Sandbox } from '../../sandbox/index.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { networkRendering, startCluster } from './support/cluster/cluster.ts';
import { layer2, layer3, namespace, plainNamespace, pod } from './support/cluster/manifests.ts';
import { untilNothingLeaks } from './support/faults/leaks.ts';
import { createRandom, type Random } from './support/faults/random.ts';
import { requireReachability } from './support/faults/reachability.ts';
import { callShim } from './support/faults/shim.ts';
import { plantForeign, readForeign } from './support/state/foreign.ts';
import { idsOf, isOurs, keyOf, readNodeState } from './support/state/node-state.ts';

const NODES = ['node-1', 'node-2'] as const;
const KILLS = 24 * Number(process.env['UDN_REPEAT'] ?? 1);
/** An ADD takes about 100 ms from the pod's creation on. */
const MAX_DELAY_MS = 200;
/** Every second kill comes so soon after a link has come or gone, in the middle of ADD or DEL. */
const MAX_DELAY_AFTER_CHANGE_MS = 10;
const POD_NAMES = 4;
/** Of a machine that does ten other things, on which an agent takes half a minute to start. */
const PATIENCE_MS = 60_000;
/** One on each node: what others put into the network's switches is there as long as the network is. */
const STAYING = NODES.map((node) => `red/${node}-stays`);

let sandbox: Sandbox;
let objects: Objects;

beforeAll(async () => {
  sandbox = await startCluster({ name: 'test-faults-agent' });
  objects = await sandbox.objects();
  // Small, so that addresses that are not given back are soon missed: 13 for each node, and 13 for both.
  await objects.apply([
    namespace('red'),
    layer3('red', 'net', ['10.60.0.0/24/28', 'fd00:60::/56/64']),
    namespace('green'),
    layer2('green', 'net', ['10.61.0.0/28', 'fd00:61::/124']),
    plainNamespace('plain'),
  ]);
  await Promise.all(['red', 'green'].map((name) => objects.wait('udn', `${name}/net`, 'condition=NetworkCreated')));
});
afterAll(() => sandbox?.down());

/** Pods of one node that are requested, in a script of random creations and deletions. */
class Churn {
  readonly #node: string;
  readonly #random: Random;
  readonly #desired = new Map<string, ManifestObject>();

  constructor(node: string, random: Random) {
    this.#node = node;
    this.#random = random;
  }

  get desired(): readonly string[] {
    return [...this.#desired.keys()];
  }

  /** Starts an ADD or a DEL by way of the kubelet. @returns what it did */
  async step(): Promise<string> {
    const inNamespace = this.#random.pick(['red', 'green', 'plain']);
    const name = `${inNamespace}-${this.#node}-${this.#random.pick([...Array(POD_NAMES).keys()])}`;
    const key = `${inNamespace}/${name}`;
    const manifest = this.#desired.get(key) ?? pod(inNamespace, name, this.#node);
    const client = await sandbox.client();
    if (this.#desired.delete(key)) {
      await client.delete(PODS, { namespace: inNamespace, name });
      return `deleted ${key}`;
    }
    // One of this name may still be leaving: then this is a round without a change.
    const isThere = await objects.get('pod', key).then(
      () => true,
      () => false,
    );
    if (isThere) return `found ${key} leaving`;
    await objects.apply([manifest]);
    this.#desired.set(key, manifest);
    return `created ${key}`;
  }
}

const untilAgentServes = (node: string): Promise<void> =>
  eventually(async () => {
    const { status, body } = await callShim(sandbox, node, { command: 'STATUS' });
    expect(status, body.msg).toBe(0);
  }, PATIENCE_MS);

/** Resolves when a link of the node has come or gone, or after about half a second. */
const linkChange = async (node: string): Promise<void> => {
  const names = 'ls /sys/class/net';
  const script = `b=$(${names}); i=0; while [ "$(${names})" = "$b" ] && [ $i -lt 300 ]; do i=$((i+1)); done`;
  await sandbox.node(node, ['sh', '-c', script]);
};

const killAgent = (node: string): Promise<void> => eventually(() => sandbox.kill(node, 'agent', 'SIGKILL'));

/** Pods that were deleted last may still be leaving, and nobody can ask in them who they reach. */
const untilGone = (desired: readonly string[]): Promise<void> =>
  eventually(async () => {
    const there = (await objects.list('pods')).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    expect(there.sort()).toEqual([...desired, ...STAYING].sort());
  }, PATIENCE_MS);

/** Northbound rows that are ours, by table and key, and how many members their sets have. */
const ownedRows = async (node: string): Promise<string[]> => {
  const { northbound } = await readNodeState(sandbox, node);
  return [...northbound]
    .flatMap(([table, rows]) => rows.map((row) => ({ table, row })))
    .filter(({ row }) => isOurs(row))
    .map(({ table, row }) => `${table} ${keyOf(row)} ${[row['addresses'] ?? []].flat().length}`)
    .sort();
};

/** How far the ADD or DEL was that the kill has cut off, as the node shows it. */
const cutOffAt = async (node: string): Promise<string> => {
  const { links, openvswitch, sandboxes } = await readNodeState(sandbox, node);
  const ports = (openvswitch.get('Interface') ?? []).filter((row) => isOurs(row));
  const ours = links.filter(({ group }) => group === '7693422');
  if (links.some(({ group }) => group === '7693423')) return 'links dying';
  if (ours.some(({ alias }) => alias === undefined)) return 'links without alias';
  if (ours.length > ports.length) return 'links without port';
  if (ours.length < ports.length) return 'ports without link';
  if (ports.some((row) => idsOf(row)['ovn-installed'] !== 'true')) return 'ports not installed';
  const adding = sandboxes.filter(({ phase }) => phase === 'adding');
  if (adding.some(({ id }) => ports.some((row) => idsOf(row)['sandbox'] === id))) return 'ports there, no answer yet';
  return adding.length > 0 ? 'no links yet' : 'quiet';
};

const random = createRandom();

describe(`the agent, killed ${KILLS} times at random moments of ADD and DEL (UDN_SEED=${random.seed})`, () => {
  const churns = NODES.map((node, index) => new Churn(node, createRandom(random.seed + index)));
  const script: string[] = [];
  const points = new Map<string, number>();
  let rowsBefore: string[][];
  let foreign: unknown[];

  it(
    'comes back each time',
    async () => {
      await objects.apply(STAYING.map((key, index) => pod('red', key.split('/')[1] ?? '', NODES[index] ?? '')));
      await Promise.all(STAYING.map((key) => objects.wait('pod', key, 'ready')));
      rowsBefore = await eventually(async () => {
        const rows = await Promise.all(NODES.map(ownedRows));
        const have = (name: string): boolean[] =>
          rows.map((own) => own.includes(`Logical_Switch Logical_Switch/${name} 0`));
        expect(have('red_net_transit_switch')).toEqual([true, true]);
        // On demand it comes and goes with its pods.
        const isThere = networkRendering() !== 'on-demand';
        expect(have('green_net_ovn_layer2_switch')).toEqual([isThere, isThere]);
        // The nodes are alike, so they have equally many when both know everything.
        expect(rows[0]?.length).toBe(rows[1]?.length);
        return rows;
      });
      for (const node of NODES) await plantForeign(sandbox, node, `red_net_${node}`);
      foreign = await Promise.all(NODES.map((node) => readForeign(sandbox, node)));
      await Promise.all(
        NODES.map(async (node, index) => {
          const churn = churns[index];
          for (let round = 0; round < KILLS / NODES.length; round++) {
            await untilAgentServes(node);
            const isTriggered = round % 2 === 0;
            const change = isTriggered ? linkChange(node) : Promise.resolve();
            const step = await churn?.step();
            await change;
            const delay = Math.round(random.next() * (isTriggered ? MAX_DELAY_AFTER_CHANGE_MS : MAX_DELAY_MS));
            await new Promise((resolve) => setTimeout(resolve, delay));
            await killAgent(node);
            const point = await cutOffAt(node);
            points.set(point, (points.get(point) ?? 0) + 1);
            const since = isTriggered ? 'after a link came or went' : 'later';
            script.push(`${node}: ${step}, killed ${delay} ms ${since}: ${point}`);
          }
        }),
      );
    },
    60_000 + 6_000 * KILLS,
  );

  it('and every pod works, and nothing else is there', async () => {
    const context = `UDN_SEED=${random.seed}\n${script.join('\n')}`;
    const start = performance.now();
    try {
      await Promise.all(churns.flatMap(({ desired }) => desired).map((key) => objects.wait('pod', key, 'ready')));
      const ready = performance.now() - start;
      await untilGone(churns.flatMap(({ desired }) => desired));
      await untilNothingLeaks(sandbox);
      const clean = performance.now() - start;
      const probes = await requireReachability(sandbox);
      expect(probes).toBeGreaterThan(0);
      if (process.env['UDN_VERBOSE'] !== undefined)
        process.stderr.write(`${JSON.stringify({ points: [...points], ready, clean, probes })}\n`);
    } catch (error) {
      throw new Error(`${messageOf(error)}\n${context}`, { cause: error });
    }
  }, 180_000);

  it('what others made is untouched', async () => {
    expect(await Promise.all(NODES.map((node) => readForeign(sandbox, node)))).toEqual(foreign);
  });

  it('and when these pods are deleted, nothing of them is left', async () => {
    const pods = (await objects.list('pods')).map(({ metadata }) => pod(metadata.namespace ?? '', metadata.name, ''));
    await objects.delete(pods.filter(({ metadata }) => !STAYING.includes(`${metadata.namespace}/${metadata.name}`)));
    await untilNothingLeaks(sandbox);
    await eventually(async () => expect(await Promise.all(NODES.map(ownedRows))).toEqual(rowsBefore));
    expect(await Promise.all(NODES.map((node) => readForeign(sandbox, node)))).toEqual(foreign);
  });
});
