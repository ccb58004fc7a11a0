/** A process that is killed leaves no flow monitor behind. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { parentGuard } from './open.ts';
import { VswitchWorld } from './testing/vswitch-world.ts';

const PROGRAM = fileURLToPath(new URL('testing/watch-program.ts', import.meta.url));

/** Processes with this text in their command line. */
const processesWith = async (text: string): Promise<string[]> => {
  const pids = (await readdir('/proc')).filter((name) => /^[0-9]+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return pids.filter((_, index) => lines[index]?.includes(text));
};

it('a flow monitor ends with the process that started it', async (context) => {
  context.skip(parentGuard().length === 0, 'setpriv(1) is not installed');
  const world = await VswitchWorld.create();
  try {
    await world.addBridge('br-ex');
    const child = spawn(process.execPath, [PROGRAM, world.runDirectory, 'br-ex'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    const monitors = await processesWith(`unix:${world.runDirectory}/br-ex.mgmt`);
    expect(monitors).toHaveLength(1);
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    await eventually(async () => {
      expect(await processesWith(`unix:${world.runDirectory}/br-ex.mgmt`)).toEqual([]);
    }, 30_000);
  } finally {
    await world[Symbol.asyncDispose]();
  }
});
