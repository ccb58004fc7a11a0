/** Who changes what is ours, and how often: it is repaired within seconds, so nobody would see it otherwise. */
import type { BackendName } from '../../api/agent-status.ts';
import type { Clock } from '../../base/clock.ts';
import type { Problem } from '../inputs/problem.ts';

export class DriftWatch {
  readonly #clock: Pick<Clock, 'wall'>;
  /** When there were repairs, the oldest first. */
  readonly #repairs = new Map<BackendName, readonly number[]>();

  constructor(clock: Pick<Clock, 'wall'>) {
    this.#clock = clock;
  }

  repaired(backend: BackendName): void {
    this.#repairs.set(backend, [...this.#recent(backend), this.#clock.wall()].slice(-MAX_REMEMBERED));
  }

  /** Only what comes again and again: once or twice, it may have been the agent's own change that came late. */
  problems(node: string): Problem[] {
    return [...this.#repairs.keys()].flatMap((backend): Problem[] => {
      const recent = this.#recent(backend);
      const last = recent.at(-1);
      if (last === undefined || recent.length < MANY) return [];
      const times = `${recent.length === MAX_REMEMBERED ? 'over ' : ''}${recent.length} times`;
      const message = `${NAMES[backend]} of this node was found changed and repaired ${times} in 5 minutes, the last time at ${timeOf(last)}`;
      return [{ object: `Node/${node}`, message, severity: 'warning', cause: 'changed-by-others' }];
    });
  }

  #recent(backend: BackendName): readonly number[] {
    const since = this.#clock.wall() - WINDOW_MS;
    return (this.#repairs.get(backend) ?? []).filter((at) => at > since);
  }
}

const WINDOW_MS = 300_000;
const MANY = 3;
const MAX_REMEMBERED = 100;

const NAMES: Readonly<Record<BackendName, string>> = {
  northbound: 'the northbound database',
  southbound: 'the southbound database',
  openvswitch: 'the Open_vSwitch database',
  openflow: 'the flow table',
  host: 'the network stack',
  nftables: 'nftables',
};

/** `22:26:32Z` */
const timeOf = (at: number): string => new Date(at).toISOString().slice(11, 19).concat('Z');
