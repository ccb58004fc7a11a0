/** A program that is started again whenever it ends, until it is stopped. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { type Clock, systemClock } from '../../base/clock.ts';
import type { CommandLine } from '../machine/types.ts';

export interface ServiceSpec {
  readonly name: string;
  /** With `--report-pid 3` (EnterOptions) when the process to be signalled is not the one that is started. */
  readonly command: CommandLine;
  /** Gets stdout and stderr, and a line for each end. */
  readonly log: string;
  /** Called after every start, the first one too. */
  readonly onStart?: () => void;
  readonly clock?: Clock;
}

export interface ServiceStatus {
  readonly name: string;
  readonly state: 'running' | 'waiting' | 'stopped';
  /** Of the program itself. */
  readonly pid: number | undefined;
  /** How often it was started again. */
  readonly restarts: number;
  /** How it last ended, for people. */
  readonly lastEnd: string | undefined;
}

export interface Service {
  readonly name: string;
  readonly log: string;
  status(): ServiceStatus;
  /**
   * Sends a signal to the program. False when it does not run at the moment. An end that follows was asked for: it is no
   * failure, and the program is started again at once.
   */
  kill(signal: NodeJS.Signals | number): boolean;
  /** Resolves when the program has ended for the first time, with how. */
  readonly firstEnd: Promise<string>;
  /** Ends it at once, as a power cut does; it is not started again before `release`. Resolves when it is gone. */
  hold(): Promise<void>;
  /** Starts what is held. */
  release(): void;
  /** Not started again from now on. Does not end it. */
  abandon(): void;
  /** Ends it: SIGTERM, and SIGKILL after `graceMs`. Resolves when it is gone. */
  stop(graceMs?: number): Promise<void>;
}

const MIN_DELAY_MS = 100;
const MAX_DELAY_MS = 5_000;
/** After so long a run the next failure is taken for the first. */
const HEALTHY_MS = 10_000;
const GRACE_MS = 5_000;
/** The file descriptor of the `--report-pid` of EnterOptions. */
export const REPORT_FD = 3;

export const startService = (spec: ServiceSpec): Service => new RunningService(spec);

class RunningService implements Service {
  readonly name: string;
  readonly log: string;
  readonly firstEnd: Promise<string>;
  readonly #spec: ServiceSpec;
  readonly #clock: Clock;
  readonly #ends = new EventTarget();
  #child: ChildProcess | undefined;
  #pid: number | undefined;
  #restarts = 0;
  #failures = 0;
  #lastEnd: string | undefined;
  #isAbandoned = false;
  #isAsked = false;
  #isHeld = false;
  #cancelRestart: () => void = () => {};

  constructor(spec: ServiceSpec) {
    this.name = spec.name;
    this.log = spec.log;
    this.#spec = spec;
    this.#clock = spec.clock ?? systemClock;
    this.firstEnd = this.#nextEnd();
    this.#start();
  }

  status(): ServiceStatus {
    const state = this.#child !== undefined ? 'running' : this.#isAbandoned ? 'stopped' : 'waiting';
    return { name: this.name, state, pid: this.#pid, restarts: this.#restarts, lastEnd: this.#lastEnd };
  }

  kill(signal: NodeJS.Signals | number): boolean {
    if (this.#pid === undefined) return false;
    this.#isAsked = true;
    return process.kill(this.#pid, signal);
  }

  async hold(): Promise<void> {
    this.#isHeld = true;
    this.#cancelRestart();
    if (this.#child === undefined) return;
    const end = this.#nextEnd();
    // What was entered into a machine ends with what entered it.
    this.#child.kill('SIGKILL');
    await end;
  }

  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    if (this.#isAbandoned || this.#child !== undefined) return;
    this.#failures = 0;
    this.#restarts++;
    this.#start();
  }

  abandon(): void {
    this.#isAbandoned = true;
    this.#cancelRestart();
  }

  async stop(graceMs = GRACE_MS): Promise<void> {
    this.abandon();
    if (this.#child === undefined) return;
    const end = this.#nextEnd();
    this.#child.kill('SIGTERM');
    const cancel = this.#clock.schedule(graceMs, () => this.#child?.kill('SIGKILL'));
    await end;
    cancel();
  }

  #nextEnd(): Promise<string> {
    return new Promise((resolve) =>
      this.#ends.addEventListener('end', () => resolve(this.#lastEnd ?? ''), { once: true }),
    );
  }

  #start(): void {
    const { command } = this.#spec;
    const startedAt = this.#clock.monotonic();
    const log = openSync(this.log, 'a');
    const child = spawn(command.file, command.args, { stdio: ['ignore', log, log, 'pipe'] });
    closeSync(log);
    this.#child = child;
    this.#readPid(child);
    child.once('error', (error) => this.#ended(startedAt, `could not be started: ${error.message}`));
    child.once('exit', (code, signal) =>
      this.#ended(startedAt, signal === null ? `status ${code}` : `signal ${signal}`),
    );
    this.#spec.onStart?.();
  }

  /** A program that is not entered into a machine reports no pid: then it is the started process itself. */
  #readPid(child: ChildProcess): void {
    const report = child.stdio[REPORT_FD] as Readable;
    let text = '';
    report.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    report.on('error', () => {});
    report.on('close', () => {
      if (this.#child === child) this.#pid = text === '' ? child.pid : Number(text);
    });
  }

  #ended(startedAt: number, how: string): void {
    if (this.#child === undefined) return;
    this.#child = undefined;
    this.#pid = undefined;
    this.#lastEnd = how;
    if (!this.#isAbandoned) this.#note(how);
    if (this.#isAsked || this.#clock.monotonic() - startedAt >= HEALTHY_MS) this.#failures = 0;
    this.#isAsked = false;
    if (!this.#isAbandoned && !this.#isHeld) {
      const delay = Math.min(MAX_DELAY_MS, MIN_DELAY_MS * 2 ** this.#failures);
      this.#failures++;
      this.#cancelRestart = this.#clock.schedule(delay, () => {
        this.#restarts++;
        this.#start();
      });
    }
    this.#ends.dispatchEvent(new Event('end'));
  }

  #note(how: string): void {
    const log = openSync(this.log, 'a');
    writeSync(log, `${new Date(this.#clock.wall()).toISOString()} ${this.name} ended: ${how}\n`);
    closeSync(log);
  }
}
