/**
 * The fields of packets (ovs-fields(7)), and what ovs-ofctl calls them: it prints one name in a match, another in
 * `set_field`, a third in `move`, and reads all of them.
 */

export type ValueKind = 'mac' | 'ip4' | 'ip6' | 'hex' | 'decimal' | 'flags' | 'text';

export interface Field {
  /** In a match. */
  readonly match: string;
  /** In `set_field`. */
  readonly set: string;
  /** In `move`, `push`, `output` and where else a part of a field is named. */
  readonly nxm: string;
  readonly kind: ValueKind;
  readonly bits: number;
}

const field = (set: string, nxm: string, kind: ValueKind, bits: number, match: string = set): Field => ({
  match,
  set,
  nxm,
  kind,
  bits,
});

const numbered = (count: number, of: (index: number) => Field): Field[] =>
  Array.from({ length: count }, (_, i) => of(i));

const FIELDS: readonly Field[] = [
  field('eth_src', 'NXM_OF_ETH_SRC', 'mac', 48, 'dl_src'),
  field('eth_dst', 'NXM_OF_ETH_DST', 'mac', 48, 'dl_dst'),
  field('eth_type', 'NXM_OF_ETH_TYPE', 'hex', 16, 'dl_type'),
  field('vlan_tci', 'NXM_OF_VLAN_TCI', 'text', 16),
  field('vlan_vid', 'OXM_OF_VLAN_VID', 'decimal', 13),
  field('vlan_pcp', 'OXM_OF_VLAN_PCP', 'decimal', 3, 'dl_vlan_pcp'),
  field('ip_src', 'NXM_OF_IP_SRC', 'ip4', 32, 'nw_src'),
  field('ip_dst', 'NXM_OF_IP_DST', 'ip4', 32, 'nw_dst'),
  field('ipv6_src', 'NXM_NX_IPV6_SRC', 'ip6', 128),
  field('ipv6_dst', 'NXM_NX_IPV6_DST', 'ip6', 128),
  field('ip_dscp', 'OXM_OF_IP_DSCP', 'decimal', 6),
  field('nw_ecn', 'NXM_NX_IP_ECN', 'decimal', 2),
  field('nw_ttl', 'NXM_NX_IP_TTL', 'decimal', 8),
  field('nw_proto', 'NXM_OF_IP_PROTO', 'decimal', 8),
  field('tcp_src', 'NXM_OF_TCP_SRC', 'decimal', 16, 'tp_src'),
  field('tcp_dst', 'NXM_OF_TCP_DST', 'decimal', 16, 'tp_dst'),
  field('udp_src', 'NXM_OF_UDP_SRC', 'decimal', 16, 'tp_src'),
  field('udp_dst', 'NXM_OF_UDP_DST', 'decimal', 16, 'tp_dst'),
  field('sctp_src', 'OXM_OF_SCTP_SRC', 'decimal', 16, 'tp_src'),
  field('sctp_dst', 'OXM_OF_SCTP_DST', 'decimal', 16, 'tp_dst'),
  field('tcp_flags', 'NXM_NX_TCP_FLAGS', 'flags', 12),
  field('icmp_type', 'NXM_OF_ICMP_TYPE', 'decimal', 8),
  field('icmp_code', 'NXM_OF_ICMP_CODE', 'decimal', 8),
  field('icmpv6_type', 'NXM_NX_ICMPV6_TYPE', 'decimal', 8, 'icmp_type'),
  field('icmpv6_code', 'NXM_NX_ICMPV6_CODE', 'decimal', 8, 'icmp_code'),
  field('arp_op', 'NXM_OF_ARP_OP', 'decimal', 16),
  field('arp_spa', 'NXM_OF_ARP_SPA', 'ip4', 32),
  field('arp_tpa', 'NXM_OF_ARP_TPA', 'ip4', 32),
  field('arp_sha', 'NXM_NX_ARP_SHA', 'mac', 48),
  field('arp_tha', 'NXM_NX_ARP_THA', 'mac', 48),
  field('nd_target', 'NXM_NX_ND_TARGET', 'ip6', 128),
  field('nd_sll', 'NXM_NX_ND_SLL', 'mac', 48),
  field('nd_tll', 'NXM_NX_ND_TLL', 'mac', 48),
  field('tun_id', 'NXM_NX_TUN_ID', 'hex', 64),
  field('tun_src', 'NXM_NX_TUN_IPV4_SRC', 'ip4', 32),
  field('tun_dst', 'NXM_NX_TUN_IPV4_DST', 'ip4', 32),
  field('metadata', 'OXM_OF_METADATA', 'hex', 64),
  field('pkt_mark', 'NXM_NX_PKT_MARK', 'hex', 32),
  field('ct_state', 'NXM_NX_CT_STATE', 'flags', 32),
  field('ct_zone', 'NXM_NX_CT_ZONE', 'decimal', 16),
  field('ct_mark', 'NXM_NX_CT_MARK', 'hex', 32),
  field('ct_label', 'NXM_NX_CT_LABEL', 'hex', 128),
  field('ct_nw_proto', 'NXM_NX_CT_NW_PROTO', 'decimal', 8),
  field('ct_tp_dst', 'NXM_NX_CT_TP_DST', 'decimal', 16),
  field('in_port', 'NXM_OF_IN_PORT', 'text', 16),
  ...numbered(16, (i) => field(`reg${i}`, `NXM_NX_REG${i}`, 'hex', 32)),
  ...numbered(8, (i) => field(`xreg${i}`, `OXM_OF_PKT_REG${i}`, 'hex', 64)),
  ...numbered(4, (i) => field(`xxreg${i}`, `NXM_NX_XXREG${i}`, 'hex', 128)),
];

/** Further names that ovs-ofctl reads. */
const ALIASES: Readonly<Record<string, string>> = {
  tunnel_id: 'tun_id',
  ip_ecn: 'nw_ecn',
  ip_proto: 'nw_proto',
  oxm_of_eth_src: 'eth_src',
  oxm_of_eth_dst: 'eth_dst',
  oxm_of_ipv4_src: 'ip_src',
  oxm_of_ipv4_dst: 'ip_dst',
};

const byName = new Map<string, Field>();
for (const one of FIELDS) {
  for (const name of [one.set, one.match, one.nxm.toLowerCase()]) if (!byName.has(name)) byName.set(name, one);
}
for (const [name, set] of Object.entries(ALIASES)) {
  const one = byName.get(set);
  if (one !== undefined) byName.set(name, one);
}

/** Undefined for a field that is not in the table above: it is compared as text. */
export const fieldByName = (name: string): Field | undefined => byName.get(name) ?? byName.get(name.toLowerCase());

/** Of `tcp_src`, `udp_src` and `sctp_src`, which a match prints as `tp_src`: the field for a protocol. */
export const portField = (side: 'src' | 'dst', protocol: 'tcp' | 'udp' | 'sctp'): string => `${protocol}_${side}`;
