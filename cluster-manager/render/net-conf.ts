/** UserDefinedNetwork or ClusterUserDefinedNetwork → the CNI configuration of its NADs. Pure. */
import type { ClusterConfig } from '../../api/cluster-config.ts';
import { ApiError } from '../../api/errors.ts';
import { formatNetConf, type NetConf, parseNetConf } from '../../api/net-conf.ts';
import { localnetMtu } from '../../api/network.ts';
import { refuseOverlaps } from '../../api/network-overlap.ts';
import type { NetworkFacts, NetworkSpec } from '../facts/network-facts.ts';
import { transitSubnetsFor } from './transit-subnets.ts';

/** For Multus, which refuses the default route of a pod by a result of 1.1.0 (docs/adr/0130-speak-cni-1-0-to-multus.md). */
const CNI_VERSION = '1.0.0';

/**
 * The same for every namespace but for the NAD's own name.
 * @throws ApiError with the message for the network's condition: what is wrong, overlaps, or is not supported yet
 */
export const renderNetConf = (facts: NetworkFacts, cluster: ClusterConfig): ((namespace: string) => NetConf) => {
  if (facts.spec === undefined) throw facts.error ?? new ApiError('ERR_API_FIELD', 'spec: is required');
  refuseUnsupported(facts.spec);
  const { name } = facts.metadata;
  const nad = { namespace: 'any', name };
  const conf = toNetConf(facts.spec, facts.networkName, `${nad.namespace}/${name}`, cluster);
  // Read back what was rendered: one place knows what a network may look like.
  const checked = parseNetConf(formatNetConf(conf), nad);
  if (checked === undefined) throw new ApiError('ERR_API_FIELD', `"${facts.networkName}" is not a valid network name`);
  refuseOverlaps(checked, cluster);
  return (namespace) => ({ ...conf, netAttachDefName: `${namespace}/${name}` });
};

const refuseUnsupported = ({ transport, uplinks = [] }: NetworkSpec): void => {
  const refuse = (what: string): never => {
    throw new ApiError('ERR_API_UNSUPPORTED', `${what} is not supported yet`);
  };
  if (transport !== undefined) refuse(`transport ${transport}`);
  if (uplinks.length > 0) refuse('spec.uplinks');
};

const toNetConf = (spec: NetworkSpec, name: string, netAttachDefName: string, cluster: ClusterConfig): NetConf => {
  const { layer2, layer3, localnet } = spec;
  if (localnet !== undefined) return localnetConf(localnet, name, netAttachDefName, cluster);
  const config = layer3 ?? layer2;
  if (config === undefined) throw new ApiError('ERR_API_FIELD', 'spec: the configuration of the topology is missing');
  const isPrimary = config.role === 'Primary';
  const joinSubnets = isPrimary ? (config.joinSubnets ?? cluster.udnJoinSubnets) : [];
  const subnets =
    layer3 === undefined
      ? (layer2?.subnets ?? []).map((cidr) => ({ cidr }))
      : layer3.subnets.map(({ cidr, hostSubnet }) =>
          hostSubnet === undefined ? { cidr } : { cidr, hostPrefix: hostSubnet },
        );
  const cidrs = subnets.map(({ cidr }) => cidr);
  return {
    cniVersion: CNI_VERSION,
    name,
    netAttachDefName,
    topology: layer3 === undefined ? 'layer2' : 'layer3',
    role: isPrimary ? 'primary' : 'secondary',
    mtu: config.mtu,
    subnets,
    excludeSubnets: [],
    reservedSubnets: layer2?.reservedSubnets ?? [],
    infrastructureSubnets: layer2?.infrastructureSubnets ?? [],
    defaultGatewayIps: layer2?.defaultGatewayIPs ?? [],
    joinSubnets,
    transitSubnets:
      layer3 === undefined && isPrimary ? transitSubnetsFor(cluster.transitSubnets, cidrs, joinSubnets) : [],
    allowPersistentIps: layer2?.ipam?.lifecycle === 'Persistent',
  };
};

const localnetConf = (
  { subnets = [], excludeSubnets = [], physicalNetworkName, mtu, vlan, ipam }: Localnet,
  name: string,
  netAttachDefName: string,
  cluster: ClusterConfig,
): NetConf => ({
  cniVersion: CNI_VERSION,
  name,
  netAttachDefName,
  topology: 'localnet',
  role: 'secondary',
  mtu: mtu ?? localnetMtu(cluster),
  subnets: subnets.map((cidr) => ({ cidr })),
  excludeSubnets,
  reservedSubnets: [],
  infrastructureSubnets: [],
  defaultGatewayIps: [],
  joinSubnets: [],
  transitSubnets: [],
  allowPersistentIps: ipam?.lifecycle === 'Persistent',
  physicalNetworkName,
  vlanId: vlan?.access?.id,
});

type Localnet = NonNullable<NetworkSpec['localnet']>;
