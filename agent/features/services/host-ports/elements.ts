/**
 * What the host does for `hostPort`s: what its own processes send, what comes by other links than the gateway bridge and, in local gateway
 * mode, everything. By address and port, in the maps of Services' external addresses.
 */
import { type ClusterConfig, masqueradeAddresses } from '../../../../api/cluster-config.ts';
import { type NftItem, nftItemKey } from '../../../../datapath/nftables/types.ts';
import { type Family, type Ip, ipFamily } from '../../../../net/ip.ts';
import { networkPacketMark } from '../../../model/registry/marks.ts';
import { markChainName, setName } from '../../../model/registry/nftables.ts';
import { PROTOCOL_WORDS } from '../published.ts';
import type { HostPorts, OpenHostPort } from './open.ts';

export interface ElementSite {
  readonly cluster: ClusterConfig;
  readonly isLocalMode: boolean;
}

/** @param pod `namespace/name` */
export const hostPortElements = ({ network, open }: HostPorts, pod: string, site: ElementSite): NftItem[] => {
  const verdict = `jump ${markChainName(networkPacketMark(network.id))}`;
  const element = (set: string, key: string, value?: string): NftItem => ({
    kind: 'element',
    element: { set, key, ...(value !== undefined && { value }), comment: pod },
  });
  // What goes to tenants leaves by other management ports.
  const isKept = site.isLocalMode && network.role === 'default';
  const items = open.flatMap((one) => {
    const { family, port, addresses, loopbacks } = one;
    const key = (ip: Ip): string => `${ip} . ${PROTOCOL_WORDS[one.protocol]} . ${port}`;
    const to = (which: VipName) => (ip: Ip) =>
      vip(which, family, site).flatMap((address) => [
        element(setName(SETS[which], family), key(ip), `${address} . ${port}`),
      ]);
    return [
      ...addresses.flatMap(to('hostPorts')),
      ...loopbacks.flatMap(to('loopbackHostPorts')),
      ...[...addresses, ...loopbacks].map((ip) => element(setName('markExternalIps', family), key(ip), verdict)),
      ...(site.isLocalMode ? addresses.flatMap(to('hostEtpLocal')) : []),
      ...(isKept && addresses.length > 0
        ? kept(one, site).map((to) => element(setName('noSnatServices', family), to))
        : []),
    ];
  });
  return [...new Map(items.map((item) => [nftItemKey(item), item])).values()];
};

/** What comes by the host to the switch, which leaves clients their addresses: so does the management port. */
const kept = ({ family, protocol, port }: OpenHostPort, site: ElementSite): string[] =>
  vip('hostEtpLocal', family, site).map((ip) => `${ip} . ${PROTOCOL_WORDS[protocol]} . ${port}`);

const SETS = { hostPorts: 'externalIps', loopbackHostPorts: 'externalIps', hostEtpLocal: 'externalIpsLocal' } as const;
type VipName = keyof typeof SETS;

const vip = (which: VipName, family: Family, { cluster }: ElementSite): readonly Ip[] =>
  masqueradeAddresses(cluster, which).filter((ip) => ipFamily(ip) === family);
