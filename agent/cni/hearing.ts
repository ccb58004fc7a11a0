/**
 * Which frames a pod hears. OVN's ACLs decide about IP. About neighbour discovery, multicast listeners and routers they
 * cannot: northd lets those pass before any ACL (ovn-northd(8), ACL evaluation, priority 65532), with any payload. So the
 * node's end of a pod's interface decides, by who sends: port security has seen to it that a frame's sender is true.
 *
 * | a pod hears of            | the router, the node | locked pods             | other pods                        |
 * | ------------------------- | -------------------- | ----------------------- | --------------------------------- |
 * | locked interface          | everything           | nothing                 | IP, and answers about a neighbour |
 * | default network           | everything           | IP, and such answers    | all but router advertisements     |
 * | primary network of its own | everything          |                         | all but router advertisements     |
 * | secondary network          | the router, on layer 3 |                      | all but router advertisements     |
 *
 * OVN answers for neighbours in their names: such an answer is let in when it has no room for anything else.
 */
import type { PodNetworkEntry } from '../../api/annotations/pod-networks.ts';
import { gatewayMac, hasGateway, managementMac } from '../../api/network.ts';
import {
  type FrameRule,
  type FrameTest,
  type SharedRule,
  sharedChain,
} from '../../datapath/netlink/frame-filter/types.ts';
import type { Hearing } from '../../datapath/netlink/pod-interface/types.ts';
import { addressOf } from '../../net/cidr.ts';
import { type Ip, ipFamily, ipToBytes } from '../../net/ip.ts';
import type { Mac } from '../../net/mac.ts';
import type { HeldNetwork } from '../model/attachments.ts';

type Receiver = Pick<PodNetworkEntry, 'mac' | 'ipAddresses'>;

export const hearing = ({ network, role, subnets }: HeldNetwork, entry: Receiver): Hearing => {
  const parts = subnets.length > 0 ? subnets : network.subnets.map(({ cidr }) => cidr);
  // Without a router these are addresses of pods.
  const infrastructure = hasGateway(network)
    ? [gatewayMac(network, parts), managementMac(network, parts)].flatMap((mac) => mac ?? [])
    : [];
  const fromInfrastructure = infrastructure.map((mac) => accept(sender(mac)));
  if (network.role !== 'default') return { isLocked: undefined, shared: ON_OWN_NETWORK, rules: fromInfrastructure };
  const isLocked = role === 'infrastructure-locked';
  return {
    isLocked,
    shared: isLocked ? BY_LOCKED_INTERFACE : ON_DEFAULT_NETWORK,
    rules: [...fromInfrastructure, ...neighbourAnswers(entry)],
  };
};

const accept = (...tests: readonly FrameTest[]): FrameRule<'accept'> => ({ tests, verdict: 'accept' });
const drop = (...tests: readonly FrameTest[]): FrameRule<'drop'> => ({ tests, verdict: 'drop' });
/** For the rules of the one pod: of infrastructure alone, or an answer to it. */
const leave = (...tests: readonly FrameTest[]): FrameRule<'return'> => ({ tests, verdict: 'return' });

const LOCKED: FrameTest = { sender: 'locked' };
const NOT_LOCKED: FrameTest = { sender: 'not locked' };

/** Offsets in an untagged frame: OVN drops tagged ones (ovn-northd(8), "Admission Control"). */
const AT = {
  receiver: 0,
  sender: 6,
  type: 12,
  /** Of ARP (RFC 826): who asked. */
  arpTarget: 32,
  /** Of IPv6 (RFC 8200). */
  nextHeader: 20,
  hopLimit: 21,
  source: 22,
  /** ICMPv6's type, or a fragment header: its next header and its offset. */
  payload: 54,
  fragmentOffset: 56,
  fragment: 62,
  /** Of a neighbour advertisement (RFC 4861 §4.4). */
  advertisementFlags: 58,
  advertisementOption: 78,
} as const;

const is = (at: number, bytes: string, mask?: string): FrameTest =>
  mask === undefined ? { at, is: bytes } : { at, is: bytes, mask };
