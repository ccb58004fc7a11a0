/** Localnet networks, which are cluster-wide only, and the MTU of all topologies. */
import {
  cidrs,
  type InvalidCase,
  layer2,
  layer3,
  localnet,
  refused,
  refusedCluster,
  taken,
  takenCluster,
  type ValidCase,
} from './cases.ts';

const NAME_MESSAGE = 'physicalNetworkName cannot contain `,` or `:` characters';
const VLAN_MESSAGE = "vlan access config is required when vlan mode is 'Access', and forbidden otherwise";
const IPAM_MESSAGE = 'Subnets is required with ipam.mode is Enabled or unset, and forbidden otherwise';

const named = (name: unknown) => localnet({ physicalNetworkName: name });

export const invalidLocalnet: readonly InvalidCase[] = [
  refusedCluster(
    'no configuration',
    { topology: 'Localnet' },
    'localnet',
    'spec.localnet is required when topology is Localnet and forbidden otherwise',
  ),
  refusedCluster(
    'localnet beside layer 2',
    { ...layer2(), localnet: localnet()['localnet'] },
    'localnet',
    'spec.localnet is required when topology is Localnet and forbidden otherwise',
  ),
  refusedCluster(
    'layer 3 beside localnet',
    { ...localnet(), layer3: layer3()['layer3'] },
    'layer3',
    'spec.layer3 is required when topology is Layer3 and forbidden otherwise',
  ),
  refusedCluster('a primary localnet', localnet({ role: 'Primary' }), 'localnet.role', 'Unsupported value: "Primary"'),
  refusedCluster('localnet without role', localnet({ role: undefined }), 'localnet.role', 'Required value'),
  refusedCluster('no physical network', named(undefined), 'localnet.physicalNetworkName', 'Required value'),
  refusedCluster('an empty name', named(''), 'localnet.physicalNetworkName', 'should be at least 1 chars long'),
  refusedCluster('a long name', named('a'.repeat(254)), 'localnet.physicalNetworkName', 'may not be more than 253'),
  refusedCluster('a comma in the name', named('a,b'), 'localnet.physicalNetworkName', NAME_MESSAGE),
  refusedCluster('a colon in the name', named('a:b'), 'localnet.physicalNetworkName', NAME_MESSAGE),
  refusedCluster('a comma at the end', named('a,'), 'localnet.physicalNetworkName', NAME_MESSAGE),
  refusedCluster('a colon at the front', named(':a'), 'localnet.physicalNetworkName', NAME_MESSAGE),
  refusedCluster('no subnets', localnet({ subnets: undefined }), 'localnet.subnets', IPAM_MESSAGE),
  refusedCluster(
    'no subnets, IPAM by name',
    localnet({ subnets: undefined, ipam: { mode: 'Enabled' } }),
    'localnet.subnets',
    IPAM_MESSAGE,
  ),
  refusedCluster('subnets without IPAM', localnet({ ipam: { mode: 'Disabled' } }), 'localnet.subnets', IPAM_MESSAGE),
  refusedCluster(
    'persistent addresses without IPAM',
    localnet({ subnets: undefined, ipam: { mode: 'Disabled', lifecycle: 'Persistent' } }),
    'localnet.ipam.lifecycle',
    'lifecycle Persistent is only supported when ipam.mode is Enabled',
  ),
  refusedCluster(
    'two subnets of a family',
    localnet({ subnets: ['192.168.0.0/24', '192.168.1.0/24'] }),
    'localnet.subnets',
    'When 2 CIDRs are set, they must be from different IP families',
  ),
  refusedCluster(
    'three subnets',
    localnet({ subnets: ['192.168.0.0/24', 'fd00::/64', 'fd01::/64'] }),
    'localnet.subnets',
    'must have at most 2 items',
  ),
  refusedCluster('a subnet that is none', localnet({ subnets: ['x/24'] }), 'localnet.subnets[0]', 'CIDR is invalid'),
  refusedCluster(
    'excluded subnets without subnets',
    localnet({ subnets: undefined, ipam: { mode: 'Disabled' }, excludeSubnets: ['192.168.0.0/28'] }),
    'localnet.excludeSubnets',
    'excludeSubnets must be unset when subnets is unset',
  ),
  refusedCluster(
    'excluded subnets elsewhere',
    localnet({ excludeSubnets: ['192.168.1.0/24', '192.169.1.0/24'] }),
    'localnet.excludeSubnets',
    'excludeSubnets must be subnetworks of the networks specified in the subnets field',
  ),
  refusedCluster(
    'excluded subnets around the subnet',
    localnet({ excludeSubnets: ['192.0.0.0/8'] }),
    'localnet.excludeSubnets',
    'excludeSubnets must be subnetworks of the networks specified in the subnets field',
  ),
  refusedCluster(
    'excluded text',
    localnet({ excludeSubnets: ['192.168.1.1'] }),
    'localnet.excludeSubnets[0]',
    'CIDR is invalid',
  ),
  refusedCluster(
    '26 excluded subnets',
    localnet({ excludeSubnets: parts(26) }),
    'localnet.excludeSubnets',
    'must have at most 25 items',
  ),
  refusedCluster('no VLAN mode', localnet({ vlan: { access: { id: 5 } } }), 'localnet.vlan.mode', 'Required value'),
  refusedCluster('a trunk', localnet({ vlan: { mode: 'Trunk' } }), 'localnet.vlan.mode', 'Unsupported value: "Trunk"'),
  refusedCluster('no VLAN', localnet({ vlan: { mode: 'Access' } }), 'localnet.vlan.access', VLAN_MESSAGE),
  refusedCluster(
    'no VLAN id',
    localnet({ vlan: { mode: 'Access', access: {} } }),
    'localnet.vlan.access.id',
    'Required value',
  ),
  refusedCluster('VLAN 0', vlan(0), 'localnet.vlan.access.id', 'should be greater than or equal to 1'),
  refusedCluster('VLAN 4095', vlan(4095), 'localnet.vlan.access.id', 'should be less than or equal to 4094'),
].flat();

