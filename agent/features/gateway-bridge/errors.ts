/**
 * ICMP errors of tenants' gateway routers, from addresses of Services: that nobody is behind one, or that a packet is too large.
 * Conntrack has noted nothing that was not answered, so the source tells whose they are: with a masquerade address they are pods' and
 * leave as everything else of theirs, and what the router has not translated has a pod's own address.
 *
 * What another network of this node has sent to an external address is told by the address, too. There errors of pods are not let
 * through: in them they could say what they like about connections of others. They have the address that these have on the way out, or
 * their own, where conntrack knows no connection that they are about.
 */
import type { Flow } from '../../../datapath/openflow/types.ts';
import { FLOW_TABLES } from '../../model/registry/openflow.ts';
import { errorMatches, errorsFrom } from '../shared/bridge/errors.ts';
import { DROP, flow, ip, output } from '../shared/bridge/flow.ts';
import { type LocalPatch, speaksAsNode } from '../shared/bridge/local-patch.ts';
import { sentIn } from '../shared/bridge/senders.ts';
import type { BridgeFamily, BridgeSite } from '../shared/bridge/site.ts';

/** Of whichever network. */
export const sharedErrors = ({ mac }: BridgeSite, own: BridgeFamily, uplink: string): Flow[] => {
  const { family, masqueradeSubnet, bridgeIps } = own;
  const fromNode = { dl_src: mac, ...sentIn(family, 'speaksAsNode') };
  return [
    flow('classify', 'errorOfPods', {
      match: { ...sentIn(family, 'tenant'), ...ip(family, { src: masqueradeSubnet, dst: masqueradeSubnet }, 'icmp') },
      actions: DROP,
    }),
    ...errorMatches(family, { dst: masqueradeSubnet }).map((match) =>
      flow('classify', 'errorBetween', {
        match: { dl_src: mac, ...sentIn(family, 'network'), ...match },
        actions: [`resubmit(,${FLOW_TABLES.betweenNetworks})`],
      }),
    ),
    ...bridgeIps
      .flatMap((src) => errorMatches(family, { src }))
      .map((match) => flow('classify', 'error', { match: { ...fromNode, ...match }, actions: [output(uplink)] })),
  ];
};

/** Of one network: what its pods may have as their address, and those of the node's that they have not where they have another one. */
export const ownErrors = (site: BridgeSite, patch: LocalPatch, uplink: string): Flow[] => [
  ...patch.families.flatMap(({ family, masqueradeSubnet, nodeIp, podSubnets }) =>
    [...(patch.isDefault ? [nodeIp] : []), ...podSubnets].map((src) =>
      flow('classify', 'errorOfPods', {
        inPort: patch.port,
        match: ip(family, { src, dst: masqueradeSubnet }, 'icmp'),
        actions: DROP,
      }),
    ),
  ),
  ...(patch.isDefault || speaksAsNode(patch)
    ? []
    : patch.families.flatMap(({ bridgeIps }) => bridgeIps.flatMap((src) => errorsFrom(site, patch, uplink, src)))),
];
