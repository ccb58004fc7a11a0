import { describe, expect, it } from 'vitest';
import { readOptions, shownPath } from './options.ts';

describe('readOptions', () => {
  it('has defaults', () => {
    expect(readOptions([], '/repository')).toEqual({
      name: 'demo',
      nodes: 2,
      api: 'embedded',
      keep: false,
      manifests: '/repository/examples/demo',
      output: '/repository/.demo',
      timeoutSeconds: 30,
    });
  });

  it('reads all of them', () => {
    const argv = [
      '--keep',
      '--name',
      'mine',
      '--nodes',
      '3',
      '--api',
      'kube',
      '--timeout',
      '5',
      '--manifests',
      '/m',
      '--output',
      '/o',
    ];
    expect(readOptions(argv, '/repository')).toEqual({
      name: 'mine',
      nodes: 3,
      api: 'kube',
      keep: true,
      manifests: '/m',
      output: '/o',
      timeoutSeconds: 5,
    });
  });

  it.each([[['--nodes', '0']], [['--api', 'another']], [['--timeout', 'soon']], [['--unknown']], [['file']]])(
    'refuses %j',
    (argv) => {
      expect(() => readOptions(argv, '/repository')).toThrow(expect.objectContaining({ code: 'ERR_DEMO_USAGE' }));
    },
  );
});

describe('shownPath', () => {
  it.each([
    ['/repository/examples/demo', 'examples/demo'],
    ['/elsewhere/file', '/elsewhere/file'],
    ['/repository', '/repository'],
  ])('%s is %s', (path, shown) => {
    expect(shownPath(path, '/repository')).toBe(shown);
  });
});
