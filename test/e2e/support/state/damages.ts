/** What somebody may do to what is ours on a node, one kind of object after the other. Of every kernel. */
import type { BackendName } from '../../../../api/agent-status.ts';
import { WITHOUT_PASSING } from './passing-flows.ts';

export interface Damage {
  readonly what: string;
  /** A shell command on the node, written by us: it has no input. */
  readonly command: string;
  /** Prints what the command damages, and nothing that is another one when it is there again. */
  readonly look?: string;
  /** Where the agent finds it. */
  readonly where?: BackendName;
  /** Only the slow timer finds it: there is no event. */
  readonly slow?: boolean;
  /** Also done many times in a row while `udnctl diff` looks: one for each place, as all are compared alike. */
  readonly shown?: boolean;
}

const MP0 = 'ovn-k8s-mp0';
const ADDRESSES = 'ip -br addr show scope global | tr -s " " "\\n" | sort';
const ROUTES = 'ip route show table all proto 85; ip -6 route show table all proto 85';
const NEIGHBOURS = 'ip neigh show nud permanent | sort';
const LINK = `ip -o link show ${MP0} | grep -o "mtu [0-9]*\\|[<,]UP[,>]\\|ether [^ ]*"`;
const FLOWS = `ovs-ofctl -O OpenFlow15 --no-stats dump-flows br-ex | ${WITHOUT_PASSING} | sort`;
const NFT = 'nft -s list table inet ovn-udn | tr -s ",{} \\t" "\\n" | sort';
const ROUTER = 'GR_red_net_node-1';
const POD_PORT = 'port=$(ovn-nbctl --bare --columns=name find Logical_Switch_Port | grep "._red_a$" | head -1)';

const host = { where: 'host' } as const;
const openflow = { where: 'openflow' } as const;
const nftables = { where: 'nftables' } as const;
const northbound = { where: 'northbound' } as const;
const openvswitch = { where: 'openvswitch' } as const;

const OF_OPENFLOW: readonly Damage[] = [
  {
    what: 'a flow is deleted',
    command: 'ovs-ofctl --strict del-flows br-ex "table=0,priority=50,ip,dl_dst=$(cat /sys/class/net/br-ex/address)"',
    look: FLOWS,
    ...openflow,
  },
  { what: 'all flows are deleted', command: 'ovs-ofctl del-flows br-ex', look: FLOWS, shown: true, ...openflow },
  {
    what: 'a flow is changed',
    command: 'ovs-ofctl mod-flows br-ex "cookie=0xdeff105/-1,table=0,actions=drop"',
    look: FLOWS,
    ...openflow,
  },
  {
    what: 'a flow of ours is added that nobody wants',
    command: 'ovs-ofctl add-flow br-ex "cookie=0xdeff105,table=0,priority=900,ip,nw_dst=192.0.2.77,actions=drop"',
    look: FLOWS,
    ...openflow,
  },
];

