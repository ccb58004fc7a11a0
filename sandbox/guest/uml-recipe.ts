/** What the kernel of a guest in user-mode Linux is built of. Every change here makes a new one in the cache: minutes. */
import { createHash } from 'node:crypto';
import { SUITE } from '../tree/recipe.ts';

/** Debian has it in the backports of `SUITE`. 7.2 runs several processors with `seccomp=on`, older ones do not. */
export const UML_SOURCE = 'linux-source-7.2';

/** Names the folder with the kernel in the cache. */
export const umlKey = (turnedOff: TurnedOff = UML_TURNED_OFF): string => {
  const words = JSON.stringify([SUITE, UML_SOURCE, umlOptions(), turnedOff]);
  return `guest-uml-${UML_SOURCE.replace('linux-source-', '')}-${createHash('sha256').update(words).digest('hex').slice(0, 12)}`;
};

/** mmdebstrap(1) arguments that unpack the kernel's sources of `mirror`, and nothing that they depend on, into `target`. */
export const umlSourceArguments = (mirror: string, target: string): string[] => [
  '--variant=extract',
  '--aptopt=Acquire::Languages "none"',
  `--include=${UML_SOURCE}`,
  `${SUITE}-backports`,
  target,
  `deb ${mirror} ${SUITE} main`,
  `deb ${mirror} ${SUITE}-backports main`,
];

/** Arguments of the kernel's scripts/config, after `make defconfig`. */
export const umlOptions = (): string[] => [
  ...UML_ENABLED.flatMap((name) => ['--enable', name]),
  ...DISABLED.flatMap((name) => ['--disable', name]),
  ...['--set-val', 'NR_CPUS', '8'],
];

/** @param config the content of the kernel's .config */
export const isConfigured = (config: string, name: string): boolean => config.includes(`\nCONFIG_${name}=y\n`);

const split = (text: string): string[] => text.trim().split(/\s+/);

