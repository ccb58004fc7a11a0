/** Cells with a cluster's addresses in them: what is sent, byte by byte. Pure. */
import type { Family } from '../../../net/ip.ts';
import { type Cell, cellId } from './cells.ts';
import { claimedBy } from './dimensions/claims.ts';
import { tunnelFrames, tunnelPayload, tunnelPort } from './dimensions/encapsulations.ts';
import type { Target } from './dimensions/entry-points.ts';
import { macOfHop } from './dimensions/next-hops.ts';
import { type Attacker, findAttacker, linkOf } from './dimensions/sources.ts';
import type { KnownTunnelKey, World } from './world.ts';

/** `frames`: more than one are of one packet. */
export type Shot = Frames | Datagram;

interface Frames {
  readonly device: string;
  readonly frames: readonly Buffer[];
  /** socket(7), SO_MARK. */
  readonly mark?: number;
}

interface Datagram {
  readonly address: string;
  readonly port: number;
  readonly scope: string | undefined;
  readonly payload: Buffer;
  /** socket(7), SO_MARK. */
  readonly mark?: number;
}

export interface HostileCase {
  /** The same in every run. */
  readonly id: string;
  readonly cell: Cell;
  readonly attacker: Attacker;
  readonly target: Target;
  /** Whether its addresses are its own, as those of a target may be, too, where networks have the same subnets. */
  readonly isHimself: boolean;
  readonly shoot: (marker: Buffer) => Shot;
}

/** What every pod's server hears. */
export const SERVED_PORT = 8081;

/**
 * A cell of frames has one target, each in its turn, as an entry point has hundreds of such cells. A cell of datagrams, of which
 * there are few, has all of them.
 */
export const casesOf = (world: World, cells: readonly Cell[]): readonly HostileCase[] => {
  const turns = new Map<string, number>();
  return cells.flatMap((cell) => {
    const key = `${cell.source} ${cell.entry.name} ${cell.family}`;
    const turn = turns.get(key) ?? 0;
    turns.set(key, turn + 1);
    const attacker = findAttacker(world, cell.source);
    const all = cell.encapsulation === 'none' ? targetsOf(world, attacker, cell) : keysFor(world, attacker);
    const count = attacker.means === 'frames' ? 1 : all.length;
    return Array.from({ length: count }, (_, index) => caseOf(world, cell, turn + index) ?? []).flat();
  });
};

const targetsOf = (world: World, attacker: Attacker, { entry, family, encapsulation }: Cell): readonly Target[] =>
  entry
    .of(world, attacker, family)
    .filter(({ label }) => encapsulation === 'none' || label.startsWith(world.nodes[1].name));

/** Undefined where the cluster has nothing of it, for example no MAC address of what is behind a router. */
export const caseOf = (world: World, cell: Cell, turn: number): HostileCase | undefined => {
  const attacker = findAttacker(world, cell.source);
  const targets = targetsOf(world, attacker, cell);
  const target = targets[turn % targets.length];
  const keys = keysFor(world, attacker);
  const key = keys[turn % keys.length];
  if (target === undefined || key === undefined) return undefined;
  const shoot = shooter(world, { cell, attacker, target, key });
  if (shoot === undefined) return undefined;
  const inside =
    cell.encapsulation === 'none' ? '' : ` with ${key.isLocked ? 'the locked interface of ' : ''}${key.pod} inside`;
  const isHimself = attacker.means === 'datagrams' || isOwn(world, { cell, attacker, target, key });
  return {
    id: `${world.nodes[0].name}: ${cellId(cell)} (${target.label}${inside})`,
    cell,
    attacker,
    target,
    isHimself,
    shoot,
  };
};

/** Without an address are who looks for duplicates of it, and DHCP clients. */
const isOwn = (world: World, { cell: { family, claim }, attacker, target }: Aim): boolean => {
  const claimed = claimedBy(world, attacker, { target, family, claim });
  const { mac, addresses, linkLocal } = linkOf(attacker);
  const own: readonly string[] = [addresses[family], linkLocal, '0.0.0.0', '::'];
  return claimed?.mac === mac && own.includes(claimed.src);
};

/** Of somebody else's pod on the other node. */
const keysFor = (world: World, { tenant }: Attacker): readonly KnownTunnelKey[] =>
  world.tunnelKeys.filter(({ pod, isLocked }) => isLocked || !pod.startsWith(`${tenant}/`));

interface Aim {
  readonly cell: Cell;
  readonly attacker: Attacker;
  readonly target: Target;
  readonly key: KnownTunnelKey;
}

type Shooter = (marker: Buffer) => Shot;

const shooter = (world: World, aim: Aim): Shooter | undefined =>
  aim.attacker.means === 'frames' ? frameShooter(world, aim) : datagramShooter(world, aim);

/** Inside a tunnel's packet is IPv4 and IPv6 in turn. */
const innerFamily = (marker: Buffer): Family => ((marker.at(-2) ?? 0) % 2 === 0 ? 4 : 6);

const datagramShooter = (world: World, { cell: { encapsulation }, target, key }: Aim): Shooter => {
  const { ip: address, port = SERVED_PORT, scope } = target;
  if (encapsulation === 'none') return (payload) => ({ address, port, scope, payload });
  return (marker) => {
    const payload = tunnelPayload(world, { encapsulation, key, family: innerFamily(marker), marker });
    return { address, port: tunnelPort(encapsulation), scope, payload };
  };
};

const frameShooter = (world: World, { cell, attacker, target, key }: Aim): Shooter | undefined => {
  const { encapsulation, protocol, family, claim, hop } = cell;
  const to = macOfHop(world, attacker, target, hop);
  const claimed = claimedBy(world, attacker, { target, family, claim });
  if (to === undefined || claimed === undefined) return undefined;
  const { device } = linkOf(attacker);
  const outer = { ethernet: { from: claimed.mac, to }, src: claimed.src, dst: target.ip };
  return (marker) => {
    const intent = { ...outer, port: target.port ?? SERVED_PORT, marker };
    const frames =
      encapsulation === 'none'
        ? [protocol.build(intent)]
        : tunnelFrames(world, { encapsulation, key, family: innerFamily(marker), marker }, intent);
    return { device, frames };
  };
};
