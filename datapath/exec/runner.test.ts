import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { waitForPath } from '../../sandbox/process/wait-for-path.ts';
import { commandLine } from './errors.ts';
import { FakeCommandRunner } from './fake.ts';
import { createCommandRunner } from './node-runner.ts';
import { commandRunnerSuite } from './runner.suite.ts';

const fake = () =>
  new FakeCommandRunner({
    cat: ({ input = '' }) => ({ stdout: String(input) }),
    ls: ({ args }) => ({ exitCode: 2, stderr: `ls: cannot access '${args[0]}': No such file or directory\n` }),
    seq: ({ args }) => ({ stdout: Array.from({ length: Number(args[0]) }, (_, i) => `${i + 1}\n`).join('') }),
    sleep: (_, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve({}), { once: true });
      }),
  });

commandRunnerSuite('Node', () => createCommandRunner());
commandRunnerSuite('the fake', fake);

describe('Node', () => {
  const env = async (...parameters: Parameters<typeof createCommandRunner>) =>
    (await createCommandRunner(...parameters).run({ file: '/usr/bin/env', args: [] })).stdout.trim().split('\n').sort();

  it('passes nothing of its own environment on', async () => {
    expect(await env({ path: '/usr/bin', env: { OVS_RUNDIR: '/run/a' } })).toEqual([
      'LC_ALL=C',
      'OVS_RUNDIR=/run/a',
      'PATH=/usr/bin',
    ]);
    expect(await env()).toEqual(['LC_ALL=C', `PATH=${process.env['PATH']}`]);
  });

  it('gives arguments to the program as they are', async () => {
    const args = ['%s|', '$(id)', '; ls', 'a b', "'", '*'];
    expect((await createCommandRunner().run({ file: 'printf', args })).stdout).toBe("$(id)|; ls|a b|'|*|");
  });

  it('ends a program that writes too much', async () => {
    await expect(createCommandRunner().run({ file: 'seq', args: ['1000000'], maxOutput: 1000 })).rejects.toMatchObject({
      code: 'ERR_EXEC_OUTPUT_LIMIT',
    });
  });

  it('ends a silent program whose lines are no longer wanted', async () => {
    for await (const line of createCommandRunner().lines({ file: 'tail', args: ['-n1', '-f', import.meta.filename] })) {
      expect(line).not.toBe('');
      break;
    }
  });

  it('says why a program could not be started', async () => {
    const runner = createCommandRunner();
    await expect(runner.run({ file: '/etc/passwd', args: [] })).rejects.toMatchObject({
      code: 'ERR_EXEC_SPAWN',
      message: expect.stringContaining('EACCES'),
    });
    await expect(runner.run({ file: 'cat', args: [], cwd: '/does/not/exist' })).rejects.toMatchObject({
      code: 'ERR_EXEC_SPAWN',
    });
  });

  it('does not wait longer than it may for what an ended program has left behind', async () => {
    const args = ['-c', 'sleep 5 & echo begun'];
    await expect(createCommandRunner().run({ file: 'sh', args, timeoutMs: 100 })).rejects.toMatchObject({
      code: 'ERR_EXEC_TIMEOUT',
      stdout: 'begun\n',
    });
  });

  it('ends programs with its own', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'runner-'));
    const gone = join(folder, 'gone');
    const loop = `trap 'echo > ${gone}; exit' TERM; echo ready; while :; do sleep 0.05; done`;
    const module = new URL('node-runner.ts', import.meta.url).pathname;
    const script = `import { createCommandRunner } from '${module}';
      for await (const _ of createCommandRunner().lines({ file: 'sh', args: ['-c', ${JSON.stringify(loop)}] })) process.exit();`;
    await createCommandRunner().run({ file: process.execPath, args: ['--input-type=module', '-e', script] });
    await waitForPath(gone, AbortSignal.timeout(10_000));
    rmSync(folder, { recursive: true });
  });

  it('distinguishes a foreign signal from its own', async () => {
    await expect(
      createCommandRunner().run({ file: 'timeout', args: ['-s', 'KILL', '0.01', 'sleep', '60'] }),
    ).rejects.toMatchObject({ code: 'ERR_EXEC_SIGNAL', signal: 'SIGKILL' });
  });
});

describe('the fake', () => {
  it('remembers what was run', async () => {
    const runner = fake();
    await runner.run({ file: 'cat', args: ['a'] });
    await runner.run({ file: 'absent', args: [] }).catch(() => {});
    expect(runner.commands.map(({ file }) => file)).toEqual(['cat', 'absent']);
  });
});

describe('commandLine', () => {
  it('quotes what is not plain and cuts what is long', () => {
    expect(commandLine({ file: 'ovs-ofctl', args: ['add-flow', 'br ex', 'x'.repeat(300)] })).toBe(
      `ovs-ofctl add-flow "br ex" "${'x'.repeat(200)}…"`,
    );
  });
});
