/** Programs of an installation that are killed while it is upgraded: their containers are started again, the kubelet by what supervises it. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Sandbox } from '../../../../sandbox/index.ts';
import type { Random } from '../faults/random.ts';
import { note } from '../faults/survive.ts';

/** What the command lines of processes in containers contain. A process of the node's own namespace is seen, too; there is none beside the kubelet. */
const PROCESSES: Readonly<Record<string, string>> = {
  agent: 'dist/udn-agent.mjs',
  'ovsdb-server': '^ovsdb-server /var/lib/openvswitch/conf.db',
  nb: '^ovsdb-server /var/lib/ovn/ovnnb_db.db',
  sb: '^ovsdb-server /var/lib/ovn/ovnsb_db.db',
  'ovs-vswitchd': '^ovs-vswitchd unix:',
  northd: '^ovn-northd --ovnnb-db',
  'ovn-controller': '^ovn-controller unix:',
};

const KILLED = [...Object.keys(PROCESSES), 'kubelet'] as const;

export interface KillOptions {
  readonly nodes: readonly string[];
  readonly random: Random;
  /** Each of them once on some node, then whichever. */
  readonly count: number;
  /** The longest time between two. */
  readonly pauseMs: number;
  /** Ends it before. */
  readonly signal: AbortSignal;
}

/** @returns what was killed, `NODE PROGRAM`, in its order */
export const killAtRandom = async (
  sandbox: Sandbox,
  { nodes, random, count, pauseMs, signal }: KillOptions,
): Promise<readonly string[]> => {
  const killed: string[] = [];
  const left: string[] = [...KILLED];
  while (killed.length < count && !signal.aborted) {
    await pause(pauseMs * (0.3 + 0.7 * random.next()));
    const name = random.pick(left.length > 0 ? left : KILLED);
    const node = random.pick(nodes);
    // One that is being replaced has no process for a moment: then another one has its turn.
    if (!(await killOne(sandbox, node, name))) continue;
    if (left.includes(name)) left.splice(left.indexOf(name), 1);
    killed.push(`${node} ${name}`);
    note(`killed ${node} ${name}`);
  }
  return killed;
};

const killOne = async (sandbox: Sandbox, node: string, name: string): Promise<boolean> => {
  if (name === 'kubelet') {
    return await sandbox.kill(node, name, 'SIGKILL').then(
      () => true,
      () => false,
    );
  }
  const { stdout } = await sandbox.node(node, [
    'sh',
    '-c',
    `pgrep -f -- "$0" | grep -vx $$; true`,
    PROCESSES[name] ?? '',
  ]);
  const pids = stdout
    .trim()
    .split('\n')
    .filter((pid) => pid !== '');
  if (pids.length === 0) return false;
  return await sandbox.node(node, ['kill', '-9', ...pids]).then(
    () => true,
    () => false,
  );
};