/** Nothing is a module: a guest has no modules to load. */
export const UML_ENABLED: readonly string[] = [
  // Without it some of the others can't be chosen.
  ...split('EXPERT NETFILTER_ADVANCED IP_ADVANCED_ROUTER'),
  ...split('SMP HIGH_RES_TIMERS DEBUG_INFO_NONE IKCONFIG IKCONFIG_PROC'),
  // The machine: its tap, its files.
  ...split('UML_NET_VECTOR HOSTFS BLK_DEV_INITRD'),
  // What programs take for granted on Debian.
  ...split('SYSVIPC POSIX_MQUEUE EPOLL FANOTIFY FHANDLE INOTIFY_USER DEVTMPFS TMPFS TMPFS_POSIX_ACL TMPFS_XATTR'),
  ...split('OVERLAY_FS BPF_SYSCALL SECCOMP SECCOMP_FILTER UNIX PACKET PACKET_DIAG UNIX_DIAG NETLINK_DIAG KEYS'),
  ...split('MAGIC_SYSRQ CHECKPOINT_RESTORE'),
  // Containers.
  ...split('NAMESPACES UTS_NS IPC_NS USER_NS PID_NS NET_NS CGROUPS MEMCG BLK_CGROUP CGROUP_SCHED FAIR_GROUP_SCHED'),
  ...split('CFS_BANDWIDTH CGROUP_PIDS CGROUP_FREEZER CPUSETS CGROUP_DEVICE CGROUP_CPUACCT CGROUP_BPF'),
  ...split('CGROUP_MISC SOCK_CGROUP_DATA'),
  // IP, and links of every kind that a node may have.
  ...split('IPV6 IP_MULTIPLE_TABLES IPV6_MULTIPLE_TABLES IPV6_SUBTREES IPV6_ROUTER_PREF'),
  ...split('IP_ROUTE_MULTIPATH SYN_COOKIES INET_DIAG INET_TCP_DIAG INET_UDP_DIAG INET_RAW_DIAG INET_DIAG_DESTROY'),
  ...split('IP_SCTP INET_SCTP_DIAG NET_L3_MASTER_DEV NET_VRF VETH DUMMY TUN BRIDGE BRIDGE_VLAN_FILTERING VLAN_8021Q'),
  ...split('BONDING MACVLAN IPVLAN VXLAN GENEVE LWTUNNEL'),
  ...split('NET_NSH MPLS NET_MPLS_GSO PSAMPLE OPENVSWITCH OPENVSWITCH_GENEVE OPENVSWITCH_VXLAN'),
  // Netfilter: what nft, conntrack and Open vSwitch ask for.
  ...split(
    'NETFILTER NETFILTER_INGRESS NETFILTER_EGRESS NETFILTER_NETLINK NETFILTER_NETLINK_LOG NETFILTER_NETLINK_QUEUE',
  ),
  ...split('NETFILTER_CONNCOUNT NF_CONNTRACK NF_CONNTRACK_MARK NF_CONNTRACK_ZONES NF_CONNTRACK_EVENTS'),
  ...split(
    'NF_CONNTRACK_LABELS NF_CONNTRACK_TIMEOUT NF_CONNTRACK_PROCFS NF_CONNTRACK_FTP NF_CONNTRACK_TFTP NF_CT_NETLINK',
  ),
  ...split('NF_CT_PROTO_SCTP NF_NAT NF_FLOW_TABLE NF_TABLES NF_TABLES_INET NF_TABLES_NETDEV NF_TABLES_IPV4'),
  ...split('NF_TABLES_IPV6 NF_TABLES_ARP NF_TABLES_BRIDGE NFT_CT NFT_NAT NFT_MASQ NFT_REDIR NFT_REJECT NFT_FIB_INET'),
  ...split('NFT_FIB_IPV4 NFT_FIB_IPV6 NFT_FIB_NETDEV NFT_SOCKET NFT_TPROXY NFT_LOG NFT_LIMIT NFT_CONNLIMIT NFT_NUMGEN'),
  ...split('NFT_HASH NFT_QUOTA NFT_QUEUE NFT_FLOW_OFFLOAD NFT_DUP_NETDEV NFT_FWD_NETDEV NFT_XFRM NFT_TUNNEL'),
  ...split('NFT_BRIDGE_META NFT_BRIDGE_REJECT'),
  // Debian's kernels have it, and nothing but a user of it turns it on: nft's `meta rtclassid` matches what has a route.
  ...split('IP_ROUTE_CLASSID NET_CLS_ROUTE4'),
  // Traffic control.
  ...split('NET_SCHED NET_SCH_INGRESS NET_SCH_HTB NET_SCH_TBF NET_SCH_PRIO NET_SCH_NETEM NET_SCH_FQ_CODEL NET_CLS'),
  ...split('NET_CLS_BASIC NET_CLS_BPF NET_CLS_U32 NET_CLS_FLOWER NET_CLS_MATCHALL NET_CLS_ACT NET_ACT_GACT'),
  ...split('NET_ACT_MIRRED NET_ACT_POLICE NET_ACT_BPF'),
  // IPsec.
  ...split(
    'XFRM XFRM_USER XFRM_INTERFACE INET_ESP INET6_ESP INET_IPCOMP INET6_IPCOMP CRYPTO_AES CRYPTO_GCM CRYPTO_CBC',
  ),
  ...split(
    'CRYPTO_CTR CRYPTO_HMAC CRYPTO_SHA1 CRYPTO_SHA256 CRYPTO_SHA512 CRYPTO_AUTHENC CRYPTO_SEQIV CRYPTO_ECHAINIV',
  ),
];

/**
 * libuv's io_uring breaks page tables there: "BUG: Bad page map", then a panic. The others are modules on Debian, loaded by who
 * needs them, and do something by being there: SIT adds a link to every network, the bridge's netfilter takes its packets.
 */
const DISABLED: readonly string[] = split(
  'MODULES DEBUG_INFO_DWARF_TOOLCHAIN_DEFAULT IO_URING IPV6_SIT BRIDGE_NETFILTER',
);

/** Symbols without a prompt, which the file in the kernel's sources turns on. */
export interface TurnedOff {
  readonly file: string;
  readonly names: readonly string[];
}

/**
 * Optimistic spinning: who waits for a mutex or a semaphore burns its processor while the owner runs on another. Processors of
 * user-mode Linux are threads of one process, which this machine schedules: the owner counts as running while its thread has no
 * processor, and the waiter may be on the one that it needs. It was 18 % of a guest's samples. Without it, on two busy processors,
 * cleanup-local takes 42 and 48 seconds of a processor's time instead of 50 and 54, steady-kernel 49 and 51 instead of 68 and 60.
 */
export const UML_TURNED_OFF: TurnedOff = {
  file: 'kernel/Kconfig.locks',
  names: ['MUTEX_SPIN_ON_OWNER', 'RWSEM_SPIN_ON_OWNER'],
};
