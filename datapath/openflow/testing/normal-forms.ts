/** What people write, and the one form of it. Each is also written to a real bridge and read back. */

export interface NormalForm {
  /** As ovs-ofctl reads it, without table and priority. */
  readonly match: Readonly<Record<string, string | true>>;
  readonly actions: string;
  readonly printed: { readonly match: string; readonly actions: string };
}

const form = (
  match: NormalForm['match'],
  actions: string,
  printedMatch: string,
  printedActions: string,
): NormalForm => ({
  match,
  actions,
  printed: { match: printedMatch, actions: printedActions },
});

export const NORMAL_FORMS: readonly NormalForm[] = [
  form({}, 'drop', '', 'drop'),
  form({ ip: true, dl_vlan: '7' }, 'mod_vlan_vid:7,output:1', 'ip,dl_vlan=7', 'set_field:4103->vlan_vid,output:1'),
  form({ vlan_vid: '0x1007', vlan_pcp: '3' }, 'strip_vlan,output:1', 'dl_vlan=7,dl_vlan_pcp=3', 'pop_vlan,output:1'),
  form({ vlan_tci: '0' }, 'mod_vlan_pcp:3', 'vlan_tci=0x0000/0x1fff', 'push_vlan:0x8100,set_field:3->vlan_pcp'),
  form(
    { ip: true },
    'mod_nw_src:1.2.3.4,mod_nw_dst:1.2.3.5,mod_nw_tos:32',
    'ip',
    'set_field:1.2.3.4->ip_src,set_field:1.2.3.5->ip_dst,set_field:8->ip_dscp',
  ),
  form({ tcp: true }, 'mod_tp_src:5,mod_tp_dst:6', 'tcp', 'set_field:5->tcp_src,set_field:6->tcp_dst'),
  form(
    { udp: true },
    'set_field:5->udp_dst,load:5->NXM_OF_UDP_SRC[]',
    'udp',
    'set_field:5->udp_dst,set_field:5->udp_src',
  ),
  form(
    { ipv4: true },
    'load:0x3f0->NXM_NX_PKT_MARK[],load:0x5->reg0[4..7],load:1->reg1[]',
    'ip',
    'set_field:0x3f0->pkt_mark,set_field:0x50/0xf0->reg0,set_field:0x1->reg1',
  ),
  form(
    { ip: true },
    'set_field:1/0xff->reg3,set_field:1->xreg0,set_field:7->metadata,set_field:9->tun_id',
    'ip',
    'set_field:0x1/0xff->reg3,set_field:0x1->xreg0,set_field:0x7->metadata,set_field:0x9->tun_id',
  ),
  form(
    { ip: true },
    'ct(nat(random,src=10.0.0.1-10.0.0.9:100-200),zone=reg13[0..15],commit),resubmit(1,2)',
    'ip',
    'ct(commit,zone=NXM_NX_REG13[0..15],nat(src=10.0.0.1-10.0.0.9:100-200,random)),resubmit(1,2)',
  ),
  form(
    { ipv6: true },
    'ct(commit,table=3,nat(src=[fd00::0:1]-[fd00::9]:1-9)),ct(commit,nat(dst=fd00:0::7))',
    'ipv6',
    'ct(commit,table=3,nat(src=[fd00::1]-[fd00::9]:1-9)),ct(commit,nat(dst=fd00::7))',
  ),
  form(
    { ip: true },
    'ct(exec(load:1->NXM_NX_CT_MARK[],set_field:3/0xf->ct_label),zone=0x5,force,commit)',
    'ip',
    'ct(commit,force,zone=5,exec(set_field:0x1->ct_mark,set_field:0x3/0xf->ct_label))',
  ),
  form(
    { ip: true },
    'ct(),ct(commit),ct_clear,dec_ttl,note:00.01.00.00.00.00',
    'ip',
    'ct(),ct(commit),ct_clear,dec_ttl,note:00.01.00.00.00.00',
  ),
  form(
    { ipv6: true, ipv6_dst: 'FD00:0:0::0001/64', ipv6_src: 'fd00:0::2/128' },
    'set_field:fd00:0::1->ipv6_dst',
    'ipv6,ipv6_dst=fd00::/64,ipv6_src=fd00::2',
    'set_field:fd00::1->ipv6_dst',
  ),
  form(
    { ip: true, nw_src: '10.0.0.5/255.255.0.0', ip_dst: '1.2.3.4/32', tun_src: '0.0.0.0/0' },
    'normal',
    'ip,nw_dst=1.2.3.4,nw_src=10.0.0.0/16',
    'NORMAL',
  ),
  form({ dl_type: '0x0800', nw_proto: '6', tcp_dst: '80' }, 'flood', 'tcp,tp_dst=80', 'FLOOD'),
  form({ eth_type: '0x86dd', ip_proto: '58', icmp_type: '135' }, 'local', 'icmp6,icmp_type=135', 'LOCAL'),
  form({ ip: true, nw_proto: '88', nw_tos: '35' }, 'in_port', 'ip,nw_proto=88,nw_tos=32', 'IN_PORT'),
  form({ dl_type: '0x88cc' }, 'controller', 'dl_type=0x88cc', 'CONTROLLER:65535'),
  form(
    { eth_dst: '01:00:00:00:00:00/01:00:00:00:00:00', eth_src: '0A:00:00:00:00:01/ff:ff:ff:ff:ff:ff' },
    'all',
    'dl_dst=01:00:00:00:00:00/01:00:00:00:00:00,dl_src=0a:00:00:00:00:01',
    'ALL',
  ),
  form(
    { ip: true, ct_state: '+trk-rpl-new', ct_zone: '0x5', ct_mark: '3', ct_label: '1/3' },
    'output:NXM_NX_REG0[]',
    'ip,ct_label=0x1/0x3,ct_mark=0x3,ct_state=-new-rpl+trk,ct_zone=5',
    'output:NXM_NX_REG0[]',
  ),
  form(
    { in_port: '1', reg0: '1/1', reg1: '0', pkt_mark: '0x10/0xff', metadata: '7', tun_id: '0x5' },
    'move:reg0[0..3]->reg1[4..7],move:eth_dst->NXM_OF_ETH_SRC[]',
    'in_port=1,metadata=0x7,pkt_mark=0x10/0xff,reg0=0x1/0x1,reg1=0,tun_id=0x5',
    'move:NXM_NX_REG0[0..3]->NXM_NX_REG1[4..7],move:NXM_OF_ETH_DST[]->NXM_OF_ETH_SRC[]',
  ),
  form(
    { tcp6: true, tcp_dst: '80/0xfff0' },
    'check_pkt_larger(0x586)->reg0[0],goto_table:90',
    'tcp6,tp_dst=0x50/0xfff0',
    'check_pkt_larger(1414)->NXM_NX_REG0[0],goto_table:90',
  ),
  form(
    { icmp6: true, icmp_type: '135' },
    'learn(table=21,hard_timeout=15,priority=10,delete_learned,cookie=0x5,limit=64,eth_type=0x86dd,nw_proto=58,icmpv6_type=136,NXM_NX_ND_TARGET[],output:NXM_OF_IN_PORT[]),output:1',
    'icmp6,icmp_type=135',
    'learn(table=21,hard_timeout=15,priority=10,delete_learned,cookie=0x5,limit=64,eth_type=0x86dd,nw_proto=58,icmpv6_type=136,NXM_NX_ND_TARGET[],output:NXM_OF_IN_PORT[]),output:1',
  ),
];
