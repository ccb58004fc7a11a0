/** Works on things a few at a time, with what the event loop has to read in between. */
export class Slices<Thing> {
  readonly #size: number;
  readonly #work: (things: readonly Thing[]) => void;
  readonly #waiting: (readonly Thing[])[] = [];
  #isWorking = false;
  #isStopped = false;
  #done: Promise<void> = Promise.resolve();

  constructor(size: number, work: (things: readonly Thing[]) => void) {
    this.#size = size;
    this.#work = work;
  }

  add(things: readonly Thing[]): void {
    this.#waiting.push(things);
    if (this.#isWorking) return;
    this.#isWorking = true;
    this.#done = this.#run();
    // Whoever waits for the end hears of it.
    this.#done.catch(() => undefined);
  }

  /** Nothing is worked on any more. */
  stop(): void {
    this.#isStopped = true;
    this.#waiting.length = 0;
  }

  /** Resolves when nothing is waiting. @throws what the work has thrown; nothing is worked on after that */
  async whenDone(): Promise<void> {
    await this.#done;
  }

  async #run(): Promise<void> {
    for (let things = this.#waiting.shift(); things !== undefined; things = this.#waiting.shift()) {
      for (let at = 0; at < things.length; at += this.#size) {
        await new Promise(setImmediate);
        if (this.#isStopped) return;
        this.#work(things.slice(at, at + this.#size));
      }
    }
    this.#isWorking = false;
  }
}
