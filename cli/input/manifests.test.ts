import { expect, it } from 'vitest';
import { parseManifests } from './manifests.ts';

it('reads several documents, JSON, and lists', () => {
  expect(parseManifests('kind: A\n---\n# nothing\n---\nkind: B\n', 'x')).toEqual([{ kind: 'A' }, { kind: 'B' }]);
  expect(parseManifests('{"kind":"List","items":[{"kind":"A"},{"kind":"B"}]}', 'x')).toEqual([
    { kind: 'A' },
    { kind: 'B' },
  ]);
  expect(parseManifests('{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{}},{"kind":"B"}]}', 'x')).toEqual([
    { apiVersion: 'v1', kind: 'Pod', metadata: {} },
    { apiVersion: 'v1', kind: 'B' },
  ]);
  expect(parseManifests('', 'x')).toEqual([]);
});

it('names the file that is no YAML', () => {
  expect(() => parseManifests('a: [', 'bad.yaml')).toThrow(/^bad\.yaml: /);
});
