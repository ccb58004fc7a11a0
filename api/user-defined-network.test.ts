import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseClusterUserDefinedNetwork } from './cluster-user-defined-network.ts';
import { ApiError } from './errors.ts';
import { parseUserDefinedNetwork } from './user-defined-network.ts';

const udn = (spec: unknown): unknown => ({
  apiVersion: 'k8s.ovn.org/v1',
  kind: 'UserDefinedNetwork',
  metadata: { name: 'blue', namespace: 'ns' },
  spec,
});
const cudn = (network: unknown, more: object = {}): unknown => ({
  metadata: { name: 'blue' },
  spec: { namespaceSelector: {}, network, ...more },
});
const layer3 = (more: object = {}) => ({
  topology: 'Layer3',
  layer3: { role: 'Primary', subnets: [{ cidr: '10.20.0.0/16' }], ...more },
});
const layer2 = (more: object = {}) => ({
  topology: 'Layer2',
  layer2: { role: 'Primary', subnets: ['10.20.0.0/16'], ...more },
});
const cidrs = (...list: string[]) => list.map((cidr) => ({ cidr }));

describe('UserDefinedNetwork', () => {
  it('is read, and what was read reads the same', () => {
    const parsed = parseUserDefinedNetwork(udn(layer3({ mtu: 1400, joinSubnets: ['100.70.0.0/16', 'fd70::/64'] })));
    expect(parsed.spec.layer3?.subnets[0]?.cidr).toBe('10.20.0.0/16');
    expect(parseUserDefinedNetwork({ ...parsed })).toEqual(parsed);
  });

  it('names the object, the field and the text that is wrong', () => {
    expect(() => parseUserDefinedNetwork(udn(layer3({ subnets: cidrs('fd00::/48', '10.0.0.5/33') })))).toThrow(
      expect.objectContaining({
        code: 'ERR_API_FIELD',
        object: 'UserDefinedNetwork ns/blue',
        field: 'spec.layer3.subnets[1].cidr',
        message: 'spec.layer3.subnets[1].cidr: CIDR is invalid: "10.0.0.5/33" has a prefix length above 32',
      }),
    );
  });

  it.each([
    [layer3({ role: undefined }), 'spec.layer3.role: is required'],
    [layer3({ role: 'primary' }), 'spec.layer3.role: must be "Primary" or "Secondary", is "primary"'],
    [layer3({ mtu: 100 }), 'spec.layer3.mtu: must be at least 576, is 100'],
    [layer3({ mtu: '1400' }), 'spec.layer3.mtu: must be a number, is a string'],
    [layer3({ subnets: [] }), 'spec.layer3.subnets: must have at least 1 item, has 0'],
    [{ topology: 'Layer3' }, 'spec.layer3 is required when topology is Layer3 and forbidden otherwise'],
    [{ ...layer3(), ...layer2(), topology: 'Layer2' }, 'spec.layer3 is required when topology is Layer3 and forbidden'],
    [layer3({ role: 'Secondary', subnets: cidrs('10.0.0.0/16', '10.1.0.0/16', '10.2.0.0/16') }), 'at most 2 subnets'],
    [layer3({ role: 'Secondary', subnets: cidrs('10.0.0.0/16', '10.1.0.0/16') }), 'must be from different IP families'],
    [
      layer3({ role: 'Secondary', joinSubnets: ['100.70.0.0/16'] }),
      'JoinSubnets is only supported for Primary network',
    ],
    [
      layer3({ mtu: 1279, subnets: cidrs('fd00::/48', 'fd01::/48') }),
      'MTU should be greater than or equal to 1280 when IPv6 subnet is used',
    ],
    [layer3({ subnets: cidrs('10.0.0.0/8', '10.1.0.0/16') }), 'Subnets must not overlap or contain each other'],
    [layer3({ subnets: cidrs('10.0.0.0/16', '10.0.0.0/16') }), 'Subnets with same CIDR are not allowed'],
    [
      layer3({ subnets: [{ cidr: '10.0.0.0/16', hostSubnet: 24 }, { cidr: '10.1.0.0/16' }] }),
      'Subnets from the same IP family must use the same hostSubnet value',
    ],
    [layer3({ subnets: [{ cidr: '10.0.0.0/16', hostSubnet: 16 }] }), 'HostSubnet must be smaller than CIDR subnet'],
    [layer3({ subnets: [{ cidr: '10.0.0.0/16', hostSubnet: 32 }] }), 'HostSubnet must < 32 for ipv4 CIDR'],
    [layer2({ subnets: undefined }), 'Subnets is required with ipam.mode is Enabled or unset'],
    [layer2({ ipam: { mode: 'Disabled' } }), 'Subnets must be unset when ipam.mode is Disabled'],
    [layer2({ subnets: undefined, ipam: { mode: 'Disabled' } }), 'is only supported for Secondary network'],
    [
      layer2({ subnets: ['10.0.0.0/16', '10.1.0.0/16'] }),
      'When 2 CIDRs are set, they must be from different IP families',
    ],
    [layer2({ defaultGatewayIPs: ['10.21.0.1'] }), 'defaultGatewayIPs must belong to one of the subnets'],
    [
      layer2({ subnets: ['10.20.0.0/16', 'fd00::/64'], defaultGatewayIPs: ['10.20.0.9'] }),
      'defaultGatewayIPs must be specified for all IP families',
    ],
    [
      layer2({ infrastructureSubnets: ['10.20.1.0/24'], defaultGatewayIPs: ['10.20.2.1'] }),
      'defaultGatewayIPs have to belong to infrastructureSubnets',
    ],
    [layer2({ reservedSubnets: ['10.21.0.0/24'] }), 'reservedSubnets must be subnetworks of the networks specified'],
    [
      layer2({ reservedSubnets: ['10.20.0.0/24'], infrastructureSubnets: ['10.20.0.128/25'] }),
      'infrastructureSubnets and reservedSubnets must not overlap',
    ],
    [
      layer2({ role: 'Secondary', subnets: undefined, ipam: { mode: 'Disabled', lifecycle: 'Persistent' } }),
      'lifecycle Persistent is only supported when ipam.mode is Enabled',
    ],
  ])('refuses %j', (spec, message) => {
    expect(() => parseUserDefinedNetwork(udn(spec))).toThrow(message);
    expect(() => parseUserDefinedNetwork(udn(spec))).toThrow(ApiError);
  });

  it('distinguishes rules and fields by their code', () => {
    expect(() => parseUserDefinedNetwork(udn(layer2({ ipam: { mode: 'Disabled' } })))).toThrow(
      expect.objectContaining({ code: 'ERR_API_RULE', field: 'spec.layer2.subnets' }),
    );
  });
});

