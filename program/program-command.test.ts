import process from 'node:process';
import { Option } from 'commander';
import { afterEach, expect, it } from 'vitest';
import { ProgramCommand } from './program-command.ts';

const before = { ...process.env };
afterEach(() => {
  process.env = { ...before };
});

const parse = (args: readonly string[]): Record<string, unknown> => {
  const program = new ProgramCommand('program').version('1');
  const child = program
    .command('do')
    .requiredOption('--agent-socket <path>')
    .option('--set <setting...>')
    .addOption(new Option('--name <name>').env('UDN_SANDBOX'))
    .action(() => undefined);
  program.parse(args, { from: 'user' });
  return child.opts();
};

it('every option has a variable, which the command line overrides', () => {
  process.env['UDN_AGENT_SOCKET'] = '/a';
  process.env['UDN_SET'] = 'mtu=1300';
  process.env['UDN_NAME'] = 'not this one';
  process.env['UDN_SANDBOX'] = 'this one';
  expect(parse(['do'])).toEqual({ agentSocket: '/a', set: ['mtu=1300'], name: 'this one' });
  expect(parse(['do', '--agent-socket', '/b'])).toMatchObject({ agentSocket: '/b' });
});
