/**
 * docs/quickstart.md does what it says: every command, in order, and what it prints, but for numbers. With
 * UDN_WRITE_QUICKSTART=1 the document is written again. Needs root and `make build`.
 */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { openSandbox } from '../../sandbox/index.ts';
import { untilNothingIsLeft } from '../../sandbox/leaks.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { type ConsoleCommand, consoleCommands, shapeOf, withOutputs } from './support/cluster/console.ts';

const NAME = 'test-quickstart';
const ROOT = join(import.meta.dirname, '../..');
const DOCUMENT = join(ROOT, 'docs', 'quickstart.md');

// After each try: the next one begins with "up".
afterEach(async () => {
  await openSandbox(NAME)
    .down()
    .catch(() => {});
  await untilNothingIsLeft(NAME);
});

interface Run {
  readonly status: number;
  readonly output: string[];
}

/** As a reader does it, in a shell, from the root of the repository. What it prints on stderr comes after the rest. */
const run = ({ text }: ConsoleCommand): Promise<Run> =>
  new Promise((resolve) => {
    const env = { ...process.env, UDN_SANDBOX: NAME };
    execFile('bash', ['-c', text], { cwd: ROOT, env, timeout: 60_000 }, (error, stdout, stderr) => {
      const status = error === null ? 0 : Number(error.code);
      const printed = `${stdout}${stderr}`.trimEnd();
      resolve({ status, output: printed === '' ? [] : printed.split('\n').map((line) => line.trimEnd()) });
    });
  });

/** It changes nothing, and may come too early: after three seconds an agent says what a pod waits for. */
const isLook = ({ text }: ConsoleCommand): boolean => text.includes(' -- udnctl why ');

/** Nodes and pods get ready in any order. */
const expectShown = (command: ConsoleCommand, output: readonly string[]): void => {
  const sorted = (lines: readonly string[]): string[] => lines.map(shapeOf).sort();
  expect(sorted(output), command.text).toEqual(sorted(command.output));
};

it('docs/quickstart.md shows what its commands print', async () => {
  const markdown = await readFile(DOCUMENT, 'utf8');
  const commands = consoleCommands(markdown);
  expect(commands.length).toBeGreaterThan(20);
  const isToWrite = process.env['UDN_WRITE_QUICKSTART'] === '1';
  const outputs: string[][] = [];
  for (const command of commands) {
    const look = async (): Promise<string[]> => {
      const { status, output } = await run(command);
      expect(status, `${command.text}: ${output.join('\n')}`).toBe(command.status);
      if (!isToWrite) expectShown(command, output);
      return output;
    };
    outputs.push(await (isLook(command) ? eventually(look) : look()));
  }
  if (isToWrite) await writeFile(DOCUMENT, withOutputs(markdown, outputs));
});
