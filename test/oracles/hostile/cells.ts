/** The product of all dimensions without what makes no sense, each left out for a reason. Pure, and of no cluster. */
import { FAMILIES, type Family } from '../../../net/ip.ts';
import { CLAIMS, type Claim, isHonest } from './dimensions/claims.ts';
import { ENCAPSULATIONS, type Encapsulation, isDatagram } from './dimensions/encapsulations.ts';
import { ENTRY_POINTS, type EntryPoint } from './dimensions/entry-points.ts';
import { NEXT_HOPS, type NextHop } from './dimensions/next-hops.ts';
import { PROTOCOLS, type Protocol } from './dimensions/protocols.ts';
import { meansOf, SOURCES, type SourceName } from './dimensions/sources.ts';

export interface Cell {
  readonly source: SourceName;
  readonly entry: EntryPoint;
  readonly family: Family;
  readonly protocol: Protocol;
  readonly encapsulation: Encapsulation;
  readonly hop: NextHop;
  readonly claim: Claim;
}

export interface LeftOut {
  readonly when: (cell: Cell) => boolean;
  readonly why: string;
}

const isOf =
  <Value>(...values: readonly Value[]): ((value: Value) => boolean) =>
  (value) =>
    values.includes(value);
const isSocket = ({ source }: Cell): boolean => meansOf(source) === 'datagrams';
const isOutside = ({ source }: Cell): boolean => source === 'host outside';
/** Enough to ask what a forged source is worth: port security looks at addresses before it looks at anything else. */
const ASKED_OF_CLAIMS = isOf(
  'udp',
  'icmp echo',
  'arp request',
  'arp reply',
  'neighbour solicitation',
  'neighbour advertisement',
);

export const LEFT_OUT: readonly LeftOut[] = [
  { when: ({ family, entry }) => !entry.families.includes(family), why: 'There is no such address.' },
  { when: ({ family, protocol }) => !protocol.families.includes(family), why: 'The protocol is of the other family.' },
  {
    when: ({ encapsulation, entry }) => encapsulation !== 'none' && entry.isTunnelEndpoint !== true,
    why: 'Nobody takes a packet apart but a node.',
  },
  {
    when: ({ encapsulation, protocol, claim }) =>
      encapsulation !== 'none' && (protocol.name !== 'udp' || claim !== 'itself'),
    why: 'What is inside is a datagram; who sends the outer packet is told in that way already.',
  },
  {
    when: ({ encapsulation, hop }) => encapsulation !== 'none' && hop !== 'router' && hop !== 'management port',
    why: 'Only who forwards leads to another node’s address.',
  },
  {
    when: ({ claim, protocol }) => !isHonest(claim) && !ASKED_OF_CLAIMS(protocol.name),
    why: 'Port security looks at addresses only, and at those of neighbour messages.',
  },
  {
    when: ({ claim, hop }) => !isHonest(claim) && isOf<NextHop>('peer', 'group', 'node')(hop),
    why: 'The same: not at where it goes.',
  },
  {
    when: (cell) => isSocket(cell) && (cell.claim !== 'itself' || cell.hop !== 'router'),
    why: 'A socket’s addresses are the kernel’s.',
  },
  {
    when: (cell) =>
      isSocket(cell) &&
      (cell.protocol.name !== 'udp' || !(cell.encapsulation === 'none' || isDatagram(cell.encapsulation))),
    why: 'What is not a datagram the reachability oracle asks for, with answers (test/oracles/reachability).',
  },
  {
    when: (cell) => isOutside(cell) && !isOf<NextHop>('router', 'broadcast', 'group')(cell.hop),
    why: 'Outside there is nobody but nodes: its router is the first of them.',
  },
  {
    when: (cell) =>
      isOutside(cell) && isOf<Claim>('its peer', 'its gateway', 'the MAC address of its gateway')(cell.claim),
    why: 'It has none.',
  },
];

/** In a fixed order. */
export const cells = (entries: readonly EntryPoint[] = ENTRY_POINTS): readonly Cell[] =>
  SOURCES.flatMap((source) => entries.flatMap((entry) => cellsBetween(source, entry)));

/** @returns also what is left out */
export const everyCellBetween = (source: SourceName, entry: EntryPoint): readonly Cell[] =>
  productOf(source, entry, ENCAPSULATIONS);

const productOf = (source: SourceName, entry: EntryPoint, encapsulations: readonly Encapsulation[]): readonly Cell[] =>
  FAMILIES.flatMap((family) =>
    PROTOCOLS.flatMap((protocol) =>
      encapsulations.flatMap((encapsulation) =>
        NEXT_HOPS.flatMap((hop) =>
          CLAIMS.map((claim): Cell => ({ source, entry, family, protocol, encapsulation, hop, claim })),
        ),
      ),
    ),
  );

export const reasonAgainst = (cell: Cell): string | undefined => LEFT_OUT.find(({ when }) => when(cell))?.why;

const cellsBetween = (source: SourceName, entry: EntryPoint): readonly Cell[] =>
  productOf(source, entry, entry.isTunnelEndpoint === true ? ENCAPSULATIONS : ['none']).filter(
    (cell) => reasonAgainst(cell) === undefined,
  );

export const cellId = ({ source, entry, family, protocol, encapsulation, hop, claim }: Cell): string =>
  [
    `${source} → ${entry.name}`,
    `IPv${family} ${protocol.name}`,
    ...(encapsulation === 'none' ? [] : [encapsulation]),
    ...(meansOf(source) === 'datagrams' ? [] : [`by ${hop}`, ...(claim === 'itself' ? [] : [`as ${claim}`])]),
  ].join(', ');
