/** Captures at several hops at once, until the time is over, each has its packets, or the user ends it. */
import { createReadStream } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/error-message.ts';
import { CommandError } from '../../datapath/exec/errors.ts';
import type { CommandRunner } from '../../datapath/exec/types.ts';
import type { Hop, MissedHop } from './hops.ts';
import { countPackets } from './pcap.ts';
import { captureCommand, droppedIn, isListening, type Limits } from './tcpdump.ts';

export interface CapturedHop extends Hop {
  readonly packets: number;
  /** ISO 8601, by the clock of the node; absent: no packet. */
  readonly first?: string;
  readonly last?: string;
  /** In the folder. */
  readonly file: string;
  /** Packets that the kernel had no room for. */
  readonly dropped: number;
  /** Why it ended before the others. */
  readonly failure?: string;
}

export interface Capture {
  readonly captured: readonly CapturedHop[];
  readonly missed: readonly MissedHop[];
}

export interface CaptureEdges {
  readonly runner: Pick<CommandRunner, 'lines'>;
  readonly clock: Clock;
  /** Where the files are written. */
  readonly folder: string;
  /** The user ends it; what was captured stays. */
  readonly signal: AbortSignal;
  /** All that can listen do. @param count how many */
  readonly onListening: (count: number) => void;
}

/** The time runs from when every hop listens, so that one packet can be seen at all of them. */
export const capture = async (hops: readonly Hop[], limits: Limits, edges: CaptureEdges): Promise<Capture> => {
  const { clock, signal, onListening } = edges;
  const ending = new AbortController();
  const until = AbortSignal.any([signal, ending.signal]);
  const running = hops.map((hop, index) => startHop(hop, fileNameOf(hop, index), limits, { ...edges, signal: until }));
  const listening = Promise.all(running.map(({ isListening: listens }) => listens));
  let cancel = (): void => {};
  void listening.then((all) => {
    onListening(all.filter((listens) => listens).length);
    cancel = clock.schedule(limits.durationMs, () => ending.abort());
  });
  const results = await Promise.all(running.map(({ result }) => result));
  await listening;
  cancel();
  return {
    captured: results.filter((one) => 'file' in one),
    missed: results.filter((one) => 'because' in one),
  };
};

/** Sorted by the way of a packet. */
const fileNameOf = ({ name, interface: link }: Hop, index: number): string =>
  `${index + 1}-${name.replace(/ \(.*/, '').replaceAll(' ', '-')}-${link}.pcap`.replaceAll(/[^\w.-]/g, '_');

interface RunningHop {
  /** False: it has ended before. */
  readonly isListening: Promise<boolean>;
  readonly result: Promise<CapturedHop | MissedHop>;
}

const startHop = (hop: Hop, file: string, limits: Limits, edges: CaptureEdges): RunningHop => {
  const listening = Promise.withResolvers<boolean>();
  const run = async (): Promise<CapturedHop | MissedHop> => {
    const path = join(edges.folder, file);
    // Before tcpdump, which would let everybody read it.
    await writeFile(path, '', { mode: 0o600, flag: 'wx' });
    const { hasListened, ...followed } = await follow(hop, path, limits, edges, () => listening.resolve(true));
    listening.resolve(false);
    if (!hasListened) {
      await rm(path);
      return { name: hop.name, because: followed.failure ?? 'the capture was ended before it began' };
    }
    const { packets, first, last } = await countPackets(createReadStream(path));
    return { ...hop, file, packets, ...timesOf(first, last), ...followed };
  };
  return { isListening: listening.promise, result: run() };
};

const timesOf = (first: number | undefined, last: number | undefined): Pick<CapturedHop, 'first' | 'last'> =>
  first === undefined || last === undefined
    ? {}
    : { first: new Date(first).toISOString(), last: new Date(last).toISOString() };

interface Followed {
  readonly hasListened: boolean;
  readonly dropped: number;
  readonly failure?: string;
}

/** By us. */
const isEnded = (error: unknown): boolean => error instanceof CommandError && error.code === 'ERR_EXEC_ABORTED';

const follow = async (
  hop: Hop,
  path: string,
  limits: Limits,
  { runner, signal }: CaptureEdges,
  onListening: () => void,
): Promise<Followed> => {
  let hasListened = false;
  let dropped = 0;
  try {
    for await (const line of runner.lines(captureCommand(hop, path, limits), signal)) {
      dropped += droppedIn(line);
      if (!isListening(line)) continue;
      hasListened = true;
      onListening();
    }
    return { hasListened, dropped };
  } catch (error) {
    // An interface may have been deleted meanwhile: the file has what came until then.
    return { hasListened, dropped, ...(!isEnded(error) && { failure: messageOf(error) }) };
  }
};
