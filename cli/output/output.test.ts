import { expect, it } from 'vitest';
import { formatOutput } from './format.ts';

const output = {
  data: [{ name: 'red', subnets: ['10.0.0.0/16', 'fd00::/48'] }],
  tables: [
    {
      head: ['NAME', 'SUBNETS', 'ID'],
      rows: [
        ['red', '10.0.0.0/16\nfd00::/48', '1'],
        ['a-long-name', '', '12'],
      ],
    },
  ],
};

it('a table is as wide as its cells and as high as its lines', () => {
  expect(formatOutput(output, 'table')).toBe(
    [
      'NAME         SUBNETS      ID',
      'red          10.0.0.0/16  1',
      '             fd00::/48',
      'a-long-name               12',
      '',
    ].join('\n'),
  );
  expect(formatOutput({ data: [], tables: [{ head: ['NAME'], rows: [], empty: 'no networks' }] }, 'table')).toBe(
    'no networks\n',
  );
});

it('json and yaml hold the same', () => {
  expect(JSON.parse(formatOutput(output, 'json'))).toEqual(output.data);
  expect(formatOutput(output, 'yaml')).toBe('- name: red\n  subnets:\n    - 10.0.0.0/16\n    - fd00::/48\n');
});
