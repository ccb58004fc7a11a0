/**
 * Which network a packet comes from, and as whom. Asked first, by the port and the source address, and answered in registers: what
 * follows is the same for all networks, and is one flow for all of them. The packet then begins once more, in the same table.
 *
 * A network whose flows here are missing sends nothing as the node (`asNodeUnknown`). No other flow sets these registers, and what a
 * patch port hands to another bridge has none (`patch_port_output` in Open vSwitch' ofproto-dpif-xlate.c).
 */
import type { Flow, Match } from '../../../../datapath/openflow/types.ts';
import { FLOW_REGISTERS, FLOW_TABLES, SENDERS, type Sender } from '../../../model/registry/openflow.ts';
import { flow, hex, ip, setField } from './flow.ts';
import { type LocalPatch, type PatchFamily, speaksAsNode } from './local-patch.ts';
import type { BridgeFamily } from './site.ts';

/** Matches what has been sent by somebody who is all of this. */
export const sentBy = (...senders: readonly Sender[]): Match => {
  const bits = hex(bitsOf(senders));
  return { [FLOW_REGISTERS.sender]: `${bits}/${bits}` };
};

/** The same, of a family that the network has here. */
export const sentIn = (family: BridgeFamily['family'], sender: Sender): Match => sentBy(sender, nameOf(family));

/** What comes from the uplink, the host, and ports whose sender nobody has told. */
export const NO_SENDER: Match = { [FLOW_REGISTERS.sender]: '0' };

/** Of one network: as many flows as its gateway router has addresses of its own, and one for everything else. */
export const senders = (patch: LocalPatch): Flow[] => {
  const usual = usualSender(patch);
  return [
    asked(patch, 'sender', {}, usual),
    ...patch.families.flatMap((own) =>
      routersOf(own).map(([src, as]) => asked(patch, 'senderAs', ip(own.family, { src }), [...usual, as])),
    ),
  ];
};

/** Of a localnet on this bridge. @param isBesideNode it is in the node's own VLAN */
export const localnetSender = (port: string, isBesideNode: boolean): Flow =>
  flow('classify', 'sender', {
    inPort: port,
    mayLackPort: true,
    match: NO_SENDER,
    actions: [
      setField(FLOW_REGISTERS.sender, bitsOf(isBesideNode ? ['localnet', 'besideNode'] : ['localnet'])),
      `resubmit(,${FLOW_TABLES.classify})`,
    ],
  });

const usualSender = (patch: LocalPatch): Sender[] => {
  const families = patch.families.map(({ family }) => nameOf(family));
  if (patch.isDefault) return ['network', ...families];
  return ['network', 'tenant', ...families, ...(speaksAsNode(patch) ? (['speaksAsNode'] as const) : [])];
};

const routersOf = ({ masqueradeIp, routerIp }: PatchFamily) => [
  ...(masqueradeIp === undefined ? [] : [[masqueradeIp, 'masqueraded'] as const]),
  ...(routerIp === undefined ? [] : [[routerIp, 'router'] as const]),
];

const asked = (
  { port, ctMark }: LocalPatch,
  rank: 'sender' | 'senderAs',
  match: Match,
  sender: readonly Sender[],
): Flow =>
  flow('classify', rank, {
    inPort: port,
    // Once it is known, the flows below have their turn.
    match: { ...match, ...NO_SENDER },
    actions: [
      setField(FLOW_REGISTERS.networkMark, ctMark),
      setField(FLOW_REGISTERS.sender, bitsOf(sender)),
      `resubmit(,${FLOW_TABLES.classify})`,
    ],
  });

const nameOf = (family: BridgeFamily['family']): Sender => (family === 4 ? 'ipv4' : 'ipv6');

const bitsOf = (senders: readonly Sender[]): number => senders.reduce((bits, name) => bits | SENDERS[name], 0);
