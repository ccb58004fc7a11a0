import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { untilAborted } from '../../base/abort.ts';
import { tarArchive } from '../../base/tar.ts';
import type { ExecCommand, ExecOutput } from '../../kube/exec/types.ts';
import { captureOnNode } from './on-node.ts';
import { captureOutput } from './output.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'capture-test-'));
});
afterEach(() => rm(folder, { recursive: true }));

const HOP = { name: 'uplink', interface: 'eth0', filter: '', file: '1.pcap', packets: 0, dropped: 0 };
const INDEX = JSON.stringify({ pod: 'red/a', captured: [HOP], missed: [] });
const archiveOf = (files: Readonly<Record<string, string>>): Buffer =>
  tarArchive(
    Object.entries(files).map(([path, text]) => ({ kind: 'file', path, mode: 0o600, content: Buffer.from(text) })),
  );

const start = (run: (command: readonly string[], output: ExecOutput, signal?: AbortSignal) => Promise<number>) => {
  const written = { stdout: '', stderr: '' };
  const commands: (readonly string[])[] = [];
  let interrupt = (): void => {};
  const exec = {
    run: ({ command }: ExecCommand, output: ExecOutput, signal?: AbortSignal) => {
      commands.push(command);
      return run(command, output, signal);
    },
  };
  const never = () => Promise.reject(new Error('not asked'));
  const result = captureOnNode(
    {
      tools: { exec, client: { get: never, list: never }, readLog: never, namespace: 'ovn-udn' },
      agent: { name: 'udn-agent-x' },
      words: ['capture', '--output=-', '--', 'red/a'],
      output: captureOutput(join(folder, 'new'), 'red/a', new Date(0)),
    },
    {
      onInterrupt: (callback) => {
        interrupt = callback;
      },
      stdout: (bytes) => {
        written.stdout += Buffer.from(bytes).toString();
      },
      tell: (text) => {
        written.stderr += text;
      },
    },
  );
  return { result, written, commands, interrupt: () => interrupt() };
};

const untilRejected = async (signal: AbortSignal | undefined): Promise<never> => {
  await untilAborted(signal ?? new AbortController().signal);
  throw signal?.reason;
};

it('brings the files here, in whatever pieces they come, and prints the table', async () => {
  const archive = archiveOf({ '1.pcap': 'packets', 'index.json': INDEX });
  const { result, written } = start(async (_, { stdout, stderr }) => {
    stderr(Buffer.from('capturing\n'));
    for (let at = 0; at < archive.length; at += 100) stdout(archive.subarray(at, at + 100));
    return 0;
  });
  expect(await result).toEqual({ status: 0, capture: { captured: [HOP], missed: [] } });
  expect(await readFile(join(folder, 'new', '1.pcap'), 'utf8')).toBe('packets');
  expect(written.stderr).toBe('capturing\n');
  expect(written.stdout).toContain(`files in ${join(folder, 'new')}`);
});

it.each(['before', 'after'])('ends the capture there when the user ends it here, %s it listens', async (when) => {
  const [ended, begun] = [Promise.withResolvers<number>(), Promise.withResolvers<void>()];
  const { result, commands, interrupt } = start(async (command, { stdout, stderr }) => {
    if (command.some((word) => word.startsWith('--end'))) {
      ended.resolve(0);
      return 0;
    }
    if (when === 'before') await begun.promise;
    for (const piece of ['capturing at 6 hops for up to 60 s, Ctrl-C ends it (pro', 'cess 4', '2)\n'])
      stderr(Buffer.from(piece));
    const status = await ended.promise;
    stdout(archiveOf({ 'index.json': INDEX }));
    return status;
  });
  interrupt();
  begun.resolve();
  expect(await result).toMatchObject({ status: 0 });
  expect(commands.at(-1)).toEqual(['/opt/ovn-udn/bin/udnctl', 'capture', '--end=42']);
});

it('a second interrupt does not wait for a node that hangs', async () => {
  const { result, written, commands, interrupt } = start(async (_, { stderr }, signal) => {
    stderr(Buffer.from('(process 42)\n'));
    return await untilRejected(signal);
  });
  interrupt();
  expect(commands).toHaveLength(2);
  expect(written.stderr).toContain('Ctrl-C again');
  interrupt();
  await expect(result).rejects.toThrow(/^interrupted: what the node has captured is lost/);
  expect(await readdir(folder)).toEqual([]);
});

it('does not take more than its memory may hold', async () => {
  const chunk = Buffer.alloc(1024 * 1024);
  const { result } = start(async (_, { stdout }, signal) => {
    for (let count = 0; count < 66; count += 1) stdout(chunk);
    return await untilRejected(signal);
  });
  await expect(result).rejects.toThrow('the node sent more than a capture may store');
});

it('hands on what the node refuses, and makes no folder for it', async () => {
  const { result, written } = start(async (_, { stderr }) => {
    stderr(Buffer.from('udnctl: --filter: syntax error\n'));
    return 2;
  });
  expect(await result).toEqual({ status: 2 });
  expect(written.stderr).toBe('udnctl: --filter: syntax error\n');
  expect(await readdir(folder)).toEqual([]);
});

it.each([
  [{ 'index.json': INDEX, '../x': '' }, /the node sent a file with the name "..\/x"/],
  [{ '1.pcap': '' }, /the node sent no index.json/],
  [{ 'index.json': '{}' }, /captured: is required/],
])('what the node sends is not trusted: %j', async (files, message) => {
  const { result } = start(async (_, { stdout }) => {
    stdout(archiveOf(files));
    return 0;
  });
  await expect(result).rejects.toThrow(message);
});
