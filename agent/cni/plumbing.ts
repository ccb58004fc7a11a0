/** What an ADD makes of a pod's attachments: interfaces, OVS ports and the result. Pure. */

import { MOST_SELECTIONS } from '../../api/annotations/network-selection.ts';
import type { PodNetworkEntry } from '../../api/annotations/pod-networks.ts';
import type { CniResult } from '../../api/cni/result.ts';
import { DEFAULT_NETWORK_NAME } from '../../api/names.ts';
import { ALIAS_PREFIX, hostEndMac } from '../../datapath/netlink/pod-interface/marks.ts';
import type { PodInterface, PodNetwork } from '../../datapath/netlink/pod-interface/types.ts';
import { cidrFamily } from '../../net/cidr.ts';
import { ipFamily } from '../../net/ip.ts';
import type { Mac } from '../../net/mac.ts';
import type { Attachment, HeldNetwork, PodAttachments } from '../model/attachments.ts';
import { podPortName } from '../model/names.ts';
import { hearing } from './hearing.ts';
import type { PortSpec } from './ovs-ports.ts';

export interface Container {
  readonly id: string;
  /** Path of its network namespace. */
  readonly netns: string;
}

export interface DatapathFacts {
  /** False on OVS' userspace datapath, which forwards what the pod sends as it is. */
  readonly txChecksum: boolean;
}

export interface Plumbing {
  readonly network: PodNetwork;
  readonly ports: readonly PortSpec[];
  readonly result: CniResult;
}

/** @param attachments with addresses, see `isAddressed` */
export const plumbingOf = (attachments: PodAttachments, container: Container, datapath: DatapathFacts): Plumbing => {
  const wired = attachments.attachments.flatMap((attachment) => {
    const entry = attachments.pod.networks.get(attachment.nadKey);
    return entry === undefined ? [] : [{ attachment, entry, hostName: hostName(container.id, attachment.index) }];
  });
  return {
    network: {
      netns: container.netns,
      interfaces: firstRoutes(wired.map((one) => podInterface(one, attachments, container, datapath))),
    },
    ports: wired.map((one) => portSpec({ ...one, ...one.attachment, pod: attachments.pod, containerId: container.id })),
    result: resultOf(wired, container),
  };
};

/**
 * Names of the node's ends of a container's interfaces, at most 15 characters (IFNAMSIZ): they follow from the container's id, so
 * that DEL finds them when nothing else is known of it.
 */
export const hostName = (containerId: string, index: number): string =>
  index === 0 ? containerId.slice(0, 15) : `${containerId.slice(0, index < 10 ? 13 : 12)}_${index}`;

/** All that a container can have: the default network's, its primary network's, and those of what it selects. */
export const hostNames = (containerId: string): string[] =>
  Array.from({ length: 2 + MOST_SELECTIONS }, (_, index) => hostName(containerId, index));

/** Whose an interface is, as its alias says. */
export interface InterfaceOwner {
  readonly containerId: string;
  readonly interfaceName: string;
  readonly podUid: string;
}

export const formatAlias = ({ containerId, interfaceName, podUid }: InterfaceOwner): string =>
  `${ALIAS_PREFIX}${containerId}:${interfaceName}:${podUid}`;

export const parseAlias = (alias: string | undefined): InterfaceOwner | undefined => {
  if (alias?.startsWith(ALIAS_PREFIX) !== true) return undefined;
  const [containerId = '', interfaceName = '', podUid = ''] = alias.slice(ALIAS_PREFIX.length).split(':');
  return { containerId, interfaceName, podUid };
};

interface Wired {
  readonly attachment: Attachment;
  readonly entry: PodNetworkEntry;
  readonly hostName: string;
}

