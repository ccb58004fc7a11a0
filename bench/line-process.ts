/** A program that is asked through its stdin and answers with lines. It ends when its stdin does. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

export class LineProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #name: string;
  #waiting: (() => void) | undefined;
  #received = Buffer.alloc(0);
  #stderr = '';
  #end: string | undefined;

  constructor(name: string, file: string, args: readonly string[] = []) {
    this.#name = name;
    this.#child = spawn(file, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    this.#child.stdout?.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#waiting?.();
    });
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr += chunk.toString();
    });
    this.#child.stdin?.on('error', () => undefined);
    const end = (how: string): void => {
      this.#end ??= how;
      this.#waiting?.();
    };
    this.#child.once('error', ({ message }) => end(message));
    this.#child.once('close', (code, signal) => end(`it ended with ${signal ?? `status ${code}`}`));
  }

  /** @throws Error when it was not started */
  get pid(): number {
    if (this.#child.pid === undefined) throw new Error(`${this.#name} was not started`);
    return this.#child.pid;
  }

  write(text: string): void {
    this.#child.stdin?.write(text);
  }

  /** The next line without its end. @throws when the program ends instead, with what it said */
  async line(): Promise<string> {
    await this.#until(() => this.#received.includes(NEWLINE));
    const end = this.#received.indexOf(NEWLINE);
    return this.#take(end + 1).toString('utf8', 0, end);
  }

  async bytes(length: number): Promise<Buffer> {
    await this.#until(() => this.#received.length >= length);
    return this.#take(length);
  }

  #take(length: number): Buffer {
    const taken = this.#received.subarray(0, length);
    this.#received = this.#received.subarray(length);
    return taken;
  }

  async #until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      if (this.#end !== undefined) throw new Error(`${this.#name}: ${this.#end}: ${this.#stderr.trim()}`);
      await new Promise<void>((resolve) => {
        this.#waiting = resolve;
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#end !== undefined) return;
    const closed = once(this.#child, 'close');
    this.#child.stdin?.end();
    await closed;
  }
}

const NEWLINE = 0x0a;
