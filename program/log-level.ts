/** The level of a program's log, which can change while the program runs. */
import { levels } from 'pino';
import type { Clock } from '../base/clock.ts';
import type { LogLevel } from './flags.ts';

export interface LevelState {
  readonly level: LogLevel;
  /** From the command line or the environment: what a restart brings back. */
  readonly configured: LogLevel;
  /** When the configured level comes back by itself, in milliseconds since the epoch. */
  readonly revertsAt?: number;
}

export interface LevelChange {
  readonly level: LogLevel;
  /** Then the configured level comes back; absent: at the next restart. */
  readonly forMs?: number;
}

export type Announce = (change: {
  readonly from: LogLevel;
  readonly to: LogLevel;
  /** Its time is over: nobody asked for it now. */
  readonly isReverted: boolean;
}) => void;

/** Keeps one level for the root of a log and all of its children. */
export class LogLevelControl {
  readonly #configured: LogLevel;
  readonly #clock: Clock;
  #level: LogLevel;
  /** pino's number. Read for every line, so it is looked up once. */
  #threshold: number;
  #reverting: { readonly at: number; readonly cancel: () => void } | undefined;

  constructor(configured: LogLevel, clock: Clock) {
    this.#configured = configured;
    this.#clock = clock;
    this.#level = configured;
    this.#threshold = thresholdOf(configured);
  }

  /** @param level pino's number of a line's level */
  isEnabled(level: number): boolean {
    return level >= this.#threshold;
  }

  state(): LevelState {
    const at = this.#reverting?.at;
    return { level: this.#level, configured: this.#configured, ...(at !== undefined && { revertsAt: at }) };
  }

  /** @param announce logs a change at level info, and is heard whatever the level is before and after */
  set({ level, forMs }: LevelChange, announce: Announce): void {
    this.#reverting?.cancel();
    this.#reverting = undefined;
    this.#change(level, (from, to) => announce({ from, to, isReverted: false }));
    if (forMs === undefined || level === this.#configured) return;
    const cancel = this.#clock.schedule(forMs, () => {
      this.#reverting = undefined;
      this.#change(this.#configured, (from, to) => announce({ from, to, isReverted: true }));
    });
    this.#reverting = { at: this.#clock.wall() + forMs, cancel };
  }

  #change(to: LogLevel, announce: (from: LogLevel, to: LogLevel) => void): void {
    const from = this.#level;
    this.#level = to;
    this.#threshold = Math.min(thresholdOf(to), INFO);
    if (from !== to) announce(from, to);
    this.#threshold = thresholdOf(to);
  }

  /** Nothing reverts any more: the program ends. */
  stop(): void {
    this.#reverting?.cancel();
    this.#reverting = undefined;
  }
}

const thresholdOf = (level: LogLevel): number => levels.values[level] ?? Number.POSITIVE_INFINITY;
const INFO = thresholdOf('info');
