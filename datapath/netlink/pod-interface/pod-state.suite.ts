/** What the cases of the conformance suite compare. */

import { POD_LINK_GROUP } from '../../../api/pod-links.ts';
import type { KernelOp } from '../kernel/types.ts';
import type { Snapshot } from '../netlink.ts';
import { hostEndMac } from './marks.ts';
import type { PodInterface, PodNetwork } from './types.ts';

/** The first step of making an interface; with another group it is somebody else's. */
export const pairOf = (
  { name, hostName, mac, mtu }: PodInterface,
  netns: string,
  group = POD_LINK_GROUP,
): KernelOp => ({
  op: 'link.add',
  link: { kind: 'veth', name: hostName, mac: hostEndMac(mac), mtu, group, peer: { name, mac, mtu, group, netns } },
});

export const firstOf = ({ interfaces: [first] }: PodNetwork): PodInterface => {
  if (first === undefined) throw new Error('the pod has no interface');
  return first;
};

export const linkIn = ({ links }: Snapshot, desired: string | undefined) => links.find(({ name }) => name === desired);

export const namesIn = ({ links }: Snapshot): string[] => links.map(({ name }) => name).sort();

/** Detection of duplicates is skipped, but for link-local addresses the kernel finds that out on another thread. */
export const addressesIn = ({ addresses }: Snapshot): string[] =>
  addresses
    .filter(({ link }) => link !== 'lo')
    .map(({ link, address, scope, state }) => `${link} ${address} ${scope === 'link' ? scope : state}`)
    .sort();

/** Those that the kernel has not made itself. */
export const routesIn = ({ routes }: Snapshot): string[] =>
  routes
    .filter(({ protocol }) => protocol !== 2)
    .map(({ dst, via, dev, mtu, onlink }) =>
      [
        dst,
        ...(via === undefined ? [] : [`via ${via}`]),
        ...(dev === undefined ? [] : [`dev ${dev}`]),
        ...(mtu === undefined ? [] : [`mtu ${mtu}`]),
        ...(onlink === true ? ['onlink'] : []),
      ].join(' '),
    )
    .sort();

/** All but what changes with a pair that is recreated. */
export const stateOf = ({ interfaces }: PodNetwork, { node, pod }: { node: Snapshot; pod: Snapshot }) => {
  const settled = ({ links }: Snapshot) =>
    links.map(({ index: _, peer: __, ...link }) => link).sort((a, b) => (a.name < b.name ? -1 : 1));
  const hostNames = interfaces.map(({ hostName }) => hostName);
  return {
    host: settled({ ...node, links: node.links.filter(({ name }) => hostNames.includes(name)) }),
    links: settled(pod),
    addresses: addressesIn(pod),
    routes: routesIn(pod),
    sysctls: pod.sysctls,
  };
};
