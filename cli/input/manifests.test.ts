import { expect, it } from 'vitest';
import { parseManifests } from './manifests.ts';

const objectsOf = (content: string) => parseManifests(content, 'x').objects;

it('reads several documents, JSON, and lists', () => {
  expect(objectsOf('kind: A\n---\n# nothing\n---\nkind: B\n')).toEqual([{ kind: 'A' }, { kind: 'B' }]);
  expect(objectsOf('{"kind":"List","items":[{"kind":"A"},{"kind":"B"}]}')).toEqual([{ kind: 'A' }, { kind: 'B' }]);
  expect(objectsOf('{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{}},{"kind":"B"}]}')).toEqual([
    { apiVersion: 'v1', kind: 'Pod', metadata: {} },
    { apiVersion: 'v1', kind: 'B' },
  ]);
  expect(objectsOf('')).toEqual([]);
});

it('reports which documents are no YAML, and reads the others', () => {
  const { objects, diagnostics } = parseManifests(
    'kind: A\n---\na: [\n---\nkind: B\nkind: C\n---\nkind: D\n',
    'bad.yaml',
  );
  expect(objects).toEqual([{ kind: 'A' }, { kind: 'D' }]);
  expect(diagnostics.map(({ object, severity }) => [object, severity])).toEqual([
    ['bad.yaml document 2', 'error'],
    ['bad.yaml document 3', 'error'],
  ]);
  expect(diagnostics[1]?.message).toMatch(/^not YAML: Map keys must be unique at line 6, column 1$/);
});

it('does not follow aliases that multiply', () => {
  const level = (name: string, of: string) => `${name}: &${name} [${Array(10).fill(of).join(',')}]`;
  const bomb = [level('a', 'x'), level('b', '*a'), level('c', '*b'), level('d', '*c')].join('\n');
  const { objects, diagnostics } = parseManifests(`kind: A\n---\n${bomb}\n`, 'bomb.yaml');
  expect(objects).toEqual([{ kind: 'A' }]);
  expect(diagnostics).toMatchObject([{ object: 'bomb.yaml document 2', severity: 'error' }]);
});
