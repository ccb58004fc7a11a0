import { expect, it } from 'vitest';
import { createProgram } from '../program.ts';
import { NAME_KINDS, planCompletion } from './plan.ts';

const program = createProgram();
/** The values, or what kind of thing is asked for. */
const planOf = (...words: string[]) => {
  const plan = planCompletion(program, words);
  if (plan.kind === 'words') return plan.suggestions.map(({ value }) => value);
  return plan.kind === 'files' ? 'files' : `${plan.of} ${plan.line.positional.join(' ')}`.trim();
};

it('commands, with what they are for', () => {
  const plan = planCompletion(program, ['']);
  expect(plan).toMatchObject({ kind: 'words' });
  expect(planOf('')).toEqual(expect.arrayContaining(['networks', 'pods', 'why', 'trace', 'doctor', 'completion']));
  expect(planOf('p')).toEqual(['pods', 'problems', 'policy']);
  expect(planOf('con')).toEqual(['console', 'connectivity']);
  expect(planOf('s')).toEqual(['services', 'status']);
  expect(planOf('nothing', '')).toEqual(planOf(''));
});

it('options that have not been given', () => {
  expect(planOf('pods', '--n')).toEqual(['--namespace', '--network', '--node']);
  expect(planOf('pods', '-n', 'red', '--n')).toEqual(['--network', '--node']);
  expect(planOf('pods', '--namespace=red', '--n')).toEqual(['--network', '--node']);
  expect(planOf('services', '--a')).toEqual(['--all-namespaces']);
  expect(planOf('pods', '--he')).toEqual(['--help']);
});

it('values of options', () => {
  expect(planOf('networks', '-o', '')).toEqual(['table', 'wide', 'json', 'yaml']);
  expect(planOf('networks', '--output=w')).toEqual(['--output=wide']);
  expect(planOf('networks', '--output', '=', 'w')).toEqual(['wide']);
  expect(planOf('networks', '--output', '=')).toEqual(['table', 'wide', 'json', 'yaml']);
  expect(planOf('pods', '--network', 're')).toBe('network');
  expect(planOf('pods', '-n', '')).toBe('namespace');
  expect(planOf('pods', '--node', '')).toBe('node');
  expect(planOf('services', '-n', '')).toBe('namespace');
  expect(planOf('services', '-o', 'j')).toEqual(['json']);
  expect(planOf('graph', '-o', '')).toBe('files');
  expect(planOf('graph', '-n', '')).toBe('namespace');
  expect(planOf('graph', 'red')).toBe('network');
  expect(planOf('status', '')).toBe('node');
  expect(planOf('connectivity', '--only', '')).toEqual(['pods', 'services', 'dns', 'api', 'mtu']);
  expect(planOf('connectivity', '--node', '')).toBe('node');
  expect(planOf('console', '-n', '')).toBe('namespace');
  expect(planOf('console', '--p')).toEqual(['--port']);
  expect(planOf('console', '--agent-namespace', '')).toBe('namespace');
  expect(planOf('why', '--context', '')).toBe('context');
  expect(planOf('why', '--cluster', '')).toBe('cluster');
  expect(planOf('--context', 'x', 'pods', '-n', '')).toBe('namespace');
  expect(planOf('pods', '--kubeconfig', '')).toBe('files');
  expect(planOf('render', '-f', '')).toBe('files');
  expect(planOf('trace', '--port', '')).toEqual([]);
  expect(planOf('trace', '--to', 'service/')).toBe('destination');
  expect(planOf('trace', '--proto', 's')).toEqual(['sctp']);
  expect(planOf('explain', '')).toEqual(['pod', 'network', 'service']);
  expect(planOf('explain', 'service', '')).toBe('name service');
  expect(planOf('policy', '')).toEqual(['list', 'show', 'why', 'matrix']);
  expect(planOf('policy', 'show', '')).toBe('policy');
  expect(planOf('policy', 'why', 'red/a', '')).toBe('pod red/a');
  expect(planOf('policy', 'matrix', '--network', '')).toBe('network');
  expect(planOf('policy', 'matrix', 'red', '--ne')).toEqual(['--network']);
});

it('arguments', () => {
  expect(planOf('completion', '')).toEqual(['bash', 'zsh', 'fish']);
  expect(planOf('log-level', 'd')).toEqual(['debug']);
  expect(planOf('capture', '-n', 'red', '')).toBe('pod');
  expect(planOf('why', '')).toBe('subject');
  expect(planOf('why', 'udn', '')).toBe('name udn');
  expect(planOf('why', '-n', 'red', 'udn', '')).toBe('name udn');
  expect(planOf('why', 'udn', 'red/net', '')).toEqual([]);
  expect(planOf('why', '--', '-')).toBe('subject');
});

it('every placeholder for a name is known, or nobody can name it', () => {
  const unnamed = [
    'selector',
    'format',
    'file',
    'path',
    'setting=value',
    'mode',
    'remote',
    'port',
    'protocol',
    'family',
    'url',
    'hostname',
    'token',
    'username',
    'uid',
    'group',
    'duration',
    'cidr',
    'image',
    'count',
    'expression',
    'pid',
  ];
  const own = ['source', 'shell', 'kind', 'test', 'level'];
  const placeholders = program.commands.flatMap(({ options, registeredArguments }) => [
    ...options.flatMap(({ flags }) => /[<[]([^>\]]+?)(?:\.\.\.)?[>\]]/.exec(flags)?.[1] ?? []),
    ...registeredArguments.map((argument) => argument.name()),
  ]);
  expect(placeholders.filter((name) => ![...NAME_KINDS, ...unnamed, ...own].includes(name))).toEqual([]);
});
