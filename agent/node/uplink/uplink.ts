/** Takes the steps, one after the other, as far as that goes without waiting for somebody else. */
import { MAIN_TABLE } from '../../../datapath/netlink/route/types.ts';
import type { UplinkError } from './errors.ts';
import { type Decision, type Memory, stepIn, stepOut, type UplinkInputs } from './next-step.ts';
import type { Bridge, UplinkEffects, UplinkStep, World } from './types.ts';

export type UplinkState =
  | { readonly kind: 'ready'; readonly world: World; readonly memory: Memory | undefined }
  | { readonly kind: 'waiting'; readonly world: World; readonly what: string }
  | { readonly kind: 'absent'; readonly world: World; readonly error: UplinkError };

/** More than any move takes: whoever needs more works against somebody who undoes each step. */
const MAX_STEPS = 20;

export class Uplink {
  readonly #inputs: UplinkInputs;
  readonly #effects: UplinkEffects;
  readonly #onStep: (step: UplinkStep) => void;
  #memory: Memory | undefined;
  /** How many events said that the bridge's interface is down, and how many of these are made good. */
  #downs = 0;
  #restored = 0;

  constructor(inputs: UplinkInputs, effects: UplinkEffects, onStep: (step: UplinkStep) => void = () => {}) {
    this.#inputs = inputs;
    this.#effects = effects;
    this.#onStep = onStep;
  }

  /** Towards a gateway bridge. May be repeated at any time. @throws what a step was refused with */
  settle(signal: AbortSignal): Promise<UplinkState> {
    return this.#run((world, wasDown) => stepIn({ ...this.#inputs, wasDown }, world, this.#memory), signal);
  }

  /** By event: nobody sees afterwards that a link was down for a moment, and what is gone since then is nobody's wish. */
  noteDown(link: string): void {
    if (link === this.#memory?.bridge) this.#downs++;
  }

  /** Changes nothing. */
  async look(signal: AbortSignal): Promise<UplinkState> {
    const world = await this.#effects.observe(new Set([MAIN_TABLE]), signal);
    return { kind: 'ready', world, memory: undefined };
  }

  /** Those that Open vSwitch has, also while the kernel cannot be read. */
  bridges(signal: AbortSignal): Promise<readonly Bridge[]> {
    return this.#effects.readBridges(signal);
  }

  /** Gives the NIC everything back. An adopted bridge stays. @throws what a step was refused with */
  giveBack(signal: AbortSignal): Promise<UplinkState> {
    this.#memory = undefined;
    return this.#run((world) => stepOut(this.#inputs, world), signal);
  }

  async #run(next: (world: World, wasDown: boolean) => Decision, signal: AbortSignal): Promise<UplinkState> {
    let tables = tablesOf(this.#memory);
    for (let steps = 0; ; steps++) {
      const downs = this.#downs;
      const world = await this.#effects.observe(tables, signal);
      const decision = next(world, downs !== this.#restored);
      if (decision.kind === 'settled') {
        this.#restored = downs;
        this.#memory = decision.memory;
        return { kind: 'ready', world, memory: decision.memory };
      }
      if (decision.kind !== 'step') return { ...decision, world };
      if (steps === MAX_STEPS)
        return { kind: 'waiting', world, what: 'another program to stop reverting changes of the uplink' };
      this.#onStep(decision.step);
      await this.#effects.perform(decision.step, world, signal);
      tables = 'all';
    }
  }
}

/** While nothing has to be moved, the tables of the networks need not be read, which are many. */
const tablesOf = (memory: Memory | undefined): ReadonlySet<number> | 'all' =>
  memory === undefined ? 'all' : new Set([MAIN_TABLE, ...memory.record.routes.map(({ table }) => table)]);
