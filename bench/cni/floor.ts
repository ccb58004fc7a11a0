/** `native/floor.c` on a node. */
import { basename } from 'node:path';
import { NB_SOCKET, OVS_SOCKET } from '../../sandbox/plan/daemons.ts';
import { LineProcess } from '../line-process.ts';
import { nativeProgram } from '../native.ts';
import type { BenchNode } from '../node/bench-node.ts';

export class Floor implements AsyncDisposable {
  readonly #process: LineProcess;

  private constructor(process: LineProcess) {
    this.#process = process;
  }

  /** One process for all that is measured, connected before. */
  static async start(node: BenchNode): Promise<Floor> {
    const process = new LineProcess(
      'floor',
      ...node.enter([`/opt/ovn-udn/build/bench/${basename(nativeProgram('floor'))}`, OVS_SOCKET, NB_SOCKET]),
    );
    const floor = new Floor(process);
    await process.line();
    return floor;
  }

  /** @returns milliseconds */
  async play(script: readonly string[]): Promise<number> {
    this.#process.write(`${script.join('\n')}\ngo\n`);
    const [status, nanoseconds] = (await this.#process.line()).split(' ');
    if (status !== 'ok') throw new Error(`floor: ${status}`);
    return Number(nanoseconds) / 1e6;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#process[Symbol.asyncDispose]();
  }
}
