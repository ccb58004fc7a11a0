/**
 * What an attacker can address. This is the one list that a feature adds to: whatever address, port or group it makes, one entry
 * here has it attacked by every source, in every way.
 */
import { type Family, type Ip, ipFamily, parseIp } from '../../../../net/ip.ts';
import { type Foothold, type Interface, nearPods, networkOf, type World } from '../world.ts';
import { NODE_ENTRY_POINTS } from './node-entry-points.ts';
import type { Attacker } from './sources.ts';

export interface Target {
  /** What it is, for names of cases. */
  readonly label: string;
  readonly ip: Ip;
  /** Where the frame goes when it does not go to a router. */
  readonly mac?: string | undefined;
  /** Default: what every pod serves. */
  readonly port?: number;
  /** The link of the node that a socket has to be bound to. */
  readonly scope?: string | undefined;
  /** Whose pod or network it is. */
  readonly tenant?: string;
}

export interface EntryPoint {
  readonly name: string;
  readonly families: readonly Family[];
  /** What is encapsulated is for such ones only. */
  readonly isTunnelEndpoint?: boolean;
  /** Whose target it is hears whoever sends as himself, but for locked interfaces: docs/services.md. */
  readonly isPublic?: boolean;
  readonly of: (world: World, attacker: Attacker, family: Family) => readonly Target[];
}

const BOTH = [4, 6] as const;

/** All pods but the attacker's and those of its network. */
const victims = (world: World, { tenant, place }: Attacker): readonly Foothold[] =>
  world.footholds.filter((one) => one.tenant !== tenant && one.pod !== place);

/** A link of the node that leads to the pod. */
const scopeOf = (world: World, foothold: Foothold, via: 'primary' | 'default'): string =>
  networkOf(world, via === 'primary' ? foothold.tenant : 'plain').managementPort.device;

const globals = (at: Interface, family: Family): Ip => at.addresses[family];

const fixed =
  (label: string, ...addresses: readonly string[]): EntryPoint['of'] =>
  (_, __, family) =>
    addresses
      .map(parseIp)
      .filter((ip) => ipFamily(ip) === family)
      .map((ip) => ({ label: `${label} ${ip}`, ip }));

/** The same on each link of the node that leads to pods. */
const onEachManagementPort =
  (label: string, ip: (world: World, tenant: string) => Ip): EntryPoint['of'] =>
  (world, { means }) =>
    means === 'frames'
      ? [{ label, ip: ip(world, 'plain') }]
      : world.networks.map(({ tenant, managementPort }) => ({
          label: `${label} of ${tenant}`,
          ip: ip(world, tenant),
          scope: managementPort.device,
          tenant,
        }));

