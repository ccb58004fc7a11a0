/** Whether the other side of a connection is still there, judged by how many bytes have come from it at regular times. */

/** How often it is judged: the time, too, that an answer to a ping may take. */
export const SILENCE_TICK_MS = 15_000;

/** Ticks without a byte after which it is asked, 30 to 45 s after the last one, and after which it is gone. */
const ASK = 2;
const GONE = 3;

export interface Silence {
  readonly bytes: number;
  readonly ticks: number;
}

export const silenceAt = (before: Silence, bytes: number): Silence =>
  bytes === before.bytes ? { bytes, ticks: before.ticks + 1 } : { bytes, ticks: 0 };

/** Anything that comes is an answer. */
export const actionOn = ({ ticks }: Silence): 'wait' | 'ping' | 'end' =>
  ticks < ASK ? 'wait' : ticks < GONE ? 'ping' : 'end';
