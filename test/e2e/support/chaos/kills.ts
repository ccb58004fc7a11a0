/** What is killed, and where. */
import type { KillableName, Sandbox } from '../../../../sandbox/index.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';
import type { Random } from '../faults/random.ts';
import type { Kill } from './losses.ts';

const CONTROL_PLANE = 'control-plane';
const OF_CONTROL_PLANE: readonly KillableName[] = ['api', 'cluster-manager'];
const DAEMONS: readonly KillableName[] = ['ovsdb-server', 'nb', 'sb', 'northd', 'ovn-controller', 'ovs-vswitchd'];

/** Kind → the programs that are killed at once, with signal 9. */
export const KINDS: ReadonlyMap<string, readonly KillableName[]> = new Map([
  ...[...DAEMONS, 'agent' as const, ...OF_CONTROL_PLANE].map((name) => [name, [name]] as const),
  ['all of OVS and OVN', DAEMONS],
]);

/**
 * The longest outage of any stream, in milliseconds, while nothing else wants the processors. Each program
 * more makes it longer (`watchCrowding`).
 */
const BOUNDS: Readonly<Record<string, number>> = { 'ovs-vswitchd': 1_000, 'all of OVS and OVN': 1_500 };
const OTHER_BOUND = 500;

export const boundOf = (kind: string, crowding: number): number => (BOUNDS[kind] ?? OTHER_BOUND) * crowding;

export const killOne = async (
  sandbox: Sandbox,
  { kind, nodes, random }: { readonly kind: string; readonly nodes: readonly string[]; readonly random: Random },
): Promise<Kill> => {
  const programs = KINDS.get(kind) ?? [];
  const place = programs.some((name) => OF_CONTROL_PLANE.includes(name)) ? CONTROL_PLANE : random.pick(nodes);
  const at = Date.now();
  // One that has just been started has no process yet.
  await Promise.all(programs.map((name) => eventually(() => sandbox.kill(place, name, 'SIGKILL'))));
  return { kind, at };
};

/** Every kind once, in any order, and then whichever. */
export function* kindsInAnyOrder(random: Random): Generator<string, never> {
  const left = [...KINDS.keys()];
  while (left.length > 0) {
    const kind = random.pick(left);
    left.splice(left.indexOf(kind), 1);
    yield kind;
  }
  for (;;) yield random.pick([...KINDS.keys()]);
}
