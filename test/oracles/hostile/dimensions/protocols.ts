/** What a frame is, with the marker somewhere in it. */
import { type Family, type Ip, ipFamily, parseIp } from '../../../../net/ip.ts';
import { arp, type Ethernet, frame } from '../../../e2e/support/packets/frames.ts';
import { echoBody, errorBody, igmpBody, mldBody, type NeighbourKind, neighbourBody } from '../frames/control.ts';
import { ipFrame, ipPacket } from '../frames/ip.ts';
import { espBody, greBody, sctpInitBody, tcpSynBody, udpBody } from '../frames/transport.ts';

export interface Intent {
  readonly ethernet: Ethernet;
  readonly src: Ip;
  readonly dst: Ip;
  readonly port: number;
  readonly srcPort?: number;
  readonly marker: Buffer;
}

/** Whether a peer hears it, if nothing is wrong with it: else why not. */
export type Deliverable = true | string;

export interface Protocol {
  readonly name: string;
  readonly families: readonly Family[];
  readonly build: (intent: Intent) => Buffer;
  /** Where the claim is in the message, too: so far it is an attack on neighbour tables. */
  readonly announcesNeighbours?: boolean;
  readonly reachesPeers: Deliverable;
  /** The default network's switch answers it for whom it knows, instead of sending it there. */
  readonly isAnsweredByDefault?: boolean;
}

const BOTH = [4, 6] as const;
const LIMIT = 255;

const ip =
  (number: number, body: (intent: Intent) => Buffer, more: Partial<Parameters<typeof ipFrame>[0]> = {}) =>
  (intent: Intent): Buffer =>
    ipFrame({ ...intent, protocol: number, ...more }, body(intent));

const neighbour = (kind: NeighbourKind): ((intent: Intent) => Buffer) =>
  ip(
    58,
    ({ src, dst, ethernet: { from: mac }, marker }) =>
      neighbourBody(kind, { src, dst, target: kind === 'advertisement' ? src : dst, mac }, marker),
    {
      hopLimit: LIMIT,
    },
  );

const datagram = (intent: Intent): Buffer => udpBody(intent, intent.marker);
const FRAGMENT_ID = 0x1d1d;

/** A datagram that fills one fragment of 48 bytes, and the next one, which has no ports. */
const long = (intent: Intent): Buffer =>
  udpBody(intent, Buffer.concat([intent.marker, Buffer.alloc(40, 0x20), intent.marker]));
const FIRST = 48;

const NO_PORT_SECURITY = 'OVN lets no pod speak as a router.';

export const PROTOCOLS: readonly Protocol[] = [
  { name: 'udp', families: BOTH, build: ip(17, datagram), reachesPeers: true },
  { name: 'tcp', families: BOTH, build: ip(6, (one) => tcpSynBody(one, one.marker)), reachesPeers: true },
  { name: 'sctp', families: BOTH, build: ip(132, (one) => sctpInitBody(one, one.marker)), reachesPeers: true },
  {
    name: 'icmp echo',
    families: BOTH,
    build: (one) => ip(ipFamily(one.dst) === 4 ? 1 : 58, ({ src, dst, marker }) => echoBody(src, dst, marker))(one),
    reachesPeers: true,
  },
  {
    name: 'icmp error',
    families: BOTH,
    build: (one) =>
      ip(ipFamily(one.dst) === 4 ? 1 : 58, ({ src, dst, marker }) =>
        errorBody(src, dst, parseIp(ipFamily(dst) === 4 ? '10.96.0.10' : 'fd00:10:96::a'), marker),
      )(one),
    reachesPeers: 'conntrack finds no connection that the error is about.',
  },
  { name: 'igmp', families: [4], build: ip(2, ({ marker }) => igmpBody(marker), { hopLimit: 1 }), reachesPeers: true },
  {
    name: 'mld',
    families: [6],
    build: ip(58, ({ src, dst, marker }) => mldBody(src, dst, marker), { hopLimit: 1, hasOptions: true }),
    reachesPeers: 'OVN snoops on it: it is for multicast routers only.',
  },
  {
    name: 'neighbour solicitation',
    families: [6],
    build: neighbour('solicitation'),
    announcesNeighbours: true,
    reachesPeers: true,
    isAnsweredByDefault: true,
  },
  {
    name: 'neighbour advertisement',
    families: [6],
    build: neighbour('advertisement'),
    announcesNeighbours: true,
    reachesPeers: true,
  },
  { name: 'router solicitation', families: [6], build: neighbour('router solicitation'), reachesPeers: true },
  {
    name: 'router advertisement',
    families: [6],
    build: neighbour('router advertisement'),
    reachesPeers: NO_PORT_SECURITY,
  },
  { name: 'gre', families: BOTH, build: ip(47, ({ marker }) => greBody(marker)), reachesPeers: true },
  { name: 'esp', families: BOTH, build: ip(50, ({ marker }) => espBody(marker)), reachesPeers: true },
  {
    name: 'arp request',
    families: [4],
    build: ({ ethernet, src, dst, marker }) =>
      Buffer.concat([arp(ethernet, { op: 'request', tell: src, about: dst }), marker]),
    announcesNeighbours: true,
    reachesPeers: true,
    isAnsweredByDefault: true,
  },
  {
    name: 'arp reply',
    families: [4],
    build: ({ ethernet, src, dst, marker }) =>
      Buffer.concat([arp(ethernet, { op: 'reply', tell: src, about: dst, aboutMac: ethernet.to }), marker]),
    announcesNeighbours: true,
    reachesPeers: true,
  },
  {
    name: 'dhcp answer',
    families: BOTH,
    build: (one) => {
      const [from, to] = ipFamily(one.dst) === 4 ? [67, 68] : [547, 546];
      return ip(17, (intent) => udpBody({ ...intent, srcPort: from, port: to }, intent.marker))(one);
    },
    reachesPeers: 'Port security keeps what servers say.',
  },
  {
    name: 'unknown ethertype',
    families: [4],
    build: ({ ethernet, marker }) => frame(ethernet, 0x88b5, marker, Buffer.alloc(46)),
    reachesPeers: 'Port security lets nothing pass but IP and ARP.',
  },
  {
    name: 'tagged',
    families: BOTH,
    build: (one) => {
      const type = ipFamily(one.dst) === 4 ? [0x08, 0] : [0x86, 0xdd];
      return frame(
        one.ethernet,
        0x8100,
        Buffer.from([0, 7, ...type]),
        ipPacket({ ...one, protocol: 17 }, datagram(one)),
      );
    },
    reachesPeers: 'OVN drops frames with a tag that no port was given.',
  },
  {
    name: 'first fragment',
    families: BOTH,
    build: (one) => {
      const fragment = { id: FRAGMENT_ID, offset: 0, hasMore: true };
      return ip(17, (intent) => long(intent).subarray(0, FIRST), { fragment })(one);
    },
    reachesPeers: 'conntrack waits for the rest.',
  },
  {
    name: 'later fragment',
    families: BOTH,
    build: (one) => {
      const fragment = { id: FRAGMENT_ID + 1, offset: FIRST / 8, hasMore: false };
      return ip(17, (intent) => long(intent).subarray(FIRST), { fragment })(one);
    },
    reachesPeers: 'conntrack waits for the first.',
  },
  { name: 'options', families: BOTH, build: ip(17, datagram, { hasOptions: true }), reachesPeers: true },
];
