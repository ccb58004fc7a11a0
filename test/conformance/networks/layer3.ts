/** Layer-3 networks. */
import { cidrs, type Fields, type InvalidCase, layer3, refused, taken, type ValidCase } from './cases.ts';

const SUBNETS = 'layer3.subnets';
const secondary = (config: Fields = {}): Fields => layer3({ role: 'Secondary', ...config });

export const invalidLayer3: readonly InvalidCase[] = [
  refused('no topology', { layer3: layer3()['layer3'] }, 'topology', 'Required value'),
  refused('an unknown topology', layer3({}, { topology: 'Layer4' }), 'topology', 'Unsupported value: "Layer4"'),
  refused('no configuration', { topology: 'Layer3' }, 'layer3', 'spec.layer3 is required when topology is Layer3'),
  refused(
    'with the configuration of layer 2 beside it',
    layer3({}, { layer2: { role: 'Primary', subnets: ['10.20.0.0/16'] } }),
    'layer2',
    'spec.layer2 is required when topology is Layer2 and forbidden otherwise',
  ),
  refused(
    'with the configuration of layer 2 instead',
    { topology: 'Layer3', layer2: { role: 'Primary', subnets: ['10.20.0.0/16'] } },
    'layer3',
    'spec.layer3 is required when topology is Layer3 and forbidden otherwise',
  ),
  refused('no role', { topology: 'Layer3', layer3: { subnets: cidrs('10.20.0.0/16') } }, 'layer3.role', 'Required'),
  refused('an unknown role', layer3({ role: 'primary' }), 'layer3.role', 'Unsupported value: "primary"'),
  refused('no subnets', { topology: 'Layer3', layer3: { role: 'Primary' } }, SUBNETS, 'Required value'),
  refused('an empty list of subnets', layer3({ subnets: [] }), SUBNETS, 'should have at least 1 items'),
  refused('more than 400 subnets', layer3({ subnets: many(401) }), SUBNETS, 'must have at most 400 items'),
  refused('a subnet without CIDR', layer3({ subnets: [{ hostSubnet: 24 }] }), `${SUBNETS}[0].cidr`, 'Required value'),
  refused('a CIDR that is none', layer3({ subnets: cidrs('abc') }), `${SUBNETS}[0].cidr`, 'CIDR is invalid'),
  refused('an address for a CIDR', layer3({ subnets: cidrs('10.20.0.0') }), `${SUBNETS}[0].cidr`, 'CIDR is invalid'),
  refused('an impossible mask', layer3({ subnets: cidrs('10.20.0.0/33') }), `${SUBNETS}[0].cidr`, 'CIDR is invalid'),
  refused('leading zeros', layer3({ subnets: cidrs('010.20.0.0/16') }), `${SUBNETS}[0].cidr`, 'CIDR is invalid'),
  refused(
    'IPv4 in an IPv6 CIDR',
    layer3({ subnets: cidrs('::ffff:10.20.0.0/112') }),
    `${SUBNETS}[0].cidr`,
    'CIDR is invalid',
  ),
  refused(
    'the second CIDR that is none',
    layer3({ subnets: cidrs('10.20.0.0/16', '10.21.0.0/160') }),
    `${SUBNETS}[1].cidr`,
    'CIDR is invalid',
  ),
  refused(
    'a CIDR of more than 43 characters',
    layer3({ subnets: cidrs('fd00:0000:0000:0000:0000:0000:0000:0000:0000/48') }),
    `${SUBNETS}[0].cidr`,
    'may not be more than 43 bytes',
  ),
  refused(
    'a host subnet as large as the CIDR',
    layer3({ subnets: cidrs(['10.20.0.0/16', 16]) }),
    `${SUBNETS}[0].hostSubnet`,
    'HostSubnet must be smaller than CIDR subnet',
  ),
  refused(
    'a host subnet larger than the CIDR',
    layer3({ subnets: cidrs(['fd00::/64', 48]) }),
    `${SUBNETS}[0].hostSubnet`,
    'HostSubnet must be smaller than CIDR subnet',
  ),
  refused(
    'a host subnet of one IPv4 address',
    layer3({ subnets: cidrs(['10.20.0.0/16', 32]) }),
    `${SUBNETS}[0].hostSubnet`,
    'HostSubnet must < 32 for ipv4 CIDR',
  ),
  refused(
    'a host subnet longer than an IPv4 address',
    layer3({ subnets: cidrs(['10.20.0.0/16', 64]) }),
    `${SUBNETS}[0].hostSubnet`,
    'HostSubnet must < 32 for ipv4 CIDR',
  ),
  refused(
    'a host subnet of 0',
    layer3({ subnets: cidrs(['10.20.0.0/16', 0]) }),
    `${SUBNETS}[0].hostSubnet`,
    'should be greater than or equal to 1',
  ),
  refused(
    'a host subnet of 128',
    layer3({ subnets: cidrs(['fd00::/48', 128]) }),
    `${SUBNETS}[0].hostSubnet`,
    'should be less than or equal to 127',
  ),
  refused(
    'an IPv6 host subnet that is longer than 64',
    layer3({ subnets: cidrs(['fd00::/48', 80]) }),
    `${SUBNETS}[0].hostSubnet`,
    'HostSubnet must be 64 for ipv6 CIDR',
  ),
  refused(
    'an IPv6 host subnet that is shorter than 64',
    layer3({ subnets: cidrs('10.20.0.0/16', ['fd00::/48', 56]) }),
    `${SUBNETS}[1].hostSubnet`,
    'HostSubnet must be 64 for ipv6 CIDR',
  ),
  refused(
    'an IPv4 CIDR as large as a host subnet by default',
    layer3({ subnets: cidrs('10.20.0.0/24') }),
    `${SUBNETS}[0].cidr`,
    'CIDR must be larger than the subnet of a node',
  ),
  refused(
    'an IPv6 CIDR as large as a host subnet',
    layer3({ subnets: cidrs('fd00::/64') }),
    `${SUBNETS}[0].cidr`,
    'CIDR must be larger than the subnet of a node, which is /24 for ipv4 and /64 for ipv6',
  ),
  refused(
    'the same CIDR twice',
    layer3({ subnets: cidrs('10.20.0.0/16', '10.20.0.0/16') }),
    SUBNETS,
    'Subnets with same CIDR are not allowed',
  ),
  refused(
    'a CIDR in another',
    layer3({ subnets: cidrs('10.0.0.0/8', '10.20.0.0/16') }),
    SUBNETS,
    'Subnets must not overlap or contain each other',
  ),
  refused(
    'subnets with host bits that overlap',
    layer3({ subnets: cidrs('10.20.0.1/16', '10.20.5.1/23') }),
    SUBNETS,
    'Subnets must not overlap or contain each other',
  ),
  refused(
    'the last CIDR around the first',
    layer3({ subnets: cidrs('fd00:0:1::/48', '10.20.0.0/16', 'fd00::/32') }),
    SUBNETS,
    'Subnets must not overlap or contain each other',
  ),
  refused(
    'host subnets of different lengths',
    layer3({ subnets: cidrs(['10.20.0.0/16', 24], ['10.21.0.0/16', 25]) }),
    SUBNETS,
    'Subnets from the same IP family must use the same hostSubnet value',
  ),
  refused(
    'a host subnet on one of two',
    layer3({ subnets: cidrs(['10.20.0.0/16', 24], '10.21.0.0/16') }),
    SUBNETS,
    'Subnets from the same IP family must use the same hostSubnet value',
  ),
  refused(
    'three subnets of a secondary network',
    secondary({ subnets: cidrs('10.20.0.0/16', 'fd00::/48', '10.21.0.0/16') }),
    SUBNETS,
    'Secondary networks may define at most 2 subnets',
  ),
  refused(
    'two subnets of one family of a secondary network',
    secondary({ subnets: cidrs('10.20.0.0/16', '10.21.0.0/16') }),
    SUBNETS,
    'When 2 CIDRs are set for Secondary networks, they must be from different IP families',
  ),
  refused(
    'join subnets of a secondary network',
    secondary({ joinSubnets: ['100.70.0.0/16'] }),
    'layer3.joinSubnets',
    'JoinSubnets is only supported for Primary network',
  ),
  refused('no join subnet', layer3({ joinSubnets: [] }), 'layer3.joinSubnets', 'should have at least 1 items'),
  refused(
    'three join subnets',
    layer3({ joinSubnets: ['100.70.0.0/16', 'fd70::/64', 'fd71::/64'] }),
    'layer3.joinSubnets',
    'must have at most 2 items',
  ),
  refused(
    'two join subnets of one family',
    layer3({ joinSubnets: ['100.70.0.0/16', '100.71.0.0/16'] }),
    'layer3.joinSubnets',
    'When 2 CIDRs are set, they must be from different IP families',
  ),
  refused(
    'a join subnet that is none',
    layer3({ joinSubnets: ['100.70.0.0'] }),
    'layer3.joinSubnets[0]',
    'CIDR is invalid',
  ),
].flat();

