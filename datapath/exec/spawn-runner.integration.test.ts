/** Needs `build/spawn.node`, which `make build` makes. */
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commandRunnerSuite } from './runner.suite.ts';
import { loadCommandRunner } from './spawn-runner.ts';

const ADDON = new URL('../../build/spawn.node', import.meta.url).pathname;

commandRunnerSuite('posix_spawn', () => loadCommandRunner(ADDON));

describe('posix_spawn', () => {
  const runner = loadCommandRunner(ADDON, { path: process.env['PATH'] ?? '', env: { OVS_RUNDIR: '/run/a' } });

  it('passes nothing of its own environment on', async () => {
    const { stdout } = await runner.run({ file: '/usr/bin/env', args: [], env: { A: 'b=c' } });
    expect(stdout.trim().split('\n').sort()).toEqual([
      'A=b=c',
      'LC_ALL=C',
      'OVS_RUNDIR=/run/a',
      `PATH=${process.env['PATH']}`,
    ]);
  });

  it('gives arguments and a folder to the program as they are', async () => {
    const args = ['%s|', '$(id)', '; ls', 'a b', "'", '*', ''];
    expect((await runner.run({ file: 'printf', args })).stdout).toBe("$(id)|; ls|a b|'|*||");
    expect((await runner.run({ file: 'pwd', args: [], cwd: '/proc/self/task/..' })).stdout).toMatch(/^\/proc\/\d+\n$/);
  });

  it('gives back megabytes that it was given', async () => {
    const input = 'a line of some length, ünïcode\n'.repeat(100_000);
    expect((await runner.run({ file: 'cat', args: [], input })).stdout).toBe(input);
  });

  it('does not mind a program that reads nothing of its input', async () => {
    const input = 'x'.repeat(1_000_000);
    expect(await runner.run({ file: 'true', args: [], input })).toEqual({ stdout: '', stderr: '' });
  });

  it('ends a program that writes too much', async () => {
    await expect(runner.run({ file: 'seq', args: ['1000000'], maxOutput: 1000 })).rejects.toMatchObject({
      code: 'ERR_EXEC_OUTPUT_LIMIT',
    });
  });

  it('says why a program could not be started', async () => {
    await expect(runner.run({ file: '/etc/passwd', args: [] })).rejects.toMatchObject({
      code: 'ERR_EXEC_SPAWN',
      message: expect.stringContaining('EACCES'),
    });
    await expect(runner.run({ file: 'cat', args: [], cwd: '/does/not/exist' })).rejects.toMatchObject({
      code: 'ERR_EXEC_SPAWN',
    });
  });

  it('distinguishes a foreign signal from its own, and lets programs be ended by SIGPIPE', async () => {
    const killed = (signal: string): Promise<unknown> =>
      runner.run({ file: 'timeout', args: ['-s', signal, '0.01', 'sleep', '60'], timeoutMs: 5_000 });
    await expect(killed('KILL')).rejects.toMatchObject({ code: 'ERR_EXEC_SIGNAL', signal: 'SIGKILL' });
    const script = 'kill -PIPE $$; echo ignored';
    await expect(runner.run({ file: 'sh', args: ['-c', script] })).rejects.toMatchObject({ signal: 'SIGPIPE' });
  });

  it('waits for a program that closes its output before it ends', async () => {
    const script = 'exec >&- 2>&-; sleep 0.05; exit 7';
    await expect(runner.run({ file: 'sh', args: ['-c', script] })).rejects.toMatchObject({ exitCode: 7 });
  });

  it('leaves no process and no descriptor behind', async () => {
    const descriptors = (): number => readdirSync('/proc/self/fd').length;
    await runner.run({ file: 'true', args: [] });
    const before = descriptors();
    await Promise.all(Array.from({ length: 30 }, () => runner.run({ file: 'cat', args: [], input: 'x' })));
    for (let i = 0; i < 5; i++) await runner.run({ file: 'no-such-program', args: [] }).catch(() => {});
    expect(descriptors()).toBe(before);
    const { stdout } = await runner.run({ file: 'ps', args: ['--ppid', String(process.pid), '-o', 'stat='] });
    expect(stdout).not.toMatch(/Z/);
  });
});
