/** Layer-2 networks. */
import { type Fields, type InvalidCase, layer2, refused, taken, type ValidCase } from './cases.ts';

const secondary = (config: Fields = {}): Fields => layer2({ role: 'Secondary', ...config });
const withoutSubnets = (config: Fields = {}): Fields => ({ topology: 'Layer2', layer2: config });
const both = ['10.20.0.0/16', 'fd00::/64'];

const invalidSubnets: readonly InvalidCase[] = [
  refused('no configuration', { topology: 'Layer2' }, 'layer2', 'spec.layer2 is required when topology is Layer2'),
  refused(
    'with the configuration of layer 3 beside it',
    layer2({}, { layer3: { role: 'Primary', subnets: [{ cidr: '10.20.0.0/16' }] } }),
    'layer3',
    'spec.layer3 is required when topology is Layer3 and forbidden otherwise',
  ),
  refused('no role', withoutSubnets({ subnets: ['10.20.0.0/16'] }), 'layer2.role', 'Required value'),
  refused('an unknown role', layer2({ role: 'Tertiary' }), 'layer2.role', 'Unsupported value: "Tertiary"'),
  refused('an empty list of subnets', layer2({ subnets: [] }), 'layer2.subnets', 'should have at least 1 items'),
  refused(
    'three subnets',
    layer2({ subnets: [...both, '10.21.0.0/16'] }),
    'layer2.subnets',
    'must have at most 2 items',
  ),
  refused(
    'two IPv4 subnets',
    layer2({ subnets: ['10.20.0.0/16', '10.21.0.0/16'] }),
    'layer2.subnets',
    'When 2 CIDRs are set, they must be from different IP families',
  ),
  refused(
    'two IPv6 subnets',
    layer2({ subnets: ['fd00::/64', 'fd01::/64'] }),
    'layer2.subnets',
    'When 2 CIDRs are set, they must be from different IP families',
  ),
  refused('a subnet that is none', layer2({ subnets: ['10.20.0.0'] }), 'layer2.subnets[0]', 'CIDR is invalid'),
  refused('subnets of another form', layer2({ subnets: [10] }), 'layer2.subnets[0]', 'must be of type string'),
  refused(
    'join subnets of a secondary network',
    secondary({ joinSubnets: ['100.70.0.0/16'] }),
    'layer2.joinSubnets',
    'JoinSubnets is only supported for Primary network',
  ),
  refused(
    'two join subnets of one family',
    layer2({ joinSubnets: ['fd70::/64', 'fd71::/64'] }),
    'layer2.joinSubnets',
    'When 2 CIDRs are set, they must be from different IP families',
  ),
].flat();

const invalidIpam: readonly InvalidCase[] = [
  refused(
    'no subnets',
    withoutSubnets({ role: 'Primary' }),
    'layer2.subnets',
    'Subnets is required with ipam.mode is Enabled or unset',
  ),
  refused(
    'no subnets of a secondary network',
    withoutSubnets({ role: 'Secondary', ipam: { mode: 'Enabled' } }),
    'layer2.subnets',
    'Subnets is required with ipam.mode is Enabled or unset',
  ),
  refused(
    'no subnets with persistent addresses',
    withoutSubnets({ role: 'Secondary', ipam: { lifecycle: 'Persistent' } }),
    'layer2.subnets',
    'Subnets is required with ipam.mode is Enabled or unset',
  ),
  refused(
    'subnets without IPAM',
    secondary({ ipam: { mode: 'Disabled' } }),
    'layer2.subnets',
    'Subnets must be unset when ipam.mode is Disabled',
  ),
  refused(
    'a primary network without IPAM',
    withoutSubnets({ role: 'Primary', ipam: { mode: 'Disabled' } }),
    'layer2.ipam.mode',
    'Disabled ipam.mode is only supported for Secondary network',
  ),
  refused(
    'persistent addresses without IPAM',
    withoutSubnets({ role: 'Secondary', ipam: { mode: 'Disabled', lifecycle: 'Persistent' } }),
    'layer2.ipam.lifecycle',
    'lifecycle Persistent is only supported when ipam.mode is Enabled',
  ),
  refused('empty IPAM', layer2({ ipam: {} }), 'layer2.ipam', 'should have at least 1 properties'),
  refused('an unknown IPAM', layer2({ ipam: { mode: 'DHCP' } }), 'layer2.ipam.mode', 'Unsupported value: "DHCP"'),
  refused(
    'an unknown lifecycle',
    layer2({ ipam: { lifecycle: 'Forever' } }),
    'layer2.ipam.lifecycle',
    'Unsupported value: "Forever"',
  ),
].flat();

