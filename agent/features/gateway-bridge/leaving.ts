/**
 * Out of the node with its address, by conntrack. Linux' conntrack drops what it cannot translate: another network has the same
 * connection to the same server and there is no port or identifier to change, or no port is free. That of OVS's userspace datapath
 * sends it on as it came, with a masquerade address, or as if it were of the other network. There a table looks at what has become of it.
 */
import { type Action, type Flow, LOCAL_PORT, type Match } from '../../../datapath/openflow/types.ts';
import type { Ip } from '../../../net/ip.ts';
import { CT_MARKS, CT_ZONES, PORTS_OF_PODS } from '../../model/registry/marks.ts';
import { type ConnectionMark, ct, DROP, flow, ip, NORMAL, output } from '../shared/bridge/flow.ts';
import { type BridgeFamily, type BridgeSite, toTrunk } from '../shared/bridge/site.ts';

export interface Leaving {
  readonly src: Ip;
  /** Of its connections. */
  readonly mark: ConnectionMark;
}

/** @param out as `leaving` has it, by where it comes from and goes to */
export const leaveAs = (
  { checksTranslation }: Pick<BridgeSite, 'checksTranslation'>,
  { src, mark }: Leaving,
  out: readonly Action[],
): readonly Action[] => {
  const ports = mark === CT_MARKS.host ? undefined : PORTS_OF_PODS;
  const translation = { commit: true, zone: CT_ZONES.external, nat: { src, ports }, mark } as const;
  return checksTranslation ? [ct({ ...translation, table: 'leave' })] : [ct(translation), ...out];
};

/**
 * A connection that was not made has no mark. What conntrack does not follow at all (neighbour discovery, errors about nothing that
 * it knows) leaves if it has the node's address already: that of the host and the default network.
 */
export const leaving = (site: BridgeSite, uplink: string): Flow[] =>
  site.checksTranslation
    ? [
        flow('leave', 'notTranslated', { match: { ct_state: '-inv+trk', ct_mark: '0' }, actions: DROP }),
        ...site.families.flatMap((family) => family.bridgeIps.flatMap((src) => leavingAs(site, uplink, family, src))),
      ]
    : [];

const leavingAs = (site: BridgeSite, uplink: string, { family, hostSubnets }: BridgeFamily, src: Ip): Flow[] => {
  const toNeighbours = [LOCAL_PORT, ...(site.isLocal ? [] : [site.defaultPatch])];
  const match: Match = ip(family, { src });
  return [
    ...toNeighbours.flatMap((inPort) =>
      hostSubnets.map((dst) =>
        flow('leave', 'neighbour', { inPort, match: ip(family, { src, dst }), actions: [NORMAL] }),
      ),
    ),
    flow('leave', 'ofHost', { inPort: LOCAL_PORT, match, actions: toTrunk(site, uplink) }),
    flow('leave', 'asNode', { match, actions: [output(uplink)] }),
  ];
};
