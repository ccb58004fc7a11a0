/**
 * What the userspace datapath needs of a node's kernel. It reads frames through packet sockets, which only copy them: the
 * kernel's own stack sees every frame too, and would answer a second time (Open vSwitch documentation, "Open vSwitch
 * without Kernel Support").
 */
import { UPLINK } from './links.ts';

/** nft(8) input: frames of the uplink go to packet sockets and no further. Packet sockets come before this hook. */
export const UPLINK_GUARD = [
  'table netdev userspace-datapath {',
  `  chain uplink { type filter hook ingress device "${UPLINK}" priority 0; policy drop; }`,
  '}',
  '',
].join('\n');

/** Without it: the NIC is the kernel's again. */
export const NO_UPLINK_GUARD = 'destroy table netdev userspace-datapath\n';

/** A port without addresses, such as the host's end of a pod's veth, must not answer for those of other links. */
export const USERSPACE_SYSCTLS: readonly string[] = ['net.ipv4.conf.all.arp_ignore=1'];
