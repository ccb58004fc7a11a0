import { describe, expect, it } from 'vitest';
import { parseInterfaceAddress } from '../net/cidr.ts';
import { parsePortKey } from '../net/ids.ts';
import { parseIp } from '../net/ip.ts';
import { podNetworkEntryJson } from './annotations/pod-networks.ts';
import { parseClusterConfig } from './cluster-config.ts';
import { parseNetConf } from './net-conf.ts';
import { defaultNetwork, gatewayIp, gatewayMac, managementIp, type Network, networkOfNetConf } from './network.ts';
import { type PodNetworkRequest, podNetworkEntry } from './pod-network-entry.ts';

const cluster = parseClusterConfig({ masqueradeSubnets: '169.254.169.0/24' });
const dual = parseClusterConfig({
  clusterSubnets: '10.128.0.0/14/23,fd00:10:128::/48/64',
  serviceSubnets: '172.16.1.0/24,fd02::/112',
});

const network = (topology: string, role: string, subnets: string, more: object = {}, config = cluster): Network => {
  const text = JSON.stringify({
    type: 'ovn-k8s-cni-overlay',
    name: 'isolatednet',
    netAttachDefName: 'namespace1/blue-net',
    topology,
    role,
    subnets,
    ...more,
  });
  const conf = parseNetConf(text, { namespace: 'namespace1', name: 'blue-net' });
  if (conf === undefined) throw new Error('not ours');
  return networkOfNetConf(conf, config);
};

const entry = (request: Omit<PodNetworkRequest, 'cluster' | 'addresses'> & { addresses: string[] }, config = cluster) =>
  podNetworkEntryJson(
    podNetworkEntry({ ...request, cluster: config, addresses: request.addresses.map(parseInterfaceAddress) }),
  );

const via = (nextHop: string, ...destinations: string[]) => destinations.map((dest) => ({ dest, nextHop }));

