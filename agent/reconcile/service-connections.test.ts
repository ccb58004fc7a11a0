import { setImmediate as settle } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import type { Opened, TrackedProtocol } from '../../datapath/conntrack/conntrack.ts';
import { type Family, ipFamily, parseIp } from '../../net/ip.ts';
import { connectionsTo, entryPointOf, ServiceConnections } from './service-connections.ts';

const to = (ip: string, port: number, isTranslated = true): Opened => ({ ip: parseIp(ip), port, isTranslated });
const NODE = '172.30.0.2';
const isNode = (ip: string): boolean => ip === NODE;
const NODE_PORT = { protocol: 'udp', family: 4, port: 30053 } as const;
const EXTERNAL = { protocol: 'udp', family: 4, ip: '192.0.2.1', port: 53 } as const;

it.each([
  ['element nodeports-v4 udp . 30053', NODE_PORT],
  ['element nodeports-etp-local-v6 sctp . 30053', { protocol: 'sctp', family: 6, port: 30053 }],
  ['element external-ips-v4 192.0.2.1 . udp . 53', EXTERNAL],
  ['element external-ips-etp-local-v6 2001:db8::1 . udp . 53', { ...EXTERNAL, family: 6, ip: '2001:db8::1' }],
  ['element itp-services-to-host-v4 192.0.2.1 . udp . 53', EXTERNAL],
  ['element itp-services-to-mark-v4 192.0.2.1 . udp . 53', EXTERNAL],
  ['element nodeports-v4 tcp . 30053', undefined],
  ['element udn-mark-nodeports udp . 30053', undefined],
  ['element nodeport-ips-v4 172.30.0.2', undefined],
  ['set nodeports-v4', undefined],
  ['chain services', undefined],
])('%s is where clients come', (key, expected) => expect(entryPointOf(key)).toEqual(expected));

describe('what is forgotten', () => {
  it.each([
    ['what came to the node port', [NODE_PORT], to(NODE, 30053), true],
    ['what came to it by an address that the node had', [NODE_PORT], to('172.30.0.99', 30053), true],
    ['what was let through to the node before', [NODE_PORT], to(NODE, 30053, false), true],
    ['what is others’ with its number', [NODE_PORT], to('198.51.100.9', 30053, false), false],
    ['what came to another port', [NODE_PORT], to(NODE, 30054), false],
    ['what came to the address', [EXTERNAL], to('192.0.2.1', 53), true],
    ['what was let through to it before', [EXTERNAL], to('192.0.2.1', 53, false), true],
    ['what came to another port of it', [EXTERNAL], to('192.0.2.1', 54), false],
    ['what came to another address', [EXTERNAL], to('192.0.2.2', 53), false],
  ])('%s', (_, entryPoints, opened, expected) => {
    expect(connectionsTo(entryPoints, [opened, opened], isNode)).toEqual(expected ? [opened] : []);
  });
});

class FakeKernel {
  readonly log: string[] = [];
  connections: readonly Opened[] = [];
  failures = 0;

  async opened(protocol: TrackedProtocol, family: Family): Promise<readonly Opened[]> {
    this.log.push(`list ${protocol} ${family}`);
    if (this.failures-- > 0) throw new Error('not now');
    return this.connections.filter(({ ip }) => ipFamily(ip) === family);
  }

  async flushOpened(protocol: TrackedProtocol, { ip, port }: Pick<Opened, 'ip' | 'port'>): Promise<boolean> {
    this.log.push(`forget ${protocol} ${ip} ${port}`);
    return true;
  }
}

const open = () => {
  const kernel = new FakeKernel();
  const clock = createFakeClock();
  const errors: unknown[] = [];
  const connections = new ServiceConnections({ conntrack: kernel, clock, onError: (error) => errors.push(error) });
  return { kernel, clock, errors, connections };
};
const has = (key: string): boolean => key === `element nodeport-ips-v4 ${NODE}`;
it('looks once for all that changed, at their families and protocols, and at nothing for other changes', async () => {
  const { kernel, connections } = open();
  connections.written(['element nodeports-v4 tcp . 1', 'element udn-mark-nodeports udp . 30053', 'chain x'], has);
  await settle();
  expect(kernel.log).toEqual([]);
  kernel.connections = [to(NODE, 30053), to(NODE, 30054), to(NODE, 1), to('2001:db8::1', 53)];
  const keys = ['nodeports-v4 udp . 30053', 'nodeports-v4 udp . 30054', 'external-ips-v6 2001:db8::1 . udp . 53'];
  connections.written(
    keys.map((key) => `element ${key}`),
    has,
  );
  await settle();
  expect(kernel.log).toEqual([
    'list udp 4',
    `forget udp ${NODE} 30053`,
    `forget udp ${NODE} 30054`,
    'list udp 6',
    'forget udp 2001:db8::1 53',
  ]);
});

it('tries again later, with what has changed since, and not after its end', async () => {
  const { kernel, clock, errors, connections } = open();
  kernel.connections = [to(NODE, 30053)];
  kernel.failures = 1;
  connections.written(['element nodeports-v4 udp . 30053'], has);
  await settle();
  expect(errors).toHaveLength(1);
  await clock.advance(10_000);
  await settle();
  expect(kernel.log).toEqual(['list udp 4', 'list udp 4', `forget udp ${NODE} 30053`]);
  kernel.failures = 1;
  connections.written(['element nodeports-v4 udp . 30053'], has);
  await settle();
  connections.stop();
  await clock.advance(60_000);
  await settle();
  expect(kernel.log).toHaveLength(4);
});
