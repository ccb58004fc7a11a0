import { expect, it } from 'vitest';
import { consoleCommands, shapeOf, withOutputs } from '../e2e/support/cluster/console.ts';

const DOCUMENT = `# Title

\`\`\`sh
not this
\`\`\`

\`\`\`console
$ first
one

two
$ second # exit status 3
\`\`\`

\`\`\`console
$ third
\`\`\`
`;

it('reads commands, what they print, and with which status they end', () => {
  expect(consoleCommands(DOCUMENT)).toEqual([
    { text: 'first', output: ['one', '', 'two'], status: 0 },
    { text: 'second # exit status 3', output: [], status: 3 },
    { text: 'third', output: [], status: 0 },
  ]);
});

it('writes what was printed, and nothing else again', () => {
  const outputs = consoleCommands(DOCUMENT).map(({ output }) => output);
  expect(withOutputs(DOCUMENT, outputs)).toBe(DOCUMENT);
  const changed = withOutputs(DOCUMENT, [['1'], ['2'], ['3', '4']]);
  expect(consoleCommands(changed).map(({ output }) => output)).toEqual([['1'], ['2'], ['3', '4']]);
  expect(changed).toContain('not this');
});

it.each([
  ['  8.6 s  node-1 is   Ready', '# # Ready is s'],
  ['up after 4.0 s', '# after s up'],
  ['10.10.0.0/16 via 10.10.0.1, fd00::/64', '# # # via'],
])('the shape of %s is %s', (line, shape) => {
  expect(shapeOf(line)).toBe(shape);
});
