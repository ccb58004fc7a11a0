/** To whom a frame is addressed on its first link. */
import { type Ip, ipFamily, ipToBytes } from '../../../../net/ip.ts';
import { BROADCAST, multicastMac } from '../../../e2e/support/packets/frames.ts';
import type { World } from '../world.ts';
import type { Target } from './entry-points.ts';
import type { Attacker } from './sources.ts';

export const NEXT_HOPS = ['router', 'management port', 'target', 'peer', 'node', 'broadcast', 'group'] as const;
export type NextHop = (typeof NEXT_HOPS)[number];

/** Undefined where there is none. */
export const macOfHop = (world: World, attacker: Attacker, target: Target, hop: NextHop): string | undefined => {
  const macs: Readonly<Record<NextHop, string | undefined>> = {
    router: attacker.routerMac,
    'management port': attacker.managementMac,
    target: target.mac,
    peer: attacker.peer?.primary.mac,
    node: world.nodes[0].mac,
    broadcast: BROADCAST,
    group: groupMac(target.ip),
  };
  return macs[hop];
};

/** RFC 1112 §6.4, RFC 2464 §7. What is for one receiver goes to all hosts. */
const groupMac = (ip: Ip): string => {
  if (ipFamily(ip) === 6) return multicastMac(ip.startsWith('ff') ? ip : ('ff02::1' as Ip));
  const [, second = 0, third = 0, fourth = 0] = [...ipToBytes(ip)];
  const isGroup = Number(ip.split('.')[0]) >= 224 && !ip.startsWith('255.');
  const bytes = isGroup ? [second & 0x7f, third, fourth] : [0, 0, 1];
  return ['01', '00', '5e', ...bytes.map((byte) => byte.toString(16).padStart(2, '0'))].join(':');
};