const OF_HOST: readonly Damage[] = [
  {
    what: 'an address of the management port is deleted',
    command: `ip -4 addr flush dev ${MP0}`,
    look: `${ADDRESSES}; ${ROUTES}`,
    ...host,
  },
  { what: 'the management port is set down', command: `ip link set ${MP0} down`, look: `${LINK}; ${ROUTES}`, ...host },
  { what: 'the management port gets another MAC', command: `ip link set ${MP0} address 0a:00:00:00:00:77`, ...host },
  { what: 'a route is deleted', command: 'ip -4 route flush table main proto 85', look: ROUTES, ...host },
  { what: 'an IPv6 route is deleted', command: 'ip -6 route flush table main proto 85', look: ROUTES, ...host },
  { what: 'a neighbour is deleted', command: 'ip -4 neigh flush dev br-ex nud permanent', look: NEIGHBOURS, ...host },
  {
    what: 'a neighbour gets another MAC',
    command: 'ip neigh replace 169.254.0.4 lladdr 0a:00:00:00:00:77 dev br-ex nud permanent',
    look: NEIGHBOURS,
    ...host,
  },
  {
    what: 'the masquerade address of the bridge is deleted',
    command: 'ip addr del "$(ip -o -4 addr show dev br-ex | grep -o "169\\.254[^ ]*")" dev br-ex',
    look: `${ADDRESSES}; ${ROUTES}`,
    ...host,
  },
  {
    what: 'the gateway bridge is set down',
    command: 'ip link set br-ex down',
    look: `ip -o link show br-ex | grep -o "[<,]UP[,>]"; ${ADDRESSES}; ${ROUTES}; ip route show default; ip -6 route show default`,
    ...host,
  },
  {
    what: 'a sysctl is changed',
    command: `sysctl -qw net.ipv4.conf.${MP0}.forwarding=0`,
    look: `sysctl -n net.ipv4.conf.${MP0}.forwarding`,
    ...host,
  },
  {
    what: 'a sysctl is changed that nobody tells of',
    command: `sysctl -qw net.ipv6.conf.${MP0}.accept_ra=2`,
    slow: true,
    shown: true,
    ...host,
  },
];

const OF_NFTABLES: readonly Damage[] = [
  { what: 'a chain loses its rules', command: 'nft flush chain inet ovn-udn udn-isolation', look: NFT, ...nftables },
  { what: 'the table is deleted', command: 'nft delete table inet ovn-udn', look: NFT, shown: true, ...nftables },
  {
    what: 'elements are deleted',
    command: 'nft flush set inet ovn-udn udn-pod-default-ips-v4',
    look: NFT,
    ...nftables,
  },
  {
    what: 'an element is added',
    command: 'nft add element inet ovn-udn udn-pod-default-ips-v4 "{ 192.0.2.77 }"',
    look: NFT,
    ...nftables,
  },
];

const OF_DATABASES: readonly Damage[] = [
  { what: 'a gateway router is deleted', command: `ovn-nbctl lr-del ${ROUTER}`, ...northbound },
  {
    what: 'a NAT is deleted',
    command: `ovn-nbctl lr-nat-del ${ROUTER}`,
    look: `ovn-nbctl lr-nat-list ${ROUTER} | sort`,
    ...northbound,
  },
  {
    what: 'static routes are deleted',
    command: `ovn-nbctl lr-route-del ${ROUTER}`,
    look: `ovn-nbctl lr-route-list ${ROUTER} | sort`,
    ...northbound,
  },
  {
    what: 'the options of a router are changed',
    command: `ovn-nbctl set Logical_Router ${ROUTER} options:lb_force_snat_ip=192.0.2.77`,
    look: `ovn-nbctl get Logical_Router ${ROUTER} options`,
    ...northbound,
  },
  {
    what: 'the port of a pod is deleted',
    command: `${POD_PORT}; ovn-nbctl lsp-del "$port"`,
    look: `${POD_PORT}; ovn-nbctl lsp-get-addresses "$port"`,
    shown: true,
    ...northbound,
  },
  {
    what: 'the bridge mapping is deleted',
    command: 'ovs-vsctl remove Open_vSwitch . external_ids ovn-bridge-mappings',
    look: 'ovs-vsctl get Open_vSwitch . external_ids:ovn-bridge-mappings',
    ...openvswitch,
  },
  {
    what: 'the management port loses its id',
    command: `ovs-vsctl remove Interface ${MP0} external_ids iface-id`,
    look: `ovs-vsctl get Interface ${MP0} external_ids:iface-id`,
    shown: true,
    ...openvswitch,
  },
  { what: 'the management port is deleted', command: `ovs-vsctl del-port br-int ${MP0}`, ...openvswitch },
];

export const DAMAGES: readonly Damage[] = [...OF_OPENFLOW, ...OF_HOST, ...OF_NFTABLES, ...OF_DATABASES];