export const validLayer3: readonly ValidCase[] = [
  taken('host bits', layer3({ subnets: cidrs('10.20.0.1/16', '10.21.7.0/16', 'fd00::1/48') })),
  taken('one IPv4 subnet', layer3()),
  taken('one IPv6 subnet', layer3({ subnets: cidrs('fd00::/48') })),
  taken('both families', layer3({ subnets: cidrs('10.20.0.0/16', 'fd00::/48') })),
  taken('host subnets of both families', layer3({ subnets: cidrs(['10.20.0.0/16', 24], ['fd00::/48', 64]) })),
  taken('the largest host subnet', layer3({ subnets: cidrs(['10.20.0.0/16', 17]) })),
  taken('the smallest host subnet', layer3({ subnets: cidrs(['10.20.0.0/16', 31]) })),
  taken('a small CIDR with smaller host subnets', layer3({ subnets: cidrs(['10.20.0.0/24', 28]) })),
  taken('an IPv4 CIDR with room for two nodes', layer3({ subnets: cidrs('10.20.0.0/23') })),
  taken('an IPv6 CIDR with room for two nodes', layer3({ subnets: cidrs('fd00::/63') })),
  taken('an IPv6 CIDR in full', layer3({ subnets: cidrs('fd00:0000:0000:0000:0000:0000:0000:0000/48') })),
  taken('several subnets of a family', layer3({ subnets: cidrs('10.20.0.0/16', '10.21.0.0/16', '10.22.0.0/16') })),
  taken(
    'several subnets of each family, mixed',
    layer3({ subnets: cidrs(['fd00::/48', 64], ['10.20.0.0/16', 24], ['fd00:0:1::/48', 64], ['10.21.0.0/16', 24]) }),
  ),
  taken('400 subnets', layer3({ subnets: many(400) })),
  taken('a secondary network', secondary()),
  taken('a secondary network of both families', secondary({ subnets: cidrs('10.20.0.0/16', 'fd00::/48') })),
  taken('one join subnet', layer3({ joinSubnets: ['100.70.0.0/16'] })),
  taken('a join subnet of each family', layer3({ joinSubnets: ['100.70.0.0/16', 'fd70::/64'] })),
].flat();

function many(count: number): Fields[] {
  return Array.from({ length: count }, (_, i) => ({ cidr: `10.${Math.floor(i / 16)}.${(i % 16) * 16}.0/20` }));
}