export const validLocalnet: readonly ValidCase[] = [
  takenCluster('localnet', localnet()),
  takenCluster('both families', localnet({ subnets: ['192.168.0.0/16', 'fd00::/64'] })),
  takenCluster('excluded subnets', localnet({ excludeSubnets: ['192.168.0.0/24', '192.168.255.255/32'] })),
  takenCluster('excluded host bits', localnet({ excludeSubnets: ['192.168.1.1/24'] })),
  takenCluster(
    'excluded subnets of both families',
    localnet({ subnets: ['192.168.0.0/16', 'fd00::/64'], excludeSubnets: ['192.168.0.0/24', 'fd00::/120'] }),
  ),
  takenCluster('25 excluded subnets', localnet({ excludeSubnets: parts(25) })),
  takenCluster('localnet without IPAM', localnet({ subnets: undefined, ipam: { mode: 'Disabled' } })),
  takenCluster('persistent addresses', localnet({ ipam: { mode: 'Enabled', lifecycle: 'Persistent' } })),
  takenCluster('the longest name', named('a'.repeat(253))),
  takenCluster('a name of other characters', named('Phys_net/1 (east);')),
  takenCluster('VLAN 1', vlan(1)),
  takenCluster('VLAN 4094', vlan(4094)),
].flat();

const IPV6_MESSAGE = 'MTU should be greater than or equal to 1280 when IPv6 subnet is used';
const LOCALNET_IPV6_MESSAGE = 'MTU should be greater than or equal to 1280 when an IPv6 subnet is used';
const TWO_IPV6 = cidrs('fd00::/48', 'fd01::/48');

export const invalidMtu: readonly InvalidCase[] = [
  refused('an MTU of 575', layer3({ mtu: 575 }), 'layer3.mtu', 'should be greater than or equal to 576'),
  refused('an MTU of 65537', layer2({ mtu: 65_537 }), 'layer2.mtu', 'should be less than or equal to 65536'),
  refused('an MTU as text', layer2({ mtu: '1400' }), 'layer2.mtu', 'must be of type integer'),
  refused('half an MTU', layer3({ mtu: 1400.5 }), 'layer3.mtu', 'must be of type int32'),
  refused('1279 with IPv6', layer3({ mtu: 1279, subnets: cidrs('fd00::/48') }), 'layer3.mtu', IPV6_MESSAGE),
  refused('1279 with several IPv6', layer3({ mtu: 1279, subnets: TWO_IPV6 }), 'layer3.mtu', IPV6_MESSAGE),
  refused(
    '576 with IPv6 beside IPv4',
    layer3({ mtu: 576, subnets: [...cidrs('10.20.0.0/16'), ...TWO_IPV6] }),
    'layer3.mtu',
    IPV6_MESSAGE,
  ),
  refused('1279 with IPv6', layer2({ mtu: 1279, subnets: ['fd00::/64'] }), 'layer2.mtu', IPV6_MESSAGE),
  refused('1000 with both', layer2({ mtu: 1000, subnets: ['10.20.0.0/16', 'fd00::/64'] }), 'layer2.mtu', IPV6_MESSAGE),
  refusedCluster(
    '1279 with IPv6 on localnet',
    localnet({ mtu: 1279, subnets: ['fd00::/64'] }),
    'localnet.mtu',
    LOCALNET_IPV6_MESSAGE,
  ),
  refusedCluster('575 on localnet', localnet({ mtu: 575 }), 'localnet.mtu', 'should be greater than or equal to 576'),
].flat();

export const validMtu: readonly ValidCase[] = [
  taken('an MTU of 576', layer3({ mtu: 576 })),
  taken('an MTU of 65536', layer2({ mtu: 65_536 })),
  taken('1280 with IPv6', layer3({ mtu: 1280, subnets: TWO_IPV6 })),
  taken('1280 with both', layer2({ mtu: 1280, subnets: ['10.20.0.0/16', 'fd00::/64'] })),
  takenCluster('1280 with IPv6 on localnet', localnet({ mtu: 1280, subnets: ['fd00::/64'] })),
  takenCluster(
    '576 on localnet without addresses',
    localnet({ mtu: 576, subnets: undefined, ipam: { mode: 'Disabled' } }),
  ),
].flat();

function vlan(id: number) {
  return localnet({ vlan: { mode: 'Access', access: { id } } });
}

function parts(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `192.168.${i}.0/24`);
}