const GATEWAYS = 'layer2.defaultGatewayIPs';

const invalidGateways: readonly InvalidCase[] = [
  refused(
    'a gateway of a secondary network',
    secondary({ defaultGatewayIPs: ['10.20.0.9'] }),
    GATEWAYS,
    'defaultGatewayIPs is only supported for Primary network',
  ),
  refused(
    'a gateway elsewhere',
    layer2({ defaultGatewayIPs: ['10.21.0.9'] }),
    GATEWAYS,
    'defaultGatewayIPs must belong to one of the subnets specified in the subnets field',
  ),
  refused(
    'a gateway of one family',
    layer2({ subnets: both, defaultGatewayIPs: ['10.20.0.9'] }),
    GATEWAYS,
    'defaultGatewayIPs must be specified for all IP families',
  ),
  refused(
    'two gateways of one family',
    layer2({ subnets: both, defaultGatewayIPs: ['10.20.0.9', '10.20.0.10'] }),
    GATEWAYS,
    'When 2 IPs are set, they must be from different IP families',
  ),
  refused('no gateway', layer2({ defaultGatewayIPs: [] }), GATEWAYS, 'should have at least 1 items'),
  refused(
    'three gateways',
    layer2({ subnets: both, defaultGatewayIPs: ['10.20.0.9', 'fd00::9', 'fd00::10'] }),
    GATEWAYS,
    'must have at most 2 items',
  ),
  refused('a gateway that is none', layer2({ defaultGatewayIPs: ['10.20.0'] }), `${GATEWAYS}[0]`, 'IP is invalid'),
  refused('a gateway with a mask', layer2({ defaultGatewayIPs: ['10.20.0.9/16'] }), `${GATEWAYS}[0]`, 'IP is invalid'),
  refused(
    'a gateway outside of the infrastructure',
    layer2({ infrastructureSubnets: ['10.20.1.0/24'], defaultGatewayIPs: ['10.20.2.1'] }),
    GATEWAYS,
    'defaultGatewayIPs have to belong to infrastructureSubnets',
  ),
].flat();

const invalidParts = (field: 'reservedSubnets' | 'infrastructureSubnets', max: number): readonly InvalidCase[] =>
  [
    refused(
      `${field} without subnets`,
      withoutSubnets({ role: 'Secondary', ipam: { mode: 'Disabled' }, [field]: ['10.20.1.0/24'] }),
      `layer2.${field}`,
      `${field} must be unset when subnets is unset`,
    ),
    refused(
      `${field} of a secondary network`,
      secondary({ [field]: ['10.20.1.0/24'] }),
      `layer2.${field}`,
      `${field} is only supported for Primary network`,
    ),
    refused(
      `${field} elsewhere`,
      layer2({ [field]: ['10.20.1.0/24', '10.21.1.0/24'] }),
      `layer2.${field}`,
      `${field} must be subnetworks of the networks specified in the subnets field`,
    ),
    refused(
      `${field} around the subnets`,
      layer2({ [field]: ['10.0.0.0/8'] }),
      `layer2.${field}`,
      `${field} must be subnetworks of the networks specified in the subnets field`,
    ),
    refused(
      `${field} of the other family`,
      layer2({ [field]: ['fd00::/80'] }),
      `layer2.${field}`,
      `${field} must be subnetworks of the networks specified in the subnets field`,
    ),
    refused(
      `${field} with host bits`,
      layer2({ [field]: ['10.20.1.1/24'] }),
      `layer2.${field}[0]`,
      `${field} must be a masked network address (no host bits set)`,
    ),
    refused(`${field} that are none`, layer2({ [field]: ['x'] }), `layer2.${field}[0]`, 'CIDR is invalid'),
    refused(`no ${field}`, layer2({ [field]: [] }), `layer2.${field}`, 'should have at least 1 items'),
    refused(
      `too many ${field}`,
      layer2({ [field]: parts(max + 1) }),
      `layer2.${field}`,
      `must have at most ${max} items`,
    ),
  ].flat();

