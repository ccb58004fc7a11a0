/**
 * Looks at what the node's networks need beside the agent, by the numbers that daemons write and not by their processes: one that
 * is there and does nothing is found, too. No event says that nothing happens, so a number is raised once in a while, ovn-nb(5)
 * `nb_cfg`, and who does not follow has stopped. A look costs four small requests on the node.
 */
import type { Clock } from '../../base/clock.ts';
import { errorOf } from '../../base/error-message.ts';
import { COMPONENTS, type Component, type ComponentHealth, type TimedHealth } from './component.ts';
import { InEffect } from './in-effect.ts';
import { type Answer, judge, type Registration } from './judge.ts';
import { type Behind, isStalled, Lag } from './lag.ts';
import type { NodeView, SouthboundNumbers } from './node-view.ts';

export interface HealthWatchOptions {
  readonly view: NodeView;
  readonly clock: Clock;
  /** What is known without asking, of components that the view does not have. */
  readonly others: () => readonly ComponentHealth[];
  /** Components whose state or message has changed. */
  readonly onChange: (changed: readonly TimedHealth[]) => void;
}

/**
 * Between the starts of two looks. A stopped daemon owes nothing until the next raise, the second look; what ovn-controller owes is
 * read one look after that, and lasts seven seconds (lag.ts), which is five looks: eight looks in all, 12 s. ADR 83.
 */
const LOOK_MS = 1_500;
/** Where a look takes longer. */
const MIN_PAUSE_MS = 1_000;
/** Every second look raises the number. */
const LOOKS_PER_RAISE = 2;
/** Who does not answer a look for so long has not answered it; twice, and it has failed. */
const ANSWER_MS = 4_000;
const PATIENCE = 2;
/**
 * An agent that is new on its node has configured ovn-controller a moment ago. Failed already, it would taint the node, and the first pods
 * would wait for the taint to go.
 */
const REGISTRATION_MS = 5_000;

export class HealthWatch {
  readonly #options: HealthWatchOptions;
  readonly #stop = new AbortController();
  readonly #health: Map<Component, TimedHealth>;
  readonly #effect = new InEffect();
  readonly #northd = new Lag();
  readonly #controller = new Lag();
  readonly #switchWrites = new Lag();
  readonly #silences = new Map<string, number>();
  readonly #answers = new Map<string, Answer<object>>();
  #registration: Registration | undefined;
  /** By which name the row of this node was looked for last. */
  #chassis: string | undefined;
  #otherName: string | undefined;
  /** Since when the row of this node, which was never there by this name, is waited for. */
  #awaitedSince: number | undefined;
  #looks = 0;
  #cancel = (): void => undefined;

