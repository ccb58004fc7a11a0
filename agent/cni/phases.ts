/** Where the time of a call goes. */
export const CNI_PHASES = [
  'addresses',
  'interfaces',
  'ovs-port',
  'ovn-installed',
  'host-isolation',
  'foreign-plugins',
  'total',
] as const;

export type CniPhase = (typeof CNI_PHASES)[number];

export interface CniObservation {
  readonly command: string;
  readonly phase: CniPhase;
  readonly seconds: number;
  readonly failed: boolean;
}

export type ObserveCni = (observation: CniObservation) => void;

/** Times one call. `monotonic` is in milliseconds. */
export class CniTimer {
  readonly #command: string;
  readonly #observe: ObserveCni;
  readonly #monotonic: () => number;

  constructor(command: string, observe: ObserveCni, monotonic: () => number) {
    this.#command = command;
    this.#observe = observe;
    this.#monotonic = monotonic;
  }

  async phase<Result>(phase: CniPhase, work: () => Promise<Result>): Promise<Result> {
    const start = this.#monotonic();
    let failed = true;
    try {
      const result = await work();
      failed = false;
      return result;
    } finally {
      this.#observe({ command: this.#command, phase, seconds: (this.#monotonic() - start) / 1000, failed });
    }
  }
}
