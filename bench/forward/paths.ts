/**
 * The host outside that packets go to, and a host on a plain bridge beside the cluster, as ip(8) batches and the arguments
 * of ovs-vsctl(8). Pure.
 */
import type { Family, Ip } from '../../net/ip.ts';
import { GATEWAY_BRIDGE } from '../../sandbox/plan/links.ts';

const lines = (commands: readonly string[]): string => `${commands.join('\n')}\n`;

const defaultRoutes = (via: readonly Ip[], link: string): string[] =>
  via.map((address) => `route replace default via ${address} dev ${link}`);

const patchPort = (bridge: string, name: string, peer: string): string[] => {
  const settings = ['set', 'interface', name, 'type=patch', `options:peer=${peer}`];
  return ['--', 'add-port', bridge, name, '--', ...settings];
};

/**
 * What all packets go to: no address of the nodes' network, so that all ways lead over the same next hop. In local gateway
 * mode the host knows its neighbours, and a tenant only the way out.
 */
export const DESTINATIONS: Readonly<Record<Family, Ip>> = { 4: '203.0.113.9' as Ip, 6: '2001:db8::9' as Ip };

/** Of the sandbox's plan (sandbox/plan/netplan.ts), and one that it leaves free. */
const PLAIN_ADDRESSES = ['172.20.0.240/24', 'fd00:172:20::f0/64'];

/** On the host outside. */
export const DESTINATION_BATCH = lines([
  `address add ${DESTINATIONS[4]}/32 dev lo`,
  `address add ${DESTINATIONS[6]}/128 dev lo nodad`,
]);

/** On the node. @param outside the addresses of the host outside on the nodes' network */
export const nextHopBatch = (outside: readonly Ip[]): string => lines(defaultRoutes(outside, GATEWAY_BRIDGE));

export const PLAIN_HOST = 'forward-plain';
const PLAIN_BRIDGE = 'forward-plain';
const PLAIN_PORT = 'forward-port';

/** On the node: a network namespace and its veth, as a pod has them. */
export const PLAIN_LINK_BATCH = lines([
  `netns add ${PLAIN_HOST}`,
  `link add ${PLAIN_PORT} type veth peer name eth0 netns ${PLAIN_HOST}`,
  `link set ${PLAIN_PORT} up`,
]);

/**
 * The bridge has the one flow that a new one gets, NORMAL, and so has a port of the gateway bridge for MACs that are not the
 * node's: packets leave by the same uplink.
 */
export const PLAIN_BRIDGE_ARGUMENTS: readonly string[] = [
  ...['add-br', PLAIN_BRIDGE],
  ...['--', 'set', 'bridge', PLAIN_BRIDGE, 'fail-mode=standalone'],
  ...['--', 'add-port', PLAIN_BRIDGE, PLAIN_PORT],
  ...patchPort(PLAIN_BRIDGE, 'forward-out', 'forward-in'),
  ...patchPort(GATEWAY_BRIDGE, 'forward-in', 'forward-out'),
];

/** In that namespace. */
export const plainHostBatch = (outside: readonly Ip[]): string =>
  lines([
    'link set lo up',
    'link set eth0 up',
    ...PLAIN_ADDRESSES.map((address) => `address add ${address} dev eth0${address.includes(':') ? ' nodad' : ''}`),
    ...defaultRoutes(outside, 'eth0'),
  ]);
