/**
 * What a process of a node may ask of pods: every address of theirs on that node, those of the link too, and the groups that they all
 * listen to, by every link of the node that leads to pods. Pure.
 */
import { type Family, type Ip, ipFamily, parseIp } from '../../../net/ip.ts';
import { linkLocalFromMac, macFromIp } from '../../../net/mac.ts';
import { type Attachment, PROTOCOLS, type Protocol, type ReachabilityPod } from './types.ts';

export interface NodeSource {
  readonly name: string;
  /** Of another network than the default one, whose pods at their addresses everybody reaches. */
  readonly mayReach: (attachment: Attachment) => boolean;
  /** What it may send to, whether or not there is an answer. Default: what it may reach. */
  readonly mayBeHeardBy?: (attachment: Attachment) => boolean;
}

/** Of the node: by name of the network, the link that leads there, and the broadcast address of its subnet. */
export interface NodeLink {
  readonly network: string;
  readonly device: string;
  readonly broadcast: Ip | undefined;
}

export type Scope = 'global' | 'link' | 'group';

export interface NodeProbe {
  readonly nonce: string;
  readonly source: NodeSource;
  readonly scope: Scope;
  /** Undefined: everybody. */
  readonly to: string | undefined;
  readonly network: string;
  readonly family: Family;
  readonly protocol: Protocol;
  readonly address: Ip;
  /** Undefined: as routes say. */
  readonly device: string | undefined;
  /** Whether it has to be answered. */
  readonly isExpected: boolean;
}

const GROUPS = ['224.0.0.1', '255.255.255.255', 'ff02::1'].map(parseIp);
/** A connection is to one. */
const TO_GROUPS: readonly Protocol[] = ['icmp', 'udp'];

/** @param run different for every measurement; letters, digits, dots and dashes */
export const planNodeProbes = (
  source: NodeSource,
  pods: readonly ReachabilityPod[],
  links: readonly NodeLink[],
  run: string,
): readonly NodeProbe[] => {
  const deviceOf = (network: string): string | undefined => links.find((link) => link.network === network)?.device;
  const all = [
    ...pods.flatMap((pod) => pod.attachments.flatMap((attachment) => toPod(source, pod, attachment, deviceOf))),
    ...links.flatMap((link) => toGroups(source, link)),
  ];
  return all.map((probe, index) => ({ nonce: `${run}.${index}`, ...probe }));
};

type Planned = Omit<NodeProbe, 'nonce'>;

const toPod = (
  source: NodeSource,
  { key }: ReachabilityPod,
  attachment: Attachment,
  deviceOf: (network: string) => string | undefined,
): readonly Planned[] => {
  const { network, addresses, role } = attachment;
  const device = deviceOf(network);
  const base = { source, to: key, network };
  const isExpected = source.mayReach(attachment);
  const routed = role === 'primary' && network !== 'default' ? device : undefined;
  const first = addresses[0];
  const linkLocal = first === undefined || device === undefined ? [] : [linkLocalFromMac(macFromIp(first))];
  return PROTOCOLS.flatMap((protocol): Planned[] => [
    ...addresses.map(
      (address): Planned => ({
        ...{ ...base, scope: 'global', protocol, address, family: ipFamily(address) },
        ...{ device: routed, isExpected },
      }),
    ),
    ...linkLocal.map(
      (address): Planned => ({
        ...{ ...base, scope: 'link', protocol, address, family: 6, device, isExpected: false },
      }),
    ),
  ]);
};

const toGroups = (source: NodeSource, { network, device, broadcast }: NodeLink): readonly Planned[] =>
  [...GROUPS, ...(broadcast === undefined ? [] : [broadcast])].flatMap((address) =>
    TO_GROUPS.map(
      (protocol): Planned => ({
        ...{ source, scope: 'group', to: undefined, network, family: ipFamily(address) },
        ...{ protocol, address, device, isExpected: false },
      }),
    ),
  );