export const ENTRY_POINTS: readonly EntryPoint[] = [
  {
    name: 'pod',
    families: BOTH,
    of: (world, attacker, family) =>
      victims(world, attacker).map((one) => ({
        ...{ label: one.pod, ip: globals(one.primary, family), mac: one.primary.mac, tenant: one.tenant },
        scope: scopeOf(world, one, 'primary'),
      })),
  },
  {
    name: 'pod by its link-local address',
    families: [6],
    of: (world, attacker) =>
      victims(world, attacker).map((one) => ({
        ...{ label: one.pod, ip: one.primary.linkLocal, mac: one.primary.mac, tenant: one.tenant },
        scope: scopeOf(world, one, 'primary'),
      })),
  },
  {
    name: 'locked interface',
    families: BOTH,
    of: (world, attacker, family) =>
      victims(world, attacker).flatMap((one) =>
        one.locked === undefined
          ? []
          : [{ label: one.pod, ip: globals(one.locked, family), mac: one.locked.mac, tenant: one.tenant }],
      ),
  },
  {
    name: 'locked interface by its link-local address',
    families: [6],
    of: (world, attacker) =>
      victims(world, attacker).flatMap((one) =>
        one.locked === undefined
          ? []
          : [
              {
                ...{ label: one.pod, ip: one.locked.linkLocal, mac: one.locked.mac, tenant: one.tenant },
                scope: scopeOf(world, one, 'default'),
              },
            ],
      ),
  },
  {
    name: 'gateway',
    families: BOTH,
    of: (world, _, family) =>
      world.networks
        .map(({ tenant }) => nearPods(world, tenant)[0])
        .map((one) => ({ label: one.tenant, ip: one.gateways[family], mac: one.gatewayMac, tenant: one.tenant })),
  },
  {
    name: 'management port',
    families: BOTH,
    of: (world, _, family) =>
      world.networks.map(({ tenant, managementPort: { mac, addresses } }) => ({
        ...{ label: tenant, ip: addresses[family], mac, tenant },
      })),
  },
  {
    name: 'masquerade address',
    families: BOTH,
    of: (world, _, family) =>
      world.networks.flatMap(({ tenant, masquerade }) =>
        masquerade[family].map((ip) => ({ label: `${tenant} ${ip}`, ip, tenant })),
      ),
  },
  {
    name: 'node',
    families: BOTH,
    of: (world, _, family) =>
      world.nodes.flatMap(({ name, mac, addresses }) =>
        [53, 10_250].map((port) => ({ label: `${name}:${port}`, ip: addresses[family], mac, port })),
      ),
  },
  {
    name: 'node by its link-local address',
    families: [6],
    of: (world) => world.nodes.map(({ name, mac, linkLocal }) => ({ label: name, ip: linkLocal, mac, scope: 'br-ex' })),
  },
  {
    name: 'tunnel endpoint',
    families: BOTH,
    isTunnelEndpoint: true,
    of: (world, _, family) =>
      world.nodes.map(({ name, mac, addresses }) => ({ label: name, ip: addresses[family], mac, port: 6081 })),
  },
  {
    name: 'ClusterIP',
    families: BOTH,
    of: (world, { tenant }, family) =>
      world.services
        .filter((one) => one.tenant !== tenant)
        .map(({ name, addresses, port, tenant: owner }) => ({
          label: name,
          ip: addresses[family],
          port,
          tenant: owner,
        })),
  },
  {
    name: 'broadcast address of a subnet',
    families: [4],
    of: (world, attacker, family) =>
      onEachManagementPort('broadcast', (_, tenant) => networkOf(world, tenant).broadcast)(world, attacker, family),
  },
  {
    name: 'limited broadcast',
    families: [4],
    of: onEachManagementPort('255.255.255.255', () => parseIp('255.255.255.255')),
  },
  {
    name: 'all hosts',
    families: BOTH,
    of: (world, attacker, family) =>
      onEachManagementPort('all hosts', () => parseIp(family === 4 ? '224.0.0.1' : 'ff02::1'))(world, attacker, family),
  },
  {
    name: 'a group of the site',
    families: BOTH,
    of: (world, attacker, family) =>
      onEachManagementPort('group', () => parseIp(family === 4 ? '239.1.2.3' : 'ff05::77'))(world, attacker, family),
  },
  {
    name: 'solicited-node group',
    families: [6],
    of: (world, attacker) =>
      victims(world, attacker).flatMap((one) =>
        [one.primary, ...(one.locked === undefined ? [] : [one.locked])].map((at) => ({
          label: `${one.pod} ${at.device}`,
          ip: solicitedNode(at.addresses[6]),
          scope: scopeOf(world, one, at === one.locked ? 'default' : 'primary'),
          tenant: one.tenant,
        })),
      ),
  },
  { name: 'loopback', families: BOTH, of: fixed('loopback', '127.0.0.1', '::1') },
  {
    name: 'switch between routers',
    families: BOTH,
    of: fixed('join or transit', '100.64.0.1', '100.65.0.2', '100.88.0.3', 'fd98::1', 'fd99::2', 'fd97::3'),
  },
  {
    name: 'server outside',
    families: BOTH,
    of: (world, _, family) => [{ label: 'outside', ip: world.outside.addresses[family] }],
  },
  ...NODE_ENTRY_POINTS,
];

/** RFC 4291 §2.7.1. */
const solicitedNode = (ip: Ip): Ip => {
  const last = ip.split(':').slice(-2);
  const words = last.map((word) => word.padStart(4, '0')).join('');
  return parseIp(`ff02::1:ff${words.slice(2, 4)}:${words.slice(4)}`);
};
