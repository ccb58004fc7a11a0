/** Who an attacker says that it is: a source address and a source MAC address. */
import { type Family, type Ip, parseIp } from '../../../../net/ip.ts';
import { networkOf, type World } from '../world.ts';
import type { Target } from './entry-points.ts';
import { type Attacker, linkOf } from './sources.ts';

export const CLAIMS = [
  'itself',
  'its link-local address',
  'its peer',
  'the target',
  'its gateway',
  'a masquerade address',
  'the node',
  'the other node',
  'loopback',
  'nobody',
  'a group',
  'the MAC address of its gateway',
  'a made-up MAC address',
] as const;
export type Claim = (typeof CLAIMS)[number];

export interface Claimed {
  readonly src: Ip;
  readonly mac: string;
}

/** Those that a stack says, too. */
export const isHonest = (claim: Claim): boolean => claim === 'itself' || claim === 'its link-local address';

/** Undefined where there is no such thing. */
export const claimedBy = (
  world: World,
  attacker: Attacker,
  { target, family, claim }: { readonly target: Target; readonly family: Family; readonly claim: Claim },
): Claimed | undefined => {
  const link = linkOf(attacker);
  const own = link.addresses[family];
  const by = (src: Ip | undefined, mac = link.mac): Claimed | undefined =>
    src === undefined ? undefined : { src, mac };
  const fixed = (four: string, six: string): Claimed | undefined => by(parseIp(family === 4 ? four : six));
  const claims: Readonly<Record<Claim, () => Claimed | undefined>> = {
    itself: () => by(own),
    'its link-local address': () => by(family === 6 ? link.linkLocal : undefined),
    'its peer': () => by(attacker.peer?.primary.addresses[family]),
    'the target': () => by(target.ip),
    'its gateway': () => by(attacker.gateways?.[family]),
    'a masquerade address': () => by(networkOf(world, attacker.tenant ?? 'blue').masquerade[family].at(-1)),
    'the node': () => by(world.nodes[0].addresses[family]),
    'the other node': () => by(world.nodes[1].addresses[family]),
    loopback: () => fixed('127.0.0.1', '::1'),
    nobody: () => fixed('0.0.0.0', '::'),
    'a group': () => fixed('224.0.0.1', 'ff02::1'),
    'the MAC address of its gateway': () => by(own, attacker.routerMac),
    'a made-up MAC address': () => by(own, '02:00:00:00:00:77'),
  };
  return claims[claim]();
};