export const invalidLayer2: readonly InvalidCase[] = [
  ...invalidSubnets,
  ...invalidIpam,
  ...invalidGateways,
  ...invalidParts('reservedSubnets', 25),
  ...invalidParts('infrastructureSubnets', 4),
  ...refused(
    'infrastructure in what is reserved',
    layer2({ reservedSubnets: ['10.20.0.0/20'], infrastructureSubnets: ['10.20.1.0/24'] }),
    'layer2.infrastructureSubnets',
    'infrastructureSubnets and reservedSubnets must not overlap',
  ),
  ...refused(
    'infrastructure around what is reserved',
    layer2({ reservedSubnets: ['10.20.1.128/25'], infrastructureSubnets: ['10.20.1.0/24'] }),
    'layer2.infrastructureSubnets',
    'infrastructureSubnets and reservedSubnets must not overlap',
  ),
];

export const validLayer2: readonly ValidCase[] = [
  taken('one IPv4 subnet', layer2()),
  taken('one IPv6 subnet', layer2({ subnets: ['fd00::/64'] })),
  taken('both families', layer2({ subnets: both })),
  taken('both families, IPv6 first', layer2({ subnets: ['fd00::/64', '10.20.0.0/16'] })),
  taken('an IPv6 subnet of another length', layer2({ subnets: ['fd00::/112'] })),
  taken('host bits', layer2({ subnets: ['10.20.0.7/16', 'fd00::7/64'] })),
  taken(
    'parts of subnets with host bits',
    layer2({ subnets: ['10.20.100.0/16', 'fd00::7/64'], reservedSubnets: ['10.20.1.0/24', 'fd00::/96'] }),
  ),
  taken('IPAM by name', layer2({ ipam: { mode: 'Enabled' } })),
  taken('persistent addresses', layer2({ ipam: { lifecycle: 'Persistent' } })),
  taken('persistent addresses with IPAM by name', layer2({ ipam: { mode: 'Enabled', lifecycle: 'Persistent' } })),
  taken('a secondary network', secondary()),
  taken('a secondary network without IPAM', withoutSubnets({ role: 'Secondary', ipam: { mode: 'Disabled' } })),
  taken('join subnets', layer2({ joinSubnets: ['100.70.0.0/16', 'fd70::/64'] })),
  taken('a gateway', layer2({ defaultGatewayIPs: ['10.20.255.1'] })),
  taken(
    'gateways of both families in another order',
    layer2({ subnets: both, defaultGatewayIPs: ['fd00::9', '10.20.0.9'] }),
  ),
  taken('reserved subnets', layer2({ reservedSubnets: ['10.20.1.0/24', '10.20.2.0/32'] })),
  taken('reserved subnets of both families', layer2({ subnets: both, reservedSubnets: ['10.20.1.0/24', 'fd00::/96'] })),
  taken('all of the subnet reserved', layer2({ reservedSubnets: ['10.20.0.0/16'] })),
  taken('25 reserved subnets', layer2({ reservedSubnets: parts(25) })),
  taken('4 infrastructure subnets', layer2({ infrastructureSubnets: parts(4) })),
  taken(
    'infrastructure with the gateway, beside what is reserved',
    layer2({
      reservedSubnets: ['10.20.0.0/24'],
      infrastructureSubnets: ['10.20.1.0/24'],
      defaultGatewayIPs: ['10.20.1.1'],
    }),
  ),
].flat();

function parts(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `10.20.${i}.0/24`);
}
