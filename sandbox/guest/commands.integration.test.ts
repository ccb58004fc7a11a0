/** Commands in a guest, without a guest: `toolbox guest-serve` in namespaces of this kernel. Needs root and `make build`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCommandRunner } from '../../datapath/exec/node-runner.ts';
import { findArtifacts } from '../artifacts.ts';
import { untilNothingIsLeft } from '../leaks.ts';
import { startNamespaces } from '../machine/namespaces.ts';
import type { CommandLine } from '../machine/types.ts';
import { startService } from '../process/service.ts';
import { waitForSocket } from '../process/wait-for-path.ts';
import { claimWorkspace, type Workspace } from '../supervisor/workspace.ts';
import { eventually } from '../testing/eventually.ts';
import { openForward } from './forward.ts';
import { inGuest } from './guest.ts';

const NAME = 'test-guest-commands';
const { toolbox } = findArtifacts();
const runner = createCommandRunner();
let workspace: Workspace;
let socket: string;

const command = (...argv: string[]): CommandLine => inGuest(toolbox, { socket }, argv);
const run = (argv: readonly string[], input?: string) =>
  runner.run({ ...command(...argv), ...(input === undefined ? {} : { input }) });
const start = (...argv: string[]): ChildProcess => {
  const { file, args } = command(...argv);
  return spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'] });
};
const endOf = (child: ChildProcess): Promise<unknown> =>
  new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)));

beforeAll(async () => {
  workspace = await claimWorkspace(NAME, findArtifacts());
  const { folder, cgroup: cgroupRoot } = workspace;
  const log = join(folder.logs, 'log');
  const machine = await startNamespaces(
    { name: 'guest', hasNetwork: true, cgroupRoot, toolbox, log },
    AbortSignal.timeout(30_000),
  );
  socket = join(folder.path, 'guest.sock');
  for (const argv of [
    ['guest-serve', '7000'],
    ['proxy', `unix:${socket}`, '127.0.0.1:7000'],
  ]) {
    startService({ name: argv[0] ?? '', command: machine.enter([toolbox, ...argv]), log }).abandon();
  }
  await waitForSocket(socket, AbortSignal.timeout(30_000));
  await eventually(() => run(['true']));
});
afterAll(async () => {
  await workspace?.janitor.clean();
  await untilNothingIsLeft(NAME);
});

describe('a command', () => {
  it('gets its arguments and stdin; output, errors and exit status come back', async () => {
    const { stdout } = await run(['sh', '-c', 'echo "$1-$2"; cat', 'x', '', 'a b'], 'some text');
    expect(stdout).toBe('-a b\nsome text');
    await expect(run(['sh', '-c', 'echo no >&2; exit 7'])).rejects.toMatchObject({ exitCode: 7, stderr: 'no' });
    await expect(run(['no-such-program'])).rejects.toMatchObject({ exitCode: 127 });
    await expect(run(['sh', '-c', 'kill -9 $$'])).rejects.toMatchObject({ signal: 'SIGKILL' });
  });

  it('that writes and reads much at once loses nothing', async () => {
    const much = 'x'.repeat(5_000_000);
    expect((await run(['cat'], much)).stdout.length).toBe(much.length);
    const { stdout } = await run(['sh', '-c', 'head -c 3000000 /dev/zero; head -c 100 /dev/zero >&2']);
    expect(stdout.length).toBe(3_000_000);
  });

  it('that ends before all of its stdin has come is known to have ended', async () => {
    const much = 'x'.repeat(150_000);
    const outputs: string[] = [];
    // One in fourteen was taken for the guest's end when its connection was closed at once.
    for (let i = 0; i < 100; i++) outputs.push((await run(['echo', 'over'], much)).stdout);
    expect(new Set(outputs)).toEqual(new Set(['over\n']));
  });

  it('that does not read its stdin is no obstacle to signals', async () => {
    const child = start('sleep', '1000');
    child.stdin?.on('error', () => {});
    child.stdin?.write(Buffer.alloc(2_000_000));
    const ended = endOf(child);
    await eventually(async () => expect((await run(['pgrep', '-x', 'sleep'])).stdout).not.toBe(''));
    child.kill('SIGTERM');
    expect(await ended).toBe('SIGTERM');
  });

  it('gets signals, and may handle them', async () => {
    const child = start('sh', '-c', 'trap "echo got; exit 5" INT; echo ready; while :; do sleep 0.05; done');
    const output = text(child.stdout as NodeJS.ReadableStream);
    await new Promise((resolve) => child.stdout?.once('data', resolve));
    const ended = endOf(child);
    child.kill('SIGINT');
    expect(await ended).toBe(5);
    expect(await output).toContain('got');
  });

  it('that takes no notice of signals lets go of its caller after some', async () => {
    const child = start('sh', '-c', 'trap "" INT; echo ready; sleep 3000');
    await new Promise((resolve) => child.stdout?.once('data', resolve));
    const ended = endOf(child);
    const again = setInterval(() => child.kill('SIGINT'), 20);
    expect(await ended).toBe(125);
    clearInterval(again);
  });

  it('is killed when what runs it here is killed', async () => {
    const child = start('sleep', '2000');
    const isRunning = async (): Promise<boolean> => (await run(['pgrep', '-af', 'sleep'])).stdout.includes('2000');
    await eventually(async () => expect(await isRunning()).toBe(true));
    child.kill('SIGKILL');
    await eventually(async () => expect(await isRunning().catch(() => false)).toBe(false));
  });

  it('that leaves a process behind with its output has ended', async () => {
    expect((await run(['sh', '-c', 'echo done; sleep 1000 & exit 0'])).stdout).toBe('done\n');
  });

  it('has a terminal of its own when the caller has one', async () => {
    const { file, args } = command('sh', '-c', 'tty; stty size; read line; echo "<$line>"');
    const quoted = [file, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
    const script = `stty rows 33 cols 77; ${quoted}`;
    const { stdout } = await runner.run({ file: 'script', args: ['-qec', script, '/dev/null'], input: 'typed\n' });
    // The terminal echoes what is typed, whenever that comes.
    const answers = stdout.replaceAll(/^typed\r\n/gm, '');
    expect(answers).toMatch(/^\/dev\/pts\/\d+\r\n33 77\r\n<typed>/);
  });
});

it('a forwarded port leads to a unix socket, which may come and go', async () => {
  const path = join(workspace.folder.path, 'http.sock');
  const forward = await openForward({ socket }, path);
  try {
    await expect(fetch(`http://127.0.0.1:${forward.port}`)).rejects.toThrow();
    const server = createServer((_, response) => response.end('x'.repeat(1_000_000)));
    await new Promise<void>((resolve) => server.listen(path, resolve));
    expect((await (await fetch(`http://127.0.0.1:${forward.port}`)).text()).length).toBe(1_000_000);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await expect(fetch(`http://127.0.0.1:${forward.port}`)).rejects.toThrow();
  } finally {
    forward.close();
  }
});
