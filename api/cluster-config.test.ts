import { describe, expect, it } from 'vitest';
import {
  CLUSTER_SETTINGS,
  clusterSettingsFrom,
  formatClusterConfig,
  masqueradeAddresses,
  parseClusterConfig,
} from './cluster-config.ts';

describe('cluster configuration', () => {
  it('has the defaults of the reference', () => {
    expect(parseClusterConfig()).toEqual({
      clusterSubnets: [{ cidr: '10.128.0.0/14', hostPrefix: 23 }],
      serviceSubnets: ['172.16.1.0/24'],
      joinSubnets: ['100.64.0.0/16', 'fd98::/64'],
      udnJoinSubnets: ['100.65.0.0/16', 'fd99::/64'],
      transitSubnets: ['100.88.0.0/16', 'fd97::/64'],
      masqueradeSubnets: ['169.254.0.0/17', 'fd69::/112'],
      mtu: 1400,
      crossNamespaceAttachments: false,
    });
  });

  it('reads dual-stack settings and writes them back', () => {
    const config = parseClusterConfig({
      clusterSubnets: '10.128.0.0/14/23, fd00:10:128::/48/64',
      serviceSubnets: 'fd00:96::/112,10.96.0.0/16',
      mtu: '8900',
    });
    expect(config.serviceSubnets).toEqual(['10.96.0.0/16', 'fd00:96::/112']);
    expect(parseClusterConfig(formatClusterConfig(config))).toEqual(config);
  });

  it('gives a node a /24 or a /64 where a range does not say', () => {
    expect(parseClusterConfig({ clusterSubnets: '10.128.0.0/14,fd00:10::/48' }).clusterSubnets).toEqual([
      { cidr: '10.128.0.0/14', hostPrefix: 24 },
      { cidr: 'fd00:10::/48', hostPrefix: 64 },
    ]);
  });

  it('takes flags before environment variables, and either before the default', () => {
    const env = { UDN_MTU: '1300', UDN_CLUSTER_SUBNETS: '10.0.0.0/16/24', HOME: '/' };
    expect(clusterSettingsFrom({ mtu: '1500', other: 'x' }, env)).toEqual({
      mtu: '1500',
      clusterSubnets: '10.0.0.0/16/24',
    });
  });

  it('names each flag and variable after its setting', () => {
    expect(CLUSTER_SETTINGS.map(({ flag, env }) => [flag, env])).toEqual([
      ['cluster-subnets', 'UDN_CLUSTER_SUBNETS'],
      ['service-subnets', 'UDN_SERVICE_SUBNETS'],
      ['join-subnets', 'UDN_JOIN_SUBNETS'],
      ['udn-join-subnets', 'UDN_UDN_JOIN_SUBNETS'],
      ['transit-subnets', 'UDN_TRANSIT_SUBNETS'],
      ['masquerade-subnets', 'UDN_MASQUERADE_SUBNETS'],
      ['mtu', 'UDN_MTU'],
      ['cross-namespace-attachments', 'UDN_CROSS_NAMESPACE_ATTACHMENTS'],
    ]);
  });

  it('knows the fixed masquerade addresses', () => {
    const config = parseClusterConfig({ masqueradeSubnets: '169.254.169.0/24,fd69::/112' });
    expect(masqueradeAddresses(config, 'ovn')).toEqual(['169.254.169.1', 'fd69::1']);
    expect(masqueradeAddresses(config, 'serviceHairpin')).toEqual(['169.254.169.5', 'fd69::5']);
  });

  it.each([
    [
      { clusterSubnets: '10.128.0.1/14/23' },
      'clusterSubnets: "10.128.0.1/14" has host bits set, the network is 10.128.0.0/14',
    ],
    [{ clusterSubnets: '10.128.0.0/14/14' }, 'clusterSubnets: "10.128.0.0/14/14" gives each node a /14'],
    [{ clusterSubnets: '10.128.0.0/14/30' }, 'at most /29'],
    [{ clusterSubnets: 'fd00::/48/72' }, 'at most /64'],
    [{ clusterSubnets: ' ' }, 'clusterSubnets: at least one subnet is needed'],
    [{ joinSubnets: '100.64.0.0/16,100.66.0.0/16' }, 'joinSubnets: "100.64.0.0/16,100.66.0.0/16" has more than one'],
    [{ serviceSubnets: '10.128.5.0/24' }, 'clusterSubnets 10.128.0.0/14 overlaps serviceSubnets 10.128.5.0/24'],
    [{ joinSubnets: '100.65.0.0/17' }, 'joinSubnets 100.65.0.0/17 overlaps udnJoinSubnets 100.65.0.0/16'],
    [{ transitSubnets: '100.88.0.0/30' }, 'transitSubnets: 100.88.0.0/30 is too small, at most a /29 is possible'],
    [{ masqueradeSubnets: 'fd69::/126' }, 'masqueradeSubnets: fd69::/126 is too small, at most a /125 is possible'],
    [{ mtu: '1e3' }, 'mtu: "1e3" is not an MTU (576–65536)'],
    [{ mtu: '500' }, 'mtu: "500" is not an MTU'],
    [{ crossNamespaceAttachments: 'yes' }, 'crossNamespaceAttachments: "yes" is neither true nor false'],
  ])('refuses %j', (settings, message) => {
    expect(() => parseClusterConfig(settings)).toThrow(message);
  });
});
