import { Command } from 'commander';
import { expect, it } from 'vitest';
import { createProgram } from '../program.ts';
import { remoteWords } from './remote-words.ts';

/** Parses as udnctl does, and stops before anything is done. */
const wordsOf = async (...typed: string[]): Promise<readonly string[]> => {
  const program = createProgram();
  let words: readonly string[] = [];
  for (const command of program.commands.flatMap((one) => [one, ...one.commands])) {
    command.action(() => {
      words = remoteWords(command);
    });
  }
  await program.parseAsync(['node', 'udnctl', ...typed]);
  return words;
};

it.each([
  [['problems', '--node', 'node-1'], ['problems']],
  [
    ['--context', 'lab', 'problems', '--node', 'node-1', '-o', 'json'],
    ['problems', '--output=json'],
  ],
  [
    ['diff', '--kubeconfig', '/k', '--as', 'somebody', '--network', 'red'],
    ['diff', '--network=red'],
  ],
  [
    ['trace', '--from', 'pod', 'red/a', '--to', '10.0.0.1', '-v', '--port', '53'],
    ['trace', '--from=pod', '--from=red/a', '--to=10.0.0.1', '--port=53', '--verbose'],
  ],
  [
    ['explain', 'pod', 'red/a'],
    ['explain', '--', 'pod', 'red/a'],
  ],
  [
    ['policy', 'show', 'red/deny', '--node', 'node-1', '-o', 'json'],
    ['policy', 'show', '--output=json', '--', 'red/deny'],
  ],
  // What looks like an option, or like a shell's, stays one word.
  [
    ['explain', '--', 'network', '--$(id);x'],
    ['explain', '--', 'network', '--$(id);x'],
  ],
  [
    ['doctor', '--fix', '--token', 'secret'],
    ['doctor', '--fix'],
  ],
  [
    ['pods', '--node', 'n', '--agent', '--network', 'red'],
    ['pods', '--network=red'],
  ],
])('%j is %j there', async (typed, expected) => {
  expect(await wordsOf(...typed)).toEqual(expected);
});

it('are read there as they were typed here', async () => {
  const typed = ['trace', '--from', 'pod', 'red/a', '--to', 'service/red/web', '--ip-family', '6', '--raw'];
  const there = await wordsOf(...typed);
  expect(await wordsOf(...there)).toEqual(there);
});

it('values of the environment stay here', async () => {
  const command = new Command('test').option('--own [value]', 'x', 'default');
  command.setOptionValueWithSource('own', 'of-env', 'env');
  expect(remoteWords(command)).toEqual(['test']);
});
