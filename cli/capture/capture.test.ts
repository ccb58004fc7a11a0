import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { onAbort } from '../../base/abort.ts';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { CommandError } from '../../datapath/exec/errors.ts';
import type { CommandRunner } from '../../datapath/exec/types.ts';
import { capture } from './capture.ts';
import type { Hop } from './hops.ts';
import { pcapOf } from './testing/pcap.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'capture-test-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** As tcpdump does: it says that it listens, has one packet, and goes on until it is ended. Or fails, or ends by itself. */
const tcpdump: CommandRunner['lines'] = async function* (command, signal) {
  const wordAfter = (flag: string) => command.args[command.args.indexOf(flag) + 1] ?? '';
  const link = wordAfter('--interface');
  if (link === 'closed')
    throw new CommandError({ code: 'ERR_EXEC_EXIT', command, exitCode: 1, stderr: 'no permission' });
  yield `tcpdump: listening on ${link}, link-type EN10MB`;
  await writeFile(wordAfter('-w'), pcapOf([1_000]));
  if (link === 'full') return;
  if (link === 'gone') throw new CommandError({ code: 'ERR_EXEC_EXIT', command, exitCode: 1, stderr: 'disappeared' });
  await new Promise<void>((resolve) => onAbort(signal, resolve));
  yield '2 packets dropped by kernel';
  throw new CommandError({ code: 'ERR_EXEC_ABORTED', command });
};

const hop = (name: string): Hop => ({ name, interface: name, filter: '' });

const start = (...names: readonly string[]) => {
  const clock = createFakeClock();
  const user = new AbortController();
  const listening = Promise.withResolvers<number>();
  const edges = { runner: { lines: tcpdump }, clock, folder, signal: user.signal, onListening: listening.resolve };
  const result = capture(names.map(hop), { durationMs: 10_000, count: 5 }, edges);
  return { clock, user, listening: listening.promise, result };
};

it('ends after the duration, which begins when all listen', async () => {
  const { clock, listening, result } = start('veth', 'eth0');
  expect(await listening).toBe(2);
  await clock.advance(9_999);
  expect(clock.pending).toBe(1);
  await clock.advance(1);
  const times = { first: '1970-01-01T00:00:01.000Z', last: '1970-01-01T00:00:01.000Z' };
  expect(await result).toEqual({
    captured: [
      { ...hop('veth'), file: '1-veth-veth.pcap', packets: 1, dropped: 2, ...times },
      { ...hop('eth0'), file: '2-eth0-eth0.pcap', packets: 1, dropped: 2, ...times },
    ],
    missed: [],
  });
  expect((await stat(join(folder, '1-veth-veth.pcap'))).mode & 0o777).toBe(0o600);
});

it('ends when the user ends it, and keeps what came', async () => {
  const { clock, user, listening, result } = start('veth');
  await listening;
  user.abort();
  expect((await result).captured).toMatchObject([{ packets: 1 }]);
  expect(clock.pending).toBe(0);
});

it('ends by itself when each hop has its packets', async () => {
  const { clock, result } = start('full');
  expect((await result).captured).toMatchObject([{ packets: 1, dropped: 0 }]);
  expect(clock.pending).toBe(0);
});

it('a hop that fails does not end the others, and leaves no empty file', async () => {
  const { user, listening, result } = start('closed', 'gone', 'veth');
  expect(await listening).toBe(2);
  user.abort();
  expect(await result).toMatchObject({
    captured: [{ name: 'gone', packets: 1, failure: expect.stringContaining('disappeared') }, { name: 'veth' }],
    missed: [{ name: 'closed', because: expect.stringContaining('no permission') }],
  });
  expect(await readdir(folder)).toEqual(['2-gone-gone.pcap', '3-veth-veth.pcap']);
});
