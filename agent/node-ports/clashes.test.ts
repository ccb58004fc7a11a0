import { expect, it } from 'vitest';
import { parseIp } from '../../net/ip.ts';
import type { PortClaim } from '../model/node-ports.ts';
import { clashFinder } from './clashes.ts';

const NODE_PORT: PortClaim = { kind: 'claim', object: 'Service/a/b', protocol: 'TCP', port: 30_080, families: [4] };
const DUAL: PortClaim = { ...NODE_PORT, families: [4, 6] };
const ADDRESS: PortClaim = { ...NODE_PORT, ip: parseIp('172.30.0.2') };

it.each([
  ['a node port', NODE_PORT, '0.0.0.0', true],
  ['a node port', NODE_PORT, '::', true],
  ['a node port', NODE_PORT, '172.30.0.2', true],
  ['a node port of IPv4', NODE_PORT, 'fd00::2', false],
  ['a node port of IPv6', { ...NODE_PORT, families: [6] }, '0.0.0.0', false],
  ['a node port of both', DUAL, 'fd00::2', true],
  ['a node port', DUAL, '127.0.0.53', false],
  ['a node port', DUAL, '::1', false],
  ['a node port', DUAL, 'fe80::1', false],
  ['a node port', DUAL, '169.254.0.2', false],
  ['an address', ADDRESS, '0.0.0.0', true],
  ['an address', ADDRESS, '::', true],
  ['an address', ADDRESS, '172.30.0.2', true],
  ['an address', ADDRESS, '172.30.0.3', false],
] as const)('%s meets who listens on %3$s: %4$s', (_, claim, at, expected) => {
  const listener = { protocol: 'TCP', ip: parseIp(at), port: 30_080 } as const;
  expect(clashFinder([listener])(claim)).toBe(expected ? listener : undefined);
  expect(clashFinder([{ ...listener, protocol: 'UDP' }])(claim)).toBeUndefined();
  expect(clashFinder([{ ...listener, port: 30_081 }])(claim)).toBeUndefined();
});