const sender = (mac: Mac): FrameTest => is(AT.sender, hexOfMac(mac));
const hexOfMac = (mac: Mac): string => mac.replaceAll(':', '');

const IPV4 = accept(is(AT.type, '0800'));

const NEXT_HEADER = {
  tcp: '06',
  udp: '11',
  sctp: '84',
  icmp6: '3a',
  fragment: '2c',
} as const;

/**
 * As OVN makes them, with nothing that a pod could choose: the addresses of who answers are its own (port security), those
 * of who has asked are the receiver's. Of an advertisement the checksum is left, which nftables does not compute.
 */
const neighbourAnswers = ({ mac, ipAddresses }: Receiver): FrameRule[] => {
  const to = is(AT.receiver, hexOfMac(mac));
  const answers = ipAddresses.map(addressOf).filter((ip) => ipFamily(ip) === 4);
  return [
    ...answers.map((ip) =>
      accept(
        { length: 42 },
        to,
        is(AT.type, '08060001080006040002'),
        is(AT.arpTarget, `${hexOfMac(mac)}${hexOfIp(ip)}`),
      ),
    ),
    accept(
      { length: 86 },
      to,
      is(AT.type, '86dd6000000000203aff'),
      is(AT.payload, '8800'),
      is(AT.advertisementFlags, '60000000'),
      is(AT.advertisementOption, '0201'),
    ),
  ];
};

const hexOfIp = (ip: Ip): string => Buffer.from(ipToBytes(ip)).toString('hex');

const ipv6 = (nextHeader: string): FrameTest[] => [is(AT.type, '86dd'), is(AT.nextHeader, nextHeader)];

/** RFC 2710, 4861, 3122 (130 to 142), RFC 3810 (143). */
const controlTypes = (at: number): FrameTest[] => [{ at, from: 130, to: 143 }];

/**
 * Transport protocols and echoes, also in fragments. Behind any other extension header could be what ACLs let pass, and
 * filters see only fixed offsets.
 */
const IPV6_WITHOUT_CONTROL: readonly SharedRule[] = [
  ...[NEXT_HEADER.tcp, NEXT_HEADER.udp, NEXT_HEADER.sctp].flatMap((protocol) => [
    accept(...ipv6(protocol)),
    accept(...ipv6(NEXT_HEADER.fragment), is(AT.payload, protocol)),
  ]),
  leave(...ipv6(NEXT_HEADER.icmp6), ...controlTypes(AT.payload)),
  accept(...ipv6(NEXT_HEADER.icmp6)),
  leave(
    ...ipv6(NEXT_HEADER.fragment),
    is(AT.payload, NEXT_HEADER.icmp6),
    is(AT.fragmentOffset, '0000', 'fff8'),
    ...controlTypes(AT.fragment),
  ),
  accept(...ipv6(NEXT_HEADER.fragment), is(AT.payload, NEXT_HEADER.icmp6)),
];

/** RFC 8200 §4: where a router advertisement could be behind. */
const EXTENSION_HEADERS = ['00', '2b', '2c', '33', '3c', '87'];

/** RFC 4861 §6.1.2: from a link-local address, with hop limit 255; who listens refuses others. */
const fromNeighbour: FrameTest[] = [is(AT.hopLimit, 'ff'), is(AT.source, 'fe80', 'ffc0')];

const NO_ROUTER: readonly SharedRule[] = [
  leave(...ipv6(NEXT_HEADER.icmp6), ...fromNeighbour, is(AT.payload, '86')),
  ...EXTENSION_HEADERS.map((header) => leave(...ipv6(header), ...fromNeighbour)),
];

/** Of the locked ones nothing is heard, whatever the pod's own rules say. */
const BY_LOCKED_INTERFACE = sharedChain([drop(LOCKED), IPV4, ...IPV6_WITHOUT_CONTROL]);
const ON_DEFAULT_NETWORK = sharedChain([IPV4, ...NO_ROUTER, accept(NOT_LOCKED), ...IPV6_WITHOUT_CONTROL]);
const ON_OWN_NETWORK = sharedChain([IPV4, ...NO_ROUTER, accept()]);