describe('pod network entry', () => {
  it('of a primary layer-3 network (worked example of the reference)', () => {
    const request = { network: network('layer3', 'primary', '192.168.0.0/16'), role: 'primary' as const };
    expect(entry({ ...request, addresses: ['192.168.1.3/24'] })).toEqual({
      ip_addresses: ['192.168.1.3/24'],
      mac_address: '0a:58:c0:a8:01:03',
      gateway_ips: ['192.168.1.1'],
      routes: via('192.168.1.1', '192.168.0.0/16', '172.16.1.0/24', '100.65.0.0/16'),
      ip_address: '192.168.1.3/24',
      gateway_ip: '192.168.1.1',
      role: 'primary',
    });
  });

  it('of the default network, next to a primary one', () => {
    const request = { network: defaultNetwork(cluster), role: 'infrastructure-locked' as const };
    expect(entry({ ...request, addresses: ['10.128.1.3/24'] })).toEqual({
      ip_addresses: ['10.128.1.3/24'],
      mac_address: '0a:58:0a:80:01:03',
      routes: via('10.128.1.1', '10.128.0.0/14', '100.64.0.0/16'),
      ip_address: '10.128.1.3/24',
      role: 'infrastructure-locked',
    });
  });

  it('of the default network alone', () => {
    const request = { network: defaultNetwork(cluster), role: 'primary' as const, addresses: ['10.128.1.3/24'] };
    expect(entry(request)).toMatchObject({
      gateway_ips: ['10.128.1.1'],
      routes: via('10.128.1.1', '10.128.0.0/14', '172.16.1.0/24', '169.254.169.5/32', '100.64.0.0/16'),
    });
    expect(entry({ ...request, defaultRouteElsewhere: [4] })).not.toHaveProperty('gateway_ips');
  });

  it('of a primary layer-2 network with both families', () => {
    const layer2 = network('layer2', 'primary', '100.200.0.0/16,2014:100:200::/60', {}, dual);
    const request = { network: layer2, role: 'primary' as const, tunnelId: parsePortKey(10) };
    expect(entry({ ...request, addresses: ['100.200.0.3/16', '2014:100:200::3/60'] }, dual)).toEqual({
      ip_addresses: ['100.200.0.3/16', '2014:100:200::3/60'],
      mac_address: '0a:58:64:c8:00:03',
      gateway_ips: ['100.200.0.1', '2014:100:200::1'],
      routes: [
        ...via('100.200.0.1', '172.16.1.0/24', '100.65.0.0/16'),
        ...via('2014:100:200::1', 'fd02::/112', 'fd99::/64'),
      ],
      ipv6_lla_gateway_ip: 'fe80::858:64ff:fec8:1',
      tunnel_id: 10,
      role: 'primary',
    });
  });

  it('of an IPv6 layer-2 network: MACs derive from IPv6 addresses', () => {
    const layer2 = network('layer2', 'primary', '2014:100:200::/60', {}, dual);
    const json = entry({ network: layer2, role: 'primary', addresses: ['2014:100:200::3/60'] }, dual);
    expect(gatewayMac(layer2, [layer2.subnets[0]!.cidr])).toBe('0a:58:f6:5f:cb:68');
    expect(json).toMatchObject({ ipv6_lla_gateway_ip: 'fe80::858:f6ff:fe5f:cb68' });
    expect(json['mac_address']).toMatch(/^0a:58:/);
  });

  it('of secondary networks has no gateway unless it is asked for', () => {
    const layer3 = network('layer3', 'secondary', '100.10.0.0/16');
    expect(entry({ network: layer3, role: 'secondary', addresses: ['100.10.1.7/24'] })).toEqual({
      ip_addresses: ['100.10.1.7/24'],
      mac_address: '0a:58:64:0a:01:07',
      routes: via('100.10.1.1', '100.10.0.0/16'),
      ip_address: '100.10.1.7/24',
      role: 'secondary',
    });
    const layer2 = network('layer2', 'secondary', '100.11.0.0/16');
    const request = { network: layer2, role: 'secondary' as const, addresses: ['100.11.0.7/16'] };
    expect(entry(request)).not.toHaveProperty('routes');
    expect(entry({ ...request, requestedGateways: [parseIp('100.11.0.254')] })).toMatchObject({
      gateway_ips: ['100.11.0.254'],
    });
  });

  it('needs no gateway on a secondary layer-2 network of one address', () => {
    const layer2 = network('layer2', 'secondary', '100.11.0.7/32');
    expect(entry({ network: layer2, role: 'secondary', addresses: ['100.11.0.7/32'] })).toEqual({
      ip_addresses: ['100.11.0.7/32'],
      mac_address: '0a:58:64:0b:00:07',
      ip_address: '100.11.0.7/32',
      role: 'secondary',
    });
  });

  it('without IPAM has a MAC only, which has to be given', () => {
    const layer2 = network('layer2', 'secondary', '');
    expect(() => entry({ network: layer2, role: 'secondary', addresses: [] })).toThrow(TypeError);
  });

  it('uses gateways that the network names', () => {
    const custom = network('layer2', 'primary', '10.1.0.0/16', { defaultGatewayIPs: '10.1.0.2' });
    const subnet = custom.subnets[0]!.cidr;
    expect([gatewayIp(custom, subnet), managementIp(custom, subnet)]).toEqual(['10.1.0.2', '10.1.0.1']);
    expect(entry({ network: custom, role: 'primary', addresses: ['10.1.0.3/16'] })).toMatchObject({
      gateway_ip: '10.1.0.2',
    });
  });
});

describe('networks', () => {
  it('fill in join subnets of a missing family, and transit subnets of their own families', () => {
    const layer2 = network('layer2', 'primary', '10.1.0.0/16', { joinSubnet: '100.70.0.0/16' });
    expect(layer2).toMatchObject({
      joinSubnets: ['100.70.0.0/16', 'fd99::/64'],
      transitSubnets: ['100.88.0.0/16'],
      mtu: 1400,
    });
    expect(network('layer2', 'secondary', '10.1.0.0/16')).toMatchObject({ joinSubnets: [], transitSubnets: [] });
    expect(network('layer3', 'primary', '10.1.0.0/16,fd01::/48').subnets).toEqual([
      { cidr: '10.1.0.0/16', hostPrefix: 24 },
      { cidr: 'fd01::/48', hostPrefix: 64 },
    ]);
  });
});