const podInterface = (
  { attachment, entry, hostName: host }: Wired,
  { pod }: PodAttachments,
  { id }: Container,
  { txChecksum }: DatapathFacts,
): PodInterface => ({
  name: attachment.interfaceName,
  hostName: host,
  mac: entry.mac,
  mtu: attachment.network.mtu,
  addresses: entry.ipAddresses,
  routes: entry.routes.map(({ dest, nextHop }) =>
    nextHop === undefined ? { dst: dest } : { dst: dest, via: nextHop },
  ),
  defaultGateways: entry.gatewayIps,
  alias: formatAlias({ containerId: id, interfaceName: attachment.interfaceName, podUid: pod.uid }),
  txChecksum,
  hears: hearing(attachment, entry),
});

/** A pod that is on a network twice has the way to the network's other subnets by the first of its interfaces there. */
const firstRoutes = (interfaces: readonly PodInterface[]): PodInterface[] => {
  const taken = new Set<string>();
  return interfaces.map((one) => {
    const routes = one.routes.filter(({ dst }) => !taken.has(dst));
    for (const { dst } of routes) taken.add(dst);
    const defaultGateways = one.defaultGateways.filter((ip) => !taken.has(`default ${ipFamily(ip)}`));
    for (const ip of defaultGateways) taken.add(`default ${ipFamily(ip)}`);
    return { ...one, routes, defaultGateways };
  });
};

interface PortInput extends Pick<HeldNetwork, 'nadKey' | 'network'> {
  readonly entry: PodNetworkEntry;
  readonly hostName: string;
  readonly interfaceName: string;
  readonly pod: PodAttachments['pod'];
  readonly containerId: string;
}

const portSpec = ({
  nadKey,
  network,
  entry,
  hostName: host,
  interfaceName,
  pod,
  containerId,
}: PortInput): PortSpec => ({
  name: host,
  logicalPort: podPortName(nadKey, pod.namespace, pod.name),
  podUid: pod.uid,
  sandbox: containerId,
  interfaceName,
  mac: entry.mac,
  addresses: entry.ipAddresses,
  network: nadKey === DEFAULT_NETWORK_NAME ? undefined : { name: network.name, nad: nadKey },
});

/** The node's end of an interface of a pod that runs. */
export interface PodLink {
  readonly name: string;
  /** Its own. */
  readonly mac: Mac | undefined;
  /** In the pod. */
  readonly interfaceName: string;
}

/**
 * The port that a link had, whatever the pod's annotation selects by now, and in which order. Its MAC says of which network it is.
 * Networks with the same addresses give the same MAC: then that is meant which the pod still has by the name of the interface.
 */
export const portOfLink = (
  { pod, held, attachments }: PodAttachments,
  containerId: string,
  { name, mac, interfaceName }: PodLink,
): PortSpec | undefined => {
  const found = held.flatMap((one) => {
    const entry = pod.networks.get(one.nadKey);
    return entry === undefined || hostEndMac(entry.mac) !== mac ? [] : [{ ...one, entry }];
  });
  const isSelected = ({ nadKey }: HeldNetwork): boolean =>
    attachments.some((one) => one.nadKey === nadKey && one.interfaceName === interfaceName);
  const one = found.length > 1 ? found.find(isSelected) : found[0];
  return one && portSpec({ ...one, hostName: name, interfaceName, pod, containerId });
};

/** Both ends of each interface, the host's first; an address points at the end in the pod. */
const resultOf = (wired: readonly Wired[], { netns }: Container): CniResult => ({
  interfaces: wired.flatMap(({ attachment, entry, hostName: host }) => [
    { name: host },
    { name: attachment.interfaceName, mac: entry.mac, mtu: attachment.network.mtu, sandbox: netns },
  ]),
  ips: wired.flatMap(({ entry }, index) =>
    entry.ipAddresses.map((address) => ({
      address,
      gateway: entry.gatewayIps.find((gateway) => ipFamily(gateway) === cidrFamily(address)),
      interface: 2 * index + 1,
    })),
  ),
  routes: [],
  dns: {},
});
