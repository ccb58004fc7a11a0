import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCidr } from '../net/cidr.ts';
import { parseClusterConfig } from './cluster-config.ts';
import { ApiError } from './errors.ts';
import { formatNetConf, type NetConf, parseNetConf, pluginsBeside, sameNetwork } from './net-conf.ts';
import { refuseOverlaps } from './network-overlap.ts';

const NAD = { namespace: 'ns1', name: 'nad1' };

const config = (fields: Record<string, unknown> = {}): string =>
  JSON.stringify({
    cniVersion: '1.1.0',
    type: 'ovn-k8s-cni-overlay',
    name: 'tenantred',
    netAttachDefName: 'ns1/nad1',
    topology: 'layer3',
    role: 'primary',
    subnets: '10.20.0.0/16',
    ...fields,
  });

const read = (fields: Record<string, unknown> = {}): NetConf => {
  const conf = parseNetConf(config(fields), NAD);
  if (conf === undefined) throw new Error('not ours');
  return conf;
};

describe('NAD configuration', () => {
  it('means the same with host bits and without, in all its subnets', () => {
    const layer2 = {
      topology: 'layer2',
      subnets: '10.0.9.9/16',
      joinSubnet: '100.70.0.1/16',
      excludeSubnets: '10.0.4.4/24',
    };
    const conf = parseNetConf(config(layer2), NAD);
    expect(conf).toMatchObject({
      subnets: [{ cidr: '10.0.0.0/16' }],
      joinSubnets: ['100.70.0.0/16'],
      excludeSubnets: ['10.0.4.0/24'],
    });
    const masked = { ...layer2, subnets: '10.0.0.0/16', joinSubnet: '100.70.0.0/16', excludeSubnets: '10.0.4.0/24' };
    expect(parseNetConf(config(masked), NAD)).toEqual(conf);
    const layer3 = { subnets: '10.0.9.9/16/24,fd00::9/48/64' };
    expect(parseNetConf(config(layer3), NAD)?.subnets).toEqual([
      { cidr: '10.0.0.0/16', hostPrefix: 24 },
      { cidr: 'fd00::/48', hostPrefix: 64 },
    ]);
  });

  it('is written with sorted keys and only those that have a value', () => {
    expect(formatNetConf(read({ mtu: 1400, joinSubnet: '100.65.0.0/16,fd99::/64', subnets: '10.20.0.0/16/24' }))).toBe(
      '{"cniVersion":"1.1.0","joinSubnet":"100.65.0.0/16,fd99::/64","mtu":1400,"name":"tenantred","netAttachDefName":"ns1/nad1","role":"primary","subnets":"10.20.0.0/16/24","topology":"layer3","type":"ovn-k8s-cni-overlay"}',
    );
  });

  it('reads a list of plugins: the first that is ours, with the name of the list', () => {
    const list = JSON.stringify({
      cniVersion: '1.0.0',
      name: 'tenantred',
      plugins: [
        { type: 'tuning' },
        { type: 'ovn-k8s-cni-overlay', netAttachDefName: 'ns1/nad1', topology: 'layer2', subnets: '10.1.0.0/16' },
      ],
    });
    expect(parseNetConf(list, NAD)).toMatchObject({ name: 'tenantred', topology: 'layer2', role: 'secondary' });
    expect(pluginsBeside(list, NAD)).toEqual(['tuning']);
    expect(pluginsBeside(config({}), NAD)).toEqual([]);
  });

  it.each([
    ['another plugin', JSON.stringify({ type: 'macvlan', ipam: { type: 'host-local' } })],
    ['other plugins', JSON.stringify({ name: 'x', plugins: [{ type: 'bridge' }] })],
    ['a value that is no object', '[]'],
    ['the default network', JSON.stringify({ type: 'ovn-k8s-cni-overlay', name: 'ovn-kubernetes' })],
  ])('leaves %s alone', (_what, text) => {
    expect(parseNetConf(text, NAD)).toBeUndefined();
  });

  it.each([
    [undefined, 'error parsing Network Attachment Definition ns1/nad1: unexpected end of JSON input'],
    [
      config({ netAttachDefName: 'default/tenantred' }),
      'net-attach-def name (ns1/nad1) is inconsistent with config (default/tenantred)',
    ],
    [
      config({ ipam: { type: 'whereabouts' } }),
      'IPAM key is not supported. Use OVN-K provided IPAM via the `subnets` attribute',
    ],
    [config({ netAttachDefName: undefined }), 'missing NADName in secondary network netconf tenantred'],
    [config({ allowPersistentIPs: true }), 'layer3 topology does not allow persistent IPs'],
    [config({ role: 'Primary' }), 'invalid network role value Primary'],
    [config({ topology: 'localnet' }), 'unexpected network field "role" primary for "localnet" topology, '],
    [
      config({ topology: 'localnet', role: 'secondary', joinSubnet: '100.66.0.0/16' }),
      'localnet topology does not allow specifying join-subnet as services are not supported',
    ],
    [
      config({ topology: 'layer2', subnets: '' }),
      'the subnet attribute must be defined for layer2 primary user defined networks',
    ],
    [
      config({ subnets: '10.0.0.0/24/16' }),
      'cannot use a host subnet length mask shorter than or equal to the cluster subnet mask. host subnet length: 16, cluster subnet length: 24',
    ],
    [config({ subnets: '10.0.0.0/24/32' }), 'invalid host subnet, IPv4 subnet must be < 32'],
    [config({ subnets: 'fd00::/48/80' }), 'IPv6 only supports /64 host subnets'],
    [config({ subnets: '10.0.0.0/24' }), 'host subnet length: 24, cluster subnet length: 24'],
    [config({ subnets: '10.0.0.0/16/31' }), 'a /31 of "10.0.0.0/16" has no address left for pods'],
    [
      config({ topology: 'layer2', subnets: '10.0.0.0/16', excludeSubnets: '10.1.0.0/24' }),
      'the provided network subnets do not contain excluded subnets 10.1.0.0/24',
    ],
    [
      config({ topology: 'layer2', subnets: '10.0.0.0/16,10.1.0.0/16' }),
      'layer2 networks have at most one subnet of a family',
    ],
    [
      config({ subnets: '10.0.0.0/16,10.0.5.0/24/25' }),
      'user defined subnet "10.0.0.0/16" overlaps user defined subnet "10.0.5.0/24"',
    ],
    [config({ subnets: '10.0.0.5/33' }), 'subnets[0]: "10.0.0.5/33" has a prefix length above 32'],
    [config({ mtu: 1 }), 'mtu: must be at least 576, is 1'],
    [config({ subnets: 'fd00::/48', mtu: 1000 }), 'MTU should be greater than or equal to 1280'],
    [config({ subnets: '10.0.0.0/16/30' }), 'a /30 of "10.0.0.0/16" has no address left for pods after the gateway\'s'],
    [config({ role: 'secondary', subnets: '10.0.0.0/16/31' }), 'a /31 of "10.0.0.0/16" has no address left for pods'],
    [config({ topology: 'layer2', subnets: '10.0.0.0/30' }), 'a /30 of "10.0.0.0/30" has no address left for pods'],
    [config({ topology: 'layer2', subnets: 'fd20::/127' }), 'a /127 of "fd20::/127" has no address left for pods'],
    [
      config({ topology: 'layer2', subnets: '10.0.0.0/24', infrastructureSubnets: '10.0.0.0/24' }),
      'the infrastructure subnets leave no address of "10.0.0.0/24" for pods',
    ],
    [
      config({ topology: 'layer2', subnets: '10.0.0.0/24', infrastructureSubnets: '10.0.0.0/25,10.0.0.128/25' }),
      'the infrastructure subnets leave no address of "10.0.0.0/24" for pods',
    ],
    [
      // The rest are the ends, the gateway and the management port.
      config({ topology: 'layer2', subnets: '10.0.0.0/29', excludeSubnets: '10.0.0.3/32,10.0.0.4/31,10.0.0.6/32' }),
      'the excluded subnets leave no address of "10.0.0.0/29" for pods',
    ],
    [
      config({ topology: 'layer2', subnets: '10.0.0.0/16,fd20::/64', infrastructureSubnets: 'fd20::/64' }),
      'the infrastructure subnets leave no address of "fd20::/64" for pods',
    ],
    [config({ topology: 'layer2', subnets: '127.0.0.0/8' }), '"127.0.0.0/8" has loopback addresses (127.0.0.0/8)'],
    [config({ subnets: '224.0.0.0/8' }), '"224.0.0.0/8" has multicast addresses (224.0.0.0/4)'],
    [config({ topology: 'layer2', subnets: 'fe80::/64' }), '"fe80::/64" has link-local addresses (fe80::/10)'],
    [config({ joinSubnet: 'ff02::/64' }), '"ff02::/64" has multicast addresses (ff00::/8)'],
    [config({ joinSubnet: '100.70.0.0/31' }), '100.70.0.0/31 has no room for the nodes of a cluster'],
    [
      config({ topology: 'layer2', subnets: '10.0.0.0/24', defaultGatewayIPs: '10.0.0.255' }),
      '10.0.0.255 is the broadcast address of 10.0.0.0/24',
    ],
    [config({ defaultGatewayIPs: '10.20.0.5' }), 'defaultGatewayIPs is for layer2 networks only'],
    [
      config({ subnets: Array.from({ length: 401 }, (_, n) => `10.${n >> 8}.${n & 255}.0/24/29`).join() }),
      'subnets: must have at most 400 items',
    ],
    [config({ name: '' }), 'invalid name in secondary network netconf ()'],
    [config({ topology: 'layer4' }), 'topology: must be "layer2" or "layer3" or "localnet", is "layer4"'],
  ])('refuses %s', (text, message) => {
    expect(() => parseNetConf(text, NAD)).toThrow(message);
    expect(() => parseNetConf(text, NAD)).toThrow(ApiError);
  });

  it.each([
    { subnets: '10.0.0.0/29', infrastructureSubnets: '10.0.0.0/30' },
    { subnets: '10.0.0.0/29', excludeSubnets: '10.0.0.3/32,10.0.0.4/31,10.0.0.4/32' },
    { subnets: '10.0.0.0/24', reservedSubnets: '10.0.0.0/24' },
  ])('takes %o, which leaves one address at least, or those that pods ask for', (fields) => {
    expect(parseNetConf(config({ topology: 'layer2', ...fields }), NAD)).toMatchObject({ topology: 'layer2' });
  });

  it('is the same network in another namespace', () => {
    const other = parseNetConf(config({ netAttachDefName: 'ns2/nad1' }), { namespace: 'ns2', name: 'nad1' });
    expect(sameNetwork(read(), other!)).toBe(true);
    expect(sameNetwork(read(), { ...other!, subnets: [{ cidr: parseCidr('10.21.0.0/16') }] })).toBe(false);
  });

  it('reads back what it writes', () => {
    const octet = fc.integer({ min: 1, max: 250 });
    const conf = fc.record(
      {
        topology: fc.constantFrom('layer2', 'layer3'),
        role: fc.constantFrom('primary', 'secondary'),
        mtu: fc.integer({ min: 1280, max: 65_536 }),
        subnets: fc.tuple(octet, octet).map(([a, b]) => `10.${a}.0.0/16,fd${10 + (b % 80)}::/48`),
      },
      { requiredKeys: ['topology', 'role', 'subnets'] },
    );
    fc.assert(
      fc.property(conf, (fields) => {
        const parsed = read(fields);
        expect(parseNetConf(formatNetConf(parsed), NAD)).toEqual(parsed);
      }),
    );
  });

  it.each(['name', 'netAttachDefName', 'topology', 'role', 'subnets', 'mtu', 'other'])(
    'refuses what is nested too deep in %s, whatever would walk it',
    (field) => {
      const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
      const text = config({ [field]: 'DEEP' }).replace('"DEEP"', deep);
      expect(() => parseNetConf(text, NAD)).toThrow(
        'error parsing Network Attachment Definition ns1/nad1: nested more than 64 levels deep',
      );
    },
  );

  it.each(['name', 'netAttachDefName', 'topology', 'role', 'subnets', 'mtu'])(
    'throws nothing but ApiError for %s that has no text of its own',
    (field) => {
      const value = { toString: 1, valueOf: 1 };
      expect(() => parseNetConf(config({ [field]: value }), NAD)).toThrow(ApiError);
      expect(() => parseNetConf(config({ [field]: [value] }), NAD)).toThrow(ApiError);
    },
  );

  it('throws nothing but ApiError for garbage', () => {
    const value = fc.oneof(fc.jsonValue(), fc.constantFrom('layer2', 'primary', '10.0.0.0/16', 'ns1/nad1'));
    const key = fc.constantFrom(
      'name',
      'netAttachDefName',
      'topology',
      'role',
      'subnets',
      'mtu',
      'joinSubnet',
      'plugins',
    );
    fc.assert(
      fc.property(fc.dictionary(key, value), (fields) => {
        try {
          parseNetConf(config(fields), NAD);
        } catch (error) {
          expect(error).toBeInstanceOf(ApiError);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('overlaps', () => {
  const cluster = parseClusterConfig();

  it.each([
    [{ subnets: '10.129.0.0/16' }, 'user defined subnet "10.129.0.0/16" overlaps cluster subnet "10.128.0.0/14"'],
    [{ subnets: '172.16.0.0/16' }, 'user defined subnet "172.16.0.0/16" overlaps service subnet "172.16.1.0/24"'],
    [{ subnets: '100.64.0.0/10' }, 'user defined subnet "100.64.0.0/10" overlaps built-in join subnet "100.64.0.0/16"'],
    [{ subnets: '100.65.0.0/16' }, 'overlaps user defined join subnet "100.65.0.0/16"'],
    [{ subnets: '100.88.0.0/16' }, 'overlaps transit switch subnet "100.88.0.0/16"'],
    [{ subnets: '169.254.0.0/16' }, 'overlaps masquerade subnet "169.254.0.0/17"'],
    [
      { joinSubnet: '10.20.4.0/24' },
      'user defined subnet "10.20.0.0/16" overlaps user defined join subnet "10.20.4.0/24"',
    ],
    [
      { topology: 'layer2', transitSubnet: '10.20.4.0/24' },
      'user defined subnet "10.20.0.0/16" overlaps transit switch subnet "10.20.4.0/24"',
    ],
    [
      { joinSubnet: '100.64.0.0/16' },
      'user defined join subnet "100.64.0.0/16" overlaps built-in join subnet "100.64.0.0/16"',
    ],
  ])('are refused: %j', (fields, message) => {
    expect(() => refuseOverlaps(read(fields), cluster)).toThrow(
      expect.objectContaining({ code: 'ERR_API_OVERLAP', message: expect.stringContaining(message) }),
    );
  });

  it('do not count where the common part is excluded, nor with the transit subnet on layer 2', () => {
    const excluded = { topology: 'layer2', role: 'secondary', subnets: '10.0.0.0/8', excludeSubnets: '10.128.0.0/14' };
    expect(() => refuseOverlaps(read(excluded), cluster)).not.toThrow();
    expect(() => refuseOverlaps(read({ topology: 'layer2', subnets: '100.88.0.0/16' }), cluster)).not.toThrow();
  });
});
