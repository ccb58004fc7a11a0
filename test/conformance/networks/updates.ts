/** What may change of a network that is there. */
import {
  changed,
  changedCluster,
  cidrs,
  clusterSpec,
  type Expectation,
  type Fields,
  layer2,
  layer3,
  localnet,
  type UpdateCase,
} from './cases.ts';
import { EVPN_LAYER3, NO_OVERLAY_LAYER3 } from './cluster.ts';

const one = cidrs(['10.20.0.0/16', 24]);
const two = cidrs(['10.20.0.0/16', 24], ['10.21.0.0/16', 24]);
const secondary = (config: Fields = {}): Fields => layer3({ role: 'Secondary', ...config });

const TOPOLOGY: Expectation = ['topology', 'Topology is immutable'];
const LAYER2: Expectation = ['layer2', 'Layer2 is immutable'];
const REMOVED: Expectation = ['layer3.subnets', 'Removing existing subnets is not allowed'];
const HOST_SUBNET: Expectation = ['layer3.subnets', 'hostSubnet is immutable'];
const MTU: Expectation = ['layer3.mtu', 'mtu is immutable'];
const JOIN: Expectation = ['layer3.joinSubnets', 'joinSubnets is immutable'];
const LOCALNET: Expectation = ['localnet', 'Localnet is immutable'];
const TRANSPORT: Expectation = ['transport', 'Transport is immutable'];
const NO_OVERLAY: Expectation = ['noOverlay', 'NoOverlay is immutable'];

