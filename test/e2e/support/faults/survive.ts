/** Pods come and go while programs are killed. */
import { expect } from 'vitest';
import { CommandError } from '../../../../datapath/exec/errors.ts';
import type { KillableName, ManifestObject, Objects, Sandbox } from '../../../../sandbox/index.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';
import { layer2, layer3, namespace, plainNamespace, pod } from '../cluster/manifests.ts';
import { plantForeign, readForeign } from '../state/foreign.ts';
import { untilNothingLeaks } from './leaks.ts';
import { requireReachability } from './reachability.ts';

export const NODES = ['node-1', 'node-2'] as const;
const CONTROL_PLANE = 'control-plane';
/** From the kill on, until pods that were asked for around it are Ready. */
const RECOVERY_MS = 15_000;
const PACKETS = 50;
/** A quarter of a second. It takes more to render and write everything again; a machine that is busy loses some, too. */
const MAX_LOST = 5;

export interface Survival {
  /**
   * Kills programs, with signal 9, on both nodes, while pods are added, and again while they are deleted.
   * @param traffic whether packets of pods that were there before must go on without an outage
   */
  survive(programs: readonly KillableName[], traffic: 'goes on' | 'may pause'): Promise<void>;
  /** @throws when something that somebody else made is not as it was */
  requireForeignUntouched(): Promise<void>;
}

/** Networks of every kind with a pod on each node, which stay, and things of others on every node. */
export const prepareSurvival = async (sandbox: Sandbox): Promise<Survival> => {
  const objects = await sandbox.objects();
  await objects.apply([
    namespace('red'),
    layer3('red', 'net', ['10.60.0.0/16/24', 'fd00:60::/48/64']),
    namespace('green'),
    layer2('green', 'net', ['10.61.0.0/16', 'fd00:61::/64']),
    plainNamespace('plain'),
    ...podsNamed('old'),
  ]);
  await untilReady(objects, podsNamed('old'));
  await requireReachability(sandbox, 3);
  for (const node of NODES) await plantForeign(sandbox, node, `red_net_${node}`);
  const readAll = (): Promise<unknown[]> => Promise.all(NODES.map((node) => readForeign(sandbox, node)));
  const foreign = await readAll();
  let round = 0;
  return {
    survive: async (programs, traffic) => {
      round += 1;
      await survive(sandbox, objects, { round, programs, traffic });
    },
    requireForeignUntouched: async () => expect(await readAll()).toEqual(foreign),
  };
};

interface Fault {
  readonly round: number;
  readonly programs: readonly KillableName[];
  readonly traffic: 'goes on' | 'may pause';
}

const survive = async (sandbox: Sandbox, objects: Objects, { round, programs, traffic }: Fault): Promise<void> => {
  const before = podsNamed(`before-${round}`);
  const after = podsNamed(`after-${round}`);
  const all = [...before, ...after];
  const stream = startStream(sandbox, objects);
  try {
    await objects.apply(before);
    await killAll(sandbox, programs);
    const start = performance.now();
    await insist(() => objects.apply(after));
    await insist(() => untilReady(objects, all));
    const milliseconds = performance.now() - start;
    const lost = await stream;
    note(`${programs.join(', ')}: ready after ${milliseconds.toFixed(0)} ms, ${lost} of ${PACKETS} packets lost`);
    expect(milliseconds).toBeLessThan(RECOVERY_MS);
    if (traffic === 'goes on') expect(lost).toBeLessThanOrEqual(MAX_LOST);
    await requireReachability(sandbox, 3);
  } finally {
    await stream;
    const gone = insist(() => objects.delete(all));
    await killAll(sandbox, programs);
    await gone;
  }
  await untilNothingLeaks(sandbox);
};

/** One of each network on each node. */
const podsNamed = (name: string): ManifestObject[] =>
  NODES.flatMap((node) =>
    ['red', 'green', 'plain'].map((inNamespace) => pod(inNamespace, `${inNamespace}-${node}-${name}`, node)),
  );

const untilReady = async (objects: Objects, pods: readonly ManifestObject[]): Promise<void> => {
  await Promise.all(
    pods.map(({ metadata }) =>
      objects.wait('pod', `${metadata.namespace}/${metadata.name}`, 'ready', { timeoutSeconds: 30 }),
    ),
  );
};

/** Packets from node to node while the programs are killed, and for two seconds from then on. @returns how many are lost */
const startStream = async (sandbox: Sandbox, objects: Objects): Promise<number> => {
  const { metadata } = await objects.get('pod', 'red/red-node-2-old');
  const networks = JSON.parse(metadata.annotations?.['k8s.ovn.org/pod-networks'] ?? '{}');
  const address = String(networks['red/net']?.ip_addresses?.[0]).split('/')[0] ?? '';
  const ping = ['ping', `-c${PACKETS}`, '-i0.05', '-W1', address];
  const output = await sandbox.exec('red/red-node-1-old', ping).catch((error: unknown) => {
    // Its exit status says that no answer came, or not all.
    if (error instanceof CommandError) return error;
    throw error;
  });
  const [, sent, received] = /(\d+) packets transmitted, (\d+) (?:packets )?received/.exec(output.stdout) ?? [];
  return Number(sent) - Number(received);
};

/** The API server may be the one that was killed. */
const insist = <T>(work: () => Promise<T>): Promise<T> => eventually(work, 10_000);

const killAll = async (sandbox: Sandbox, programs: readonly KillableName[]): Promise<void> => {
  const places = (program: KillableName): readonly string[] =>
    program === 'api' || program === 'cluster-manager' ? [CONTROL_PLANE] : NODES;
  await Promise.all(
    programs.flatMap((program) =>
      places(program).map((place) => eventually(() => sandbox.kill(place, program, 'SIGKILL'))),
    ),
  );
};

/** Numbers for people, on request. */
export const note = (text: string): void => {
  if (process.env['UDN_VERBOSE'] !== undefined) process.stderr.write(`${text}\n`);
};
