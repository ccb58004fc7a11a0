/**
 * Flows of the gateway bridge: how packets of all networks and of the host get out of the node and back, distinguished by
 * conntrack marks, and how nothing gets out that is not allowed to. The pipeline is described in docs/datapath.md.
 */
import type { BridgeItem } from '../../../datapath/openflow/types.ts';
import { addressOf } from '../../../net/cidr.ts';
import { ipFamily } from '../../../net/ip.ts';
import { linkLocalFromMac } from '../../../net/mac.ts';
import { EMPTY_FRAGMENT, type FeatureOver } from '../../model/fragment.ts';
import { localnetPatchPortName } from '../../model/host-names.ts';
import { COOKIES } from '../../model/registry/marks.ts';
import { DROP, flow, ip, onBridge } from '../shared/bridge/flow.ts';
import { localPatch } from '../shared/bridge/local-patch.ts';
import { localnetSender } from '../shared/bridge/senders.ts';
import { bridgeSite } from '../shared/bridge/site.ts';
import { localnetOf } from '../shared/localnet.ts';
import { nodeAddresses } from '../shared/node-addresses.ts';
import { as, localnetFlows, notBesideNode } from './localnet-flows.ts';
import { answeredFamilies, answerFlows, knownNeighbour } from './neighbour-flows.ts';
import { networkFlows } from './network-flows.ts';
import { nodeFlows } from './node-flows.ts';
import { sharedFlows } from './shared-flows.ts';
import { encryptedWith, tunnelsAt } from './tunnel-guard.ts';

export const gatewayBridge: FeatureOver<'zone'> = {
  name: 'gateway-bridge',
  over: 'zone',
  render: (_, view) => {
    const site = bridgeSite(view);
    if (site === undefined) return EMPTY_FRAGMENT;
    const hostIps = [...new Set([...site.gateway.addresses, ...view.hostAddresses(view.node)].map(addressOf))];
    const flows = [
      ...nodeFlows(site),
      ...sharedFlows(site, hostIps),
      ...localnetFlows(site, hostIps),
      ...answerFlows(site),
    ];
    return { openflow: { items: onBridge(site.bridge, flows) } };
  },
};

export const gatewayBridgeNetwork: FeatureOver<'network'> = {
  name: 'gateway-bridge-network',
  over: 'network',
  render: ({ network }, view) => {
    const site = bridgeSite(view);
    const patch = site && localPatch(site, network, view);
    if (site === undefined || patch === undefined) return EMPTY_FRAGMENT;
    const items = onBridge(site.bridge, networkFlows(site, patch));
    if (patch.isDefault) return { openflow: { items } };
    // Broadcasts would make every network's gateway router answer for the node.
    const noFlood: BridgeItem = { bridge: site.bridge, kind: 'noFlood', noFlood: { port: patch.port } };
    return { openflow: { items: [...items, noFlood] } };
  },
};

/**
 * Of a localnet, wherever its physical network is: its port stays on the bridge for a while when the mapping goes, and is there as soon as
 * it is back. On other bridges it is a port like any other, and here the flow is absent.
 */
export const gatewayBridgeLocalnet: FeatureOver<'network'> = {
  name: 'gateway-bridge-localnet',
  over: 'network',
  render: ({ network: name }, view) => {
    const network = localnetOf(name, view);
    const site = network && bridgeSite(view);
    if (network === undefined || site === undefined) return EMPTY_FRAGMENT;
    const { physical } = network;
    const isBesideNode = (physical.vlanId ?? 0) === site.gateway.vlanId;
    return {
      openflow: { items: onBridge(site.bridge, [localnetSender(localnetPatchPortName(name), isBesideNode)]) },
    };
  },
};

/** Apart from the node's other flows: neighbours come and go more often. */
export const gatewayBridgeNeighbours: FeatureOver<'zone'> = {
  name: 'gateway-bridge-neighbours',
  over: 'zone',
  render: (_, view) => {
    const site = bridgeSite(view);
    if (site === undefined) return EMPTY_FRAGMENT;
    const families = answeredFamilies(site);
    const known = view.neighbours().filter(({ ip: address }) => families.includes(ipFamily(address)));
    const nextHops = view.neighbours().filter(({ ip: address }) => site.gateway.nextHops.includes(address));
    const macs = [...new Set(nextHops.map(({ mac }) => mac))];
    const flows = [...known.map(knownNeighbour), ...macs.map((mac) => notBesideNode({ dl_src: mac }))];
    return { openflow: { items: onBridge(site.bridge, flows) } };
  },
};

/**
 * A gateway router that finds a packet too large says so to the sender. Where the sender is another node, that node would
 * from then on send smaller packets to this one, tunnels included. One flow for each address, whatever it comes from: the
 * host's own messages of this kind are dropped by nftables.
 */
export const pathMtu: FeatureOver<'node'> = {
  name: 'path-mtu',
  over: 'node',
  render: ({ node }, view) => {
    const gateway = view.gateway(view.node);
    if (node === view.node || gateway?.mode !== 'shared') return EMPTY_FRAGMENT;
    const flows = view.hostAddresses(node).map((address) => {
      const dst = addressOf(address);
      const family = ipFamily(dst);
      return flow('classify', 'pathMtu', {
        match: { ...ip(family, { dst }, 'icmp'), ...TOO_LARGE[family] },
        actions: DROP,
        cookie: COOKIES.pathMtu,
      });
    });
    return { openflow: { items: onBridge(gateway.bridge, flows) } };
  },
};

/**
 * No pod takes the place of another node on the physical network that they share, in its name or with its MAC. A MAC that is also of a next
 * hop has one flow, and so has an address.
 */
export const otherNodes: FeatureOver<'node'> = {
  name: 'gateway-bridge-other-nodes',
  over: 'node',
  render: ({ node }, view) => {
    const site = bridgeSite(view);
    const other = node === view.node ? undefined : view.gateway(node);
    if (site === undefined || other === undefined) return EMPTY_FRAGMENT;
    const addresses = [...other.addresses, ...view.hostAddresses(node)].map(addressOf);
    // Nothing of theirs is let through in other families.
    const families = new Set(site.families.map(({ family }) => family));
    const ips = [...new Set([...addresses, linkLocalFromMac(other.mac)])].filter((one) => families.has(ipFamily(one)));
    const matches = [{ dl_src: other.mac }, ...ips.flatMap(as)];
    return { openflow: { items: onBridge(site.bridge, matches.map(notBesideNode)) } };
  },
};

/** Where tunnels of nodes end, this one's included. */
export const tunnelEnds: FeatureOver<'node'> = {
  name: 'tunnel-ends',
  over: 'node',
  render: ({ node }, view) => {
    const site = bridgeSite(view);
    if (site === undefined) return EMPTY_FRAGMENT;
    const addresses = nodeAddresses(node, view);
    const encrypted = site.isEncrypted && node !== view.node ? addresses.flatMap((ip) => encryptedWith(site, ip)) : [];
    return { openflow: { items: onBridge(site.bridge, [...addresses.map(tunnelsAt), ...encrypted]) } };
  },
};

/** RFC 792: destination unreachable, fragmentation needed. RFC 4443 §3.2: packet too big. */
const TOO_LARGE = { 4: { icmp_type: '3', icmp_code: '4' }, 6: { icmp_type: '2', icmp_code: '0' } } as const;