export const networkUpdates: readonly UpdateCase[] = [
  changed('layer 3 to layer 2', layer3(), layer2(), TOPOLOGY),
  changed('layer 2 to layer 3', layer2(), layer3(), TOPOLOGY),
  changed('role of layer 3', layer3(), secondary(), ['layer3.role', 'role is immutable']),
  changed('role of layer 3, back', secondary(), layer3(), ['layer3.role', 'role is immutable']),
  changed('MTU of layer 3', layer3({ mtu: 1300 }), layer3({ mtu: 1400 }), MTU),
  changed('an MTU that was not there', layer3(), layer3({ mtu: 1400 }), MTU),
  changed('an MTU that goes', layer3({ mtu: 1400 }), layer3(), MTU),
  changed('join subnets', layer3({ joinSubnets: ['100.70.0.0/16'] }), layer3({ joinSubnets: ['100.71.0.0/16'] }), JOIN),
  changed('join subnets that were not there', layer3(), layer3({ joinSubnets: ['100.71.0.0/16'] }), JOIN),
  changed('join subnets that go', layer3({ joinSubnets: ['100.70.0.0/16'] }), layer3(), JOIN),
  changed('host bits of subnets that go', layer3({ subnets: cidrs('10.20.1.0/16') }), layer3(), REMOVED),
  changed('host bits of a layer-2 subnet that go', layer2({ subnets: ['10.20.1.0/16'] }), layer2(), LAYER2),
  changed('a subnet that goes', layer3({ subnets: two }), layer3({ subnets: one }), REMOVED),
  changed('a subnet instead of another', layer3({ subnets: one }), layer3({ subnets: two.slice(1) }), REMOVED),
  changed('a larger subnet', layer3({ subnets: one }), layer3({ subnets: cidrs(['10.0.0.0/8', 24]) }), REMOVED),
  changed('host subnets', layer3({ subnets: one }), layer3({ subnets: cidrs(['10.20.0.0/16', 25]) }), HOST_SUBNET),
  changed('a host subnet that was not there', layer3(), layer3({ subnets: one }), HOST_SUBNET),
  changed('a host subnet that goes', layer3({ subnets: one }), layer3(), HOST_SUBNET),
  changed(
    'a new subnet with other host subnets',
    layer3({ subnets: one }),
    layer3({ subnets: [...one, ...cidrs(['10.21.0.0/16', 25])] }),
    ['layer3.subnets', 'Subnets from the same IP family must use the same hostSubnet value'],
  ),
  changed(
    'a new subnet that overlaps',
    layer3({ subnets: one }),
    layer3({ subnets: [...one, ...cidrs(['10.20.128.0/17', 24])] }),
    ['layer3.subnets', 'Subnets must not overlap or contain each other'],
  ),
  changed(
    'a subnet of a secondary network',
    secondary({ subnets: cidrs('10.20.0.0/16') }),
    secondary({ subnets: cidrs('10.20.0.0/16', 'fd00::/48') }),
    ['layer3.subnets', 'Subnets is immutable for Secondary role'],
  ),
  changed('a new subnet', layer3({ subnets: one }), layer3({ subnets: two })),
  changed('a new subnet in front', layer3({ subnets: one }), layer3({ subnets: [...two].reverse() })),
  changed('a new family', layer3({ subnets: one }), layer3({ subnets: [...one, ...cidrs('fd00::/48')] })),
  changed('nothing of layer 3', layer3({ mtu: 1400, subnets: two }), layer3({ mtu: 1400, subnets: two })),
  changed('role of layer 2', layer2(), layer2({ role: 'Secondary' }), LAYER2),
  changed('MTU of layer 2', layer2(), layer2({ mtu: 1400 }), LAYER2),
  changed('a subnet of layer 2', layer2(), layer2({ subnets: ['10.20.0.0/16', 'fd00::/64'] }), LAYER2),
  changed('reserved subnets', layer2(), layer2({ reservedSubnets: ['10.20.1.0/24'] }), LAYER2),
  changed('IPAM of layer 2', layer2(), layer2({ ipam: { lifecycle: 'Persistent' } }), LAYER2),
  changed('nothing of layer 2', layer2({ mtu: 1400 }), layer2({ mtu: 1400 })),
  changedCluster('layer 3 to localnet', layer3(), localnet(), TOPOLOGY),
  changedCluster('VLAN of localnet', localnet(), localnet({ vlan: { mode: 'Access', access: { id: 7 } } }), LOCALNET),
  changedCluster('subnets of localnet', localnet(), localnet({ subnets: ['192.168.0.0/24'] }), LOCALNET),
  changedCluster('nothing of localnet', localnet(), localnet()),
  changedCluster('a transport that was not there', layer3(), NO_OVERLAY_LAYER3, TRANSPORT),
  changedCluster('a transport that goes', NO_OVERLAY_LAYER3, layer3(), TRANSPORT),
  changedCluster('another transport', NO_OVERLAY_LAYER3, EVPN_LAYER3, TRANSPORT),
  changedCluster(
    'routing without overlay',
    NO_OVERLAY_LAYER3,
    { ...NO_OVERLAY_LAYER3, noOverlay: { outboundSNAT: 'Enabled', routing: 'Unmanaged' } },
    NO_OVERLAY,
  ),
  changedCluster('nothing of EVPN', EVPN_LAYER3, EVPN_LAYER3),
].flat();

const uplinkChange = (name: string, before: Fields, after: Fields): UpdateCase => ({
  name: `CUDN: ${name}`,
  kind: 'ClusterUserDefinedNetwork',
  spec: clusterSpec(layer3(), before),
  after: clusterSpec(layer3(), after),
  refusal: { field: 'spec.uplinks', message: 'uplinks is immutable' },
});

export const specUpdates: readonly UpdateCase[] = [
  uplinkChange('another uplink', { uplinks: ['east'] }, { uplinks: ['west'] }),
  uplinkChange('an uplink that was not there', {}, { uplinks: ['west'] }),
  uplinkChange('an uplink that goes', { uplinks: ['east'] }, {}),
  {
    name: 'CUDN: another selector',
    kind: 'ClusterUserDefinedNetwork',
    spec: clusterSpec(layer3()),
    after: clusterSpec(layer3(), { namespaceSelector: { matchLabels: { team: 'b' } } }),
  },
];
