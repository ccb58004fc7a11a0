import { describe, expect, it } from 'vitest';
import { UsageError } from './errors.ts';
import {
  CLUSTER_FLAGS,
  type Flag,
  formatHelp,
  readClusterConfig,
  readFlags,
  readListenAddress,
  readLogLevel,
} from './flags.ts';

const FLAGS: readonly Flag[] = [
  { flag: 'node', help: 'name of the node' },
  { flag: 'log-level', help: 'how much' },
  { flag: 'metrics-address', help: 'where' },
  ...CLUSTER_FLAGS,
];
const read = (args: string[], env = {}) => readFlags(FLAGS, args, env);

describe('a flag', () => {
  it('comes from the command line before the environment, and empty is absent', () => {
    expect(read(['--node', 'n1'], { UDN_NODE: 'n2' }).text('node')).toBe('n1');
    expect(read(['--node=n1']).text('node')).toBe('n1');
    expect(read([], { UDN_NODE: 'n2' }).text('node')).toBe('n2');
    expect(read([], { UDN_NODE: '' }).text('node')).toBeUndefined();
  });

  it('that is unknown or has no value is an error', () => {
    expect(() => read(['--nodes', 'n1'])).toThrow(new UsageError('unknown flag --nodes'));
    expect(() => read(['--node'])).toThrow(new UsageError('--node needs a value'));
    expect(() => read(['--node', '-1'])).toThrow(new UsageError('--node needs a value, not "-1"'));
    expect(() => read(['--node', '--log-level', 'info'])).toThrow(
      new UsageError('--node needs a value, not "--log-level"'),
    );
    expect(() => read(['--help=yes'])).toThrow(new UsageError('--help takes no value'));
    expect(() => read(['-x'])).toThrow(new UsageError('unknown flag -x'));
  });
});

it('the cluster is described by flags with defaults', () => {
  expect(readClusterConfig(read(['--mtu', '1300'])).mtu).toBe(1300);
  expect(readClusterConfig(read([], { UDN_CLUSTER_SUBNETS: '10.0.0.0/16/24' })).clusterSubnets).toEqual([
    { cidr: '10.0.0.0/16', hostPrefix: 24 },
  ]);
  expect(() => readClusterConfig(read(['--mtu', 'big']))).toThrow(/mtu: "big" is not an MTU/);
});

it('log levels and addresses are checked', () => {
  expect(readLogLevel(read([]))).toBe('info');
  expect(() => readLogLevel(read(['--log-level', 'loud']))).toThrow(/"loud" is not one of/);
  expect(readListenAddress(read(['--metrics-address', '[::1]:9100']), 'metrics-address')).toEqual({
    host: '::1',
    port: 9100,
  });
  expect(readListenAddress(read(['--metrics-address', ':9100']), 'metrics-address')).toEqual({
    host: '::',
    port: 9100,
  });
  expect(() => readListenAddress(read(['--metrics-address', '9100']), 'metrics-address')).toThrow(/is not host:port/);
});

it('the help names every flag and its default', () => {
  const text = formatHelp({ usage: 'udn-x', about: ['Does things.'], flags: FLAGS });
  expect(text).toMatch(/^ {2}--node +name of the node$/m);
  expect(text).toContain('default: 1400');
});

it('the help keeps the longest flag apart from what it means', () => {
  const longest = { flag: 'maximum-number-of-networks-in-each-namespace', help: 'networks' };
  const text = formatHelp({ usage: 'udn-x', about: [], flags: [...FLAGS, longest] });
  const described = text.split('\n').filter((line) => line.startsWith('  --'));
  expect(described.length).toBeGreaterThan(FLAGS.length);
  expect(described.filter((line) => !/^ {2}--[a-z-]+ {2,}\S/.test(line))).toEqual([]);
  expect(new Set(described.map((line) => /^ {2}--[a-z-]+ +/.exec(line)?.[0].length)).size).toBe(1);
});
