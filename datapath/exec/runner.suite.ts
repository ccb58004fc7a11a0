/** What every `CommandRunner` does. It may use the programs `cat`, `false`, `ls` (of a missing file), `sleep` and `seq`. */
import { describe, expect, it } from 'vitest';
import type { BatchRunner } from './types.ts';

export const commandRunnerSuite = (name: string, create: () => BatchRunner): void => {
  describe(`${name} as a command runner`, () => {
    const runner = create();

    it('gives stdout as it was written', async () => {
      const input = 'one\n\ntwo ünïcode\n';
      expect(await runner.run({ file: 'cat', args: ['-'], input })).toEqual({ stdout: input, stderr: '' });
    });

    it('gives an empty stdin without input', async () => {
      expect(await runner.run({ file: 'cat', args: [] })).toEqual({ stdout: '', stderr: '' });
    });

    it('fails with the exit status and what was said', async () => {
      await expect(runner.run({ file: 'ls', args: ['/does not exist'] })).rejects.toMatchObject({
        name: 'CommandError',
        code: 'ERR_EXEC_EXIT',
        exitCode: 2,
        command: 'ls "/does not exist"',
        stderr: expect.stringContaining('No such file'),
        message: expect.stringMatching(/^`ls "\/does not exist"` exited with status 2: .*No such file/),
      });
    });

    it('fails when there is no such program', async () => {
      await expect(runner.run({ file: 'no-such-program', args: [] })).rejects.toMatchObject({
        code: 'ERR_EXEC_NOT_FOUND',
        exitCode: undefined,
      });
    });

    it('ends a program that takes too long', async () => {
      await expect(runner.run({ file: 'sleep', args: ['60'], timeoutMs: 20 })).rejects.toMatchObject({
        code: 'ERR_EXEC_TIMEOUT',
      });
    });

    it('ends a program when the caller aborts', async () => {
      const abort = new AbortController();
      const running = runner.run({ file: 'sleep', args: ['60'] }, abort.signal);
      abort.abort();
      await expect(running).rejects.toMatchObject({ code: 'ERR_EXEC_ABORTED' });
      await expect(runner.run({ file: 'cat', args: [] }, AbortSignal.abort())).rejects.toMatchObject({
        code: 'ERR_EXEC_ABORTED',
      });
    });

    it('gives lines', async () => {
      const lines: string[] = [];
      for await (const line of runner.lines({ file: 'seq', args: ['3'] })) lines.push(line);
      expect(lines).toEqual(['1', '2', '3']);
    });

    it('gives lines as they come, many at once', async () => {
      const batches: (readonly string[])[] = [];
      for await (const batch of runner.batches({ file: 'seq', args: ['200000'] })) batches.push(batch);
      expect(batches.flat()).toEqual(Array.from({ length: 200_000 }, (_, index) => String(index + 1)));
      expect(batches.length).toBeLessThan(10_000);
      expect(batches.filter(({ length }) => length === 0)).toEqual([]);
    });

    it('gives lines of stderr', async () => {
      const lines: string[] = [];
      const reading = async () => {
        const command = { file: 'ls', args: ['/does not exist'], linesFrom: 'stderr' } as const;
        for await (const line of runner.lines(command)) lines.push(line);
      };
      await reading().catch(() => {});
      expect(lines).toEqual([expect.stringContaining('No such file')]);
    });

    it('ends a program whose lines are no longer wanted', async () => {
      for await (const line of runner.lines({ file: 'seq', args: ['1000000'] })) {
        expect(line).toBe('1');
        break;
      }
    });

    it('fails after the lines of a program that failed', async () => {
      const all = async () => {
        for await (const _ of runner.lines({ file: 'ls', args: ['/does not exist'] }));
      };
      await expect(all()).rejects.toMatchObject({
        code: 'ERR_EXEC_EXIT',
        exitCode: 2,
        stderr: expect.stringContaining('No such file'),
      });
    });
  });
};
