/**
 * Nothing that networks send comes to a tunnel of a node. The peer's tunnel goes by addresses, and what leaves the bridge has this
 * node's: a pod's own Geneve header would make a frame in any network of it. One conjunctive match (ovs-fields(7)) of three clauses, so
 * that there are as many flows as addresses of nodes and ports, and not their product, and one for all networks (`senders`). It comes before everything that
 * translates an address; what load balancers have sent to a node passes here again.
 *
 * The first fragment has the ports, and without it no packet is put together: those after it may pass. A first fragment that ends
 * before the ports (port 0) is none that anybody sends: RFC 1858 §3, RFC 7112 §5.
 *
 * Where tunnels are encrypted, neither does anything come to IKE, or as ESP: it would leave as the node, hold the half-open exchanges
 * that a peer may have, and be the connection that conntrack has between the two nodes.
 */
import { type Flow, LOCAL_PORT, type Match } from '../../../datapath/openflow/types.ts';
import { type Family, type Ip, ipFamily } from '../../../net/ip.ts';
import { CONJUNCTIONS } from '../../model/registry/openflow.ts';
import { GENEVE, IPSEC, TUNNEL_PORTS } from '../../model/registry/tunnels.ts';
import { DROP, flow, ip } from '../shared/bridge/flow.ts';
import { NO_SENDER, sentBy } from '../shared/bridge/senders.ts';
import { type BridgeSite, inVlan, toHost, toTrunk } from '../shared/bridge/site.ts';

const CLAUSES = { network: 1, node: 2, port: 3 } as const;

const clause = (which: keyof typeof CLAUSES, match: Match): Flow =>
  flow('classify', 'tunnelPort', {
    match,
    actions: [`conjunction(${CONJUNCTIONS.tunnelPort},${CLAUSES[which]}/${Object.keys(CLAUSES).length})`],
  });

/** Of the bridge. Masquerade addresses are the node's own. */
export const tunnelPorts = ({ families, isEncrypted }: BridgeSite): Flow[] => [
  flow('classify', 'tunnelPort', { match: { conj_id: String(CONJUNCTIONS.tunnelPort) }, actions: DROP }),
  clause('network', sentBy('network')),
  clause('network', sentBy('localnet')),
  ...families.flatMap(({ family, masqueradeSubnet }) => [
    ...[...portMatches(family), ...(isEncrypted ? ipsecMatches(family) : [])].map((match) => clause('port', match)),
    clause('node', ip(family, { dst: masqueradeSubnet })),
  ]),
];

const portMatches = (family: Family): Match[] => [
  ...TUNNEL_PORTS.map(({ protocol, port }) => ({ ...ip(family, {}, protocol), tp_dst: String(port) })),
  ...[...new Set(TUNNEL_PORTS.map(({ protocol }) => protocol))].map((protocol) => ({
    ...ip(family, {}, protocol),
    nw_frag: 'first',
    tp_dst: '0',
  })),
];

/** To Open vSwitch, AH in IPv6 is a header in front of another one, which it looks at: nothing matches. Nodes have no associations for it. */
const ipsecMatches = (family: Family): Match[] => [
  ...IPSEC.ports.map((port) => ({ ...ip(family, {}, 'udp'), tp_dst: String(port) })),
  ...[IPSEC.esp, ...(family === 4 ? [IPSEC.ah] : [])].map((protocol) => ({
    ...ip(family),
    nw_proto: String(protocol),
  })),
];

/**
 * The clause of the senders needs to know who sends. A patch port is on the bridge before its flow and after it, and to the host the node
 * that its packets name is as good as the uplink: what is neither the uplink, the host nor a known sender (`senders`) sends no Geneve.
 * Not of first fragments, which have no ports here: what the uplink and the host send in fragments would be dropped, too.
 */
export const unknownTunnels = (family: Family): Flow[] => [
  flow('classify', 'tunnelUnknown', {
    match: { ...NO_SENDER, ...ip(family, {}, 'udp'), tp_dst: String(GENEVE.port) },
    actions: DROP,
  }),
];

export const tunnelsAt = (address: Ip): Flow => clause('node', ip(ipFamily(address), { dst: address }));

/**
 * ESP between this node and an address of another one, as Geneve: it needs no conntrack, and does not depend on whether there is room in
 * it. That of others may be a pod's with a host outside.
 */
export const encryptedWith = (site: BridgeSite, address: Ip): Flow[] => {
  const { uplink, mac } = site;
  if (uplink === undefined) return [];
  const family = ipFamily(address);
  const esp = (ends: Parameters<typeof ip>[1]): Match => ({ ...ip(family, ends), nw_proto: String(IPSEC.esp) });
  return [
    flow('classify', 'tunnelToHost', {
      inPort: uplink,
      match: { ...inVlan(site), dl_dst: mac, ...esp({ src: address }) },
      actions: toHost(site),
    }),
    flow('classify', 'tunnel', { inPort: LOCAL_PORT, match: esp({ dst: address }), actions: toTrunk(site, uplink) }),
  ];
};
