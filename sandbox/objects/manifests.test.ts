import { expect, it } from 'vitest';
import { parseManifests } from './manifests.ts';

const names = (content: string): string[] =>
  parseManifests(content, 'f').map(({ kind, metadata }) => `${kind}/${metadata.name}`);

it.each([
  ['one YAML document', 'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n', ['Pod/a']],
  [
    'several, some empty',
    '---\n---\napiVersion: v1\nkind: A\nmetadata: {name: a}\n---\n# no\n---\n{"apiVersion":"v1","kind":"B","metadata":{"name":"b"}}\n',
    ['A/a', 'B/b'],
  ],
  [
    'a list',
    'apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: A, metadata: {name: a}}\n- {apiVersion: v1, kind: BList, items: []}\n',
    ['A/a'],
  ],
  ['nothing', '', []],
])('reads %s', (_, content, expected) => expect(names(content)).toEqual(expected));

it.each([
  ['not YAML', 'a: [', /^f: /],
  ['no object', '- 1', /needs apiVersion/],
  ['no name', 'apiVersion: v1\nkind: Pod\nmetadata: {}\n', /metadata\.name/],
  ['an alias that is not there', 'a: *b', /^f: /],
])('refuses %s', (_, content, message) => {
  expect(() => names(content)).toThrow(
    expect.objectContaining({ code: 'ERR_SANDBOX_USAGE', message: expect.stringMatching(message) }),
  );
});
