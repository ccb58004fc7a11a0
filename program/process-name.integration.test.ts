/** The name of a program, as the kernel has it. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);

it('names the process, and leaves its command line', async () => {
  const module = JSON.stringify(new URL('./run.ts', import.meta.url).href);
  const read = "['comm', 'cmdline'].map((name) => readFileSync('/proc/self/' + name, 'latin1').trimEnd())";
  const script = [
    `import { readFileSync } from 'node:fs'; import { runProgram } from ${module};`,
    `await runProgram('udn-cluster-manager', async () => { console.log(JSON.stringify(${read})); });`,
  ];
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script.join(' ')]);
  const [comm, commandLine] = JSON.parse(stdout) as string[];
  expect(comm).toBe('udn-cluster-man');
  expect(commandLine).toContain('--input-type=module');
});
