/** What `bench/native/forward.c` has measured. Pure. */

export interface Measurement {
  /** The time of a packet, one for each batch of them, in microseconds. */
  readonly packets: readonly number[];
  /** Of packets that waited for the one before to come back, in microseconds. */
  readonly roundTrips: readonly number[];
}

/** Of packets. With more lost ones, what was measured is not how fast they are forwarded. */
const LARGEST_LOSS = 0.01;

/** @throws Error when packets were lost, or when it is no output of the program */
export const parseMeasurement = (text: string): Measurement => {
  const [load = [], batches = [], roundTrips = []] = text.split('\n').map(numbers);
  const [sent = 0, arrived = 0] = load;
  const perBatch = sent / batches.length;
  if (!(perBatch >= 1) || roundTrips.length === 0) throw new Error(`not what forward.c prints: ${text.slice(0, 200)}`);
  if (arrived < sent * (1 - LARGEST_LOSS)) throw new Error(`of ${sent} packets only ${arrived} arrived`);
  return {
    packets: batches.map((nanoseconds) => nanoseconds / perBatch / 1000),
    roundTrips: roundTrips.map((nanoseconds) => nanoseconds / 1000),
  };
};

const numbers = (line: string): number[] =>
  line
    .split(' ')
    .filter((word) => word !== '')
    .map(Number);