  constructor(options: HealthWatchOptions) {
    this.#options = options;
    const since = options.clock.wall();
    this.#health = new Map(
      COMPONENTS.map((component) => [component, { component, state: 'unknown', message: 'not checked yet', since }]),
    );
  }

  start(): void {
    void this.#lookAgain();
  }

  stop(): void {
    this.#stop.abort();
    this.#cancel();
  }

  /** All components, those that others need first. */
  components(): readonly TimedHealth[] {
    return [...this.#health.values()];
  }

  /** By the monotonic clock: what was in the northbound database by then has its flows here. Undefined: nothing is known yet. */
  inEffectUntil(): number | undefined {
    return this.#effect.until;
  }

  async #lookAgain(): Promise<void> {
    const { clock } = this.#options;
    const startedAt = clock.monotonic();
    await this.#look();
    if (this.#stop.signal.aborted) return;
    const pause = Math.max(startedAt + LOOK_MS - clock.monotonic(), MIN_PAUSE_MS);
    this.#cancel = clock.schedule(pause, () => void this.#lookAgain());
  }

  async #look(): Promise<void> {
    const { view, clock } = this.#options;
    const isRaised = this.#looks++ % LOOKS_PER_RAISE === 0;
    const startedAt = clock.monotonic();
    const [northbound, southbound, openvswitch] = await Promise.all([
      this.#ask('northbound', (signal) => view.northbound(isRaised, signal)),
      this.#ask('southbound', (signal) => view.southbound(signal)),
      this.#ask('openvswitch', (signal) => view.openvswitch(signal)),
      this.#ask('vswitchd', (signal) => view.vswitchd(signal)),
    ]);
    if (isRaised && northbound !== undefined) this.#effect.raised(northbound.asked, startedAt);
    if (southbound?.controller !== undefined) this.#effect.reached(southbound.controller);
    const now = clock.monotonic();
    const northd = this.#northd.follow(northbound?.asked, northbound?.northd, now);
    const controller = this.#controller.follow(southbound?.asked, southbound?.controller, now);
    const writes = this.#switchWrites.follow(southbound?.controller, openvswitch?.controller, now);
    if (southbound !== undefined) {
      this.#registration = this.#registrationOf(southbound, now);
      this.#otherName = southbound.otherName;
    }
    const answers = this.#answers;
    const health = judge({
      northbound: answers.get('northbound'),
      southbound: answers.get('southbound'),
      openvswitch: answers.get('openvswitch'),
      vswitchd: answers.get('vswitchd'),
      northd,
      controller,
      unproven: { northd: this.#northd.isUnproven, controller: this.#controller.isUnproven },
      registration: this.#registration,
      otherName: this.#otherName,
      southboundWrites: await this.#tryWrite(northd, southbound, (signal) => view.writeSouthbound(signal)),
      openvswitchWrites: await this.#tryWrite(writes, openvswitch, (signal) => view.writeOpenvswitch(signal)),
    });
    if (!this.#stop.signal.aborted) this.#see([...health, ...this.#options.others()]);
  }

  #registrationOf({ controller, chassis }: SouthboundNumbers, now: number): Registration {
    const isRenamed = chassis !== this.#chassis;
    this.#chassis = chassis;
    if (chassis === undefined) return 'nameless';
    if (controller !== undefined) return 'there';
    if (isRenamed) this.#awaitedSince = now;
    else if (this.#registration === 'there' || this.#registration === 'missing') return 'missing';
    this.#awaitedSince ??= now;
    return now - this.#awaitedSince < REGISTRATION_MS ? 'awaited' : 'missing';
  }

  /** @returns undefined: it did not answer this time */
  async #ask<T extends object>(name: string, ask: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    const answer = await this.#inTime(ask);
    if (!(answer instanceof Error)) {
      this.#silences.delete(name);
      this.#answers.set(name, answer);
      return answer;
    }
    const silences = (this.#silences.get(name) ?? 0) + 1;
    this.#silences.set(name, silences);
    if (silences >= PATIENCE) this.#answers.set(name, answer);
    return undefined;
  }

  /** Asked only of a database of which somebody owes something: the daemon may have stopped, or the disk be full. */
  async #tryWrite(
    behind: Behind,
    isThere: object | undefined,
    write: (signal: AbortSignal) => Promise<void>,
  ): Promise<Error | undefined> {
    if (!isStalled(behind) || isThere === undefined) return undefined;
    const answer = await this.#inTime(async (signal) => {
      await write(signal);
      return {};
    });
    return answer instanceof Error ? answer : undefined;
  }

  async #inTime<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T | Error> {
    const late = new AbortController();
    // What came while this process was busy is read first.
    const cancel = this.#options.clock.schedule(ANSWER_MS, () => setImmediate(() => late.abort(NO_ANSWER)));
    try {
      return await ask(AbortSignal.any([late.signal, this.#stop.signal]));
    } catch (error) {
      return late.signal.aborted ? NO_ANSWER : errorOf(error);
    } finally {
      cancel();
    }
  }

  #see(seen: readonly ComponentHealth[]): void {
    const changed = seen.flatMap((one): TimedHealth[] => {
      const before = this.#health.get(one.component);
      if (before?.state === one.state && before.message === one.message) return [];
      const since = before?.state === one.state ? before.since : this.#options.clock.wall();
      return [{ ...one, since }];
    });
    for (const one of changed) this.#health.set(one.component, one);
    if (changed.length > 0) this.#options.onChange(changed);
  }
}

const NO_ANSWER = new Error(`no answer within ${ANSWER_MS / 1_000} s`);