describe('ClusterUserDefinedNetwork', () => {
  it('is read with everything that is not implemented yet', () => {
    const object = cudn(
      {
        ...layer3(),
        transport: 'EVPN',
        evpn: { vtep: 'v', ipVRF: { vni: 7, routeTarget: '65000:1' } },
      },
      { namespaceSelector: { matchExpressions: [{ key: 'team', operator: 'In', values: ['a'] }] } },
    );
    const parsed = parseClusterUserDefinedNetwork(object);
    expect(parsed).toMatchObject(object as object);
  });

  it.each([
    [cudn(layer3(), { namespaceSelector: undefined }), 'spec.namespaceSelector: is required'],
    [
      cudn(layer3(), { namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } }),
      'spec.namespaceSelector.matchExpressions[0].values: must be specified when operator is In',
    ],
    [cudn(layer3({ role: 'Secondary' }), { uplinks: ['u'] }), 'spec.uplinks is supported only for primary'],
    [
      cudn({ ...layer2(), transport: 'NoOverlay', noOverlay: { outboundSNAT: 'Enabled', routing: 'Managed' } }),
      "transport 'NoOverlay' is only supported for Layer3 primary networks",
    ],
    [cudn({ ...layer3(), transport: 'EVPN' }), "spec.evpn field is required when transport is 'EVPN'"],
    [
      cudn({ ...layer3(), transport: 'EVPN', evpn: { vtep: 'v', ipVRF: { vni: 7, routeTarget: 'a:1' } } }),
      "RT global administrator must be either '*', an IPv4 address, or a number",
    ],
    [
      cudn({
        topology: 'Localnet',
        localnet: { role: 'Secondary', physicalNetworkName: 'a:b', ipam: { mode: 'Disabled' } },
      }),
      'physicalNetworkName cannot contain `,` or `:` characters',
    ],
  ])('refuses %#', (object, message) => {
    expect(() => parseClusterUserDefinedNetwork(object)).toThrow(message);
  });
});

describe('garbage', () => {
  it('throws nothing but ApiError', () => {
    const garbage = fc.oneof(
      fc.jsonValue(),
      fc.jsonValue().map((spec) => udn(spec)),
      fc.jsonValue().map((block) => udn({ topology: 'Layer2', layer2: block })),
      fc.jsonValue().map((block) => cudn({ topology: 'Layer3', layer3: block })),
      fc.array(fc.string()).map((subnets) => udn(layer2({ subnets }))),
    );
    fc.assert(
      fc.property(garbage, (value) => {
        for (const read of [parseUserDefinedNetwork, parseClusterUserDefinedNetwork]) {
          try {
            read(value);
          } catch (error) {
            expect(error).toBeInstanceOf(ApiError);
          }
        }
      }),
      { numRuns: 500 },
    );
  });
});
