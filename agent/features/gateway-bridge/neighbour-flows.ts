/**
 * Who has which MAC outside, for gateway routers that all ask as the node. A reply says for which address it is, not who has
 * asked; given to all of them, it would need more steps than ovs-vswitchd makes for one packet (`MAX_RESUBMITS`, 4096).
 */
import type { Flow } from '../../../datapath/openflow/types.ts';
import type { Family } from '../../../net/ip.ts';
import { ipFamily } from '../../../net/ip.ts';
import type { NeighbourFact } from '../../model/facts.ts';
import { askerCookie } from '../../model/registry/marks.ts';
import { FLOW_PRIORITIES, FLOW_REGISTERS, FLOW_TABLES } from '../../model/registry/openflow.ts';
import { ARP_REQUEST, flow, neighbourDiscovery, output } from '../shared/bridge/flow.ts';
import type { LocalPatch } from '../shared/bridge/local-patch.ts';
import type { BridgeSite } from '../shared/bridge/site.ts';

export const QUESTION = `resubmit(,${FLOW_TABLES.questions})`;

/** To the network that has asked last for what the packet answers, if any has lately. */
export const TO_ASKER = `resubmit(,${FLOW_TABLES.askers})`;

/**
 * Longer than a datapath flow stays without packets (10 s, `max-idle` in ovs-vswitchd.conf.db(5)), because a question for
 * which there is one teaches nothing before ovs-vswitchd has counted it.
 */
const ASKER_SECONDS = 15;

/** So many at once for a network: no tenant can take all places with questions that nobody answers. */
const MOST_ASKED = 64;

/** Its questions about neighbours that the node does not know. */
export const asking = ({ id, port, families }: LocalPatch, uplink: string): Flow[] =>
  families.map(({ family }) =>
    flow('questions', 'ask', {
      inPort: port,
      match: family === 4 ? { arp: true } : neighbourDiscovery(135),
      actions: [learnAsker(family, askerCookie(id)), output(uplink)],
    }),
  );

/** As ovs-ofctl prints it: ovs-actions(7), "The learn action". */
const learnAsker = (family: Family, cookie: bigint): string =>
  `learn(${[
    `table=${FLOW_TABLES.askers}`,
    `hard_timeout=${ASKER_SECONDS}`,
    `priority=${FLOW_PRIORITIES.askers.asker.priority}`,
    'delete_learned',
    `cookie=0x${cookie.toString(16)}`,
    `limit=${MOST_ASKED}`,
    ...(family === 4
      ? ['eth_type=0x806', 'arp_op=2', 'NXM_OF_ARP_SPA[]=NXM_OF_ARP_TPA[]']
      : ['eth_type=0x86dd', 'nw_proto=58', 'icmpv6_type=136', 'NXM_NX_ND_TARGET[]']),
    'output:NXM_OF_IN_PORT[]',
  ].join(',')})`;

/** However many networks ask for it. */
export const knownNeighbour = ({ ip, mac }: NeighbourFact): Flow => {
  const asSender = ['move:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[]', `set_field:${mac}->eth_src`];
  const answer = `resubmit(,${FLOW_TABLES.answers})`;
  return ipFamily(ip) === 4
    ? flow('questions', 'known', { match: { ...ARP_REQUEST, arp_tpa: ip }, actions: [...asSender, answer] })
    : flow('questions', 'known', {
        match: neighbourDiscovery(135, { nd_target: ip }),
        // What follows may set the fields of an advertisement, where the match says that it is one.
        actions: [...asSender, 'set_field:136->icmpv6_type', answer],
      });
};

/** In which families the bridge can answer. In another one its networks ask outside, as for neighbours that it does not know. */
export const answeredFamilies = ({ families, uplink, gateway }: BridgeSite): readonly Family[] =>
  uplink === undefined
    ? []
    : families.map(({ family }) => family).filter((family) => family === 4 || gateway.cannotAdvertise !== true);

export const answerFlows = (site: BridgeSite): Flow[] =>
  answeredFamilies(site).map((family) =>
    flow('answers', 'any', {
      match: family === 4 ? ARP_REQUEST : neighbourDiscovery(136),
      actions: family === 4 ? ARP_ANSWER : ADVERTISEMENT,
    }),
  );

const ARP_ANSWER = [
  'set_field:2->arp_op',
  'move:NXM_NX_ARP_SHA[]->NXM_NX_ARP_THA[]',
  'move:NXM_OF_ETH_SRC[]->NXM_NX_ARP_SHA[]',
  `move:NXM_OF_ARP_SPA[]->${FLOW_REGISTERS.asker}`,
  'move:NXM_OF_ARP_TPA[]->NXM_OF_ARP_SPA[]',
  `move:${FLOW_REGISTERS.asker}->NXM_OF_ARP_TPA[]`,
  'IN_PORT',
];

/** RFC 4861 §4.4: solicited and override; §4.6.1: the option that has the target's address is of type 2. */
const ADVERTISEMENT = [
  'move:NXM_NX_IPV6_SRC[]->NXM_NX_IPV6_DST[]',
  'move:NXM_NX_ND_TARGET[]->NXM_NX_IPV6_SRC[]',
  `set_field:${0x6000_0000}->nd_reserved`,
  'set_field:2->nd_options_type',
  'move:NXM_OF_ETH_SRC[]->NXM_NX_ND_TLL[]',
  'IN_PORT',
];
