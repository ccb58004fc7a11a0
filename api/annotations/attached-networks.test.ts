import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseInterfaceAddress } from '../../net/cidr.ts';
import { parseIp } from '../../net/ip.ts';
import { parseMac } from '../../net/mac.ts';
import { ApiError } from '../errors.ts';
import {
  attachedNetworks,
  formatAttachedNetworks,
  type MadeInterface,
  parseAttachedNetworks,
} from './attached-networks.ts';

const made = (
  nadKey: string,
  interfaceName: string,
  {
    ips = [],
    gateways = [],
    role = 'secondary' as MadeInterface['entry']['role'],
    requested = [],
  }: Partial<{
    ips: readonly string[];
    gateways: readonly string[];
    role: MadeInterface['entry']['role'];
    requested: readonly string[];
  }> = {},
): MadeInterface => ({
  nadKey,
  interfaceName,
  entry: {
    ipAddresses: ips.map(parseInterfaceAddress),
    mac: parseMac('0a:58:0a:80:00:05'),
    gatewayIps: gateways.map(parseIp),
    role,
  },
  mtu: 1400,
  ...(requested.length > 0 && { requestedGateways: requested.map(parseIp) }),
});

const LOCKED = made('default', 'eth0', { ips: ['10.128.0.5/23', 'fd00:10:128::5/64'], role: 'infrastructure-locked' });
const PRIMARY = made('red/net', 'ovn-udn1', {
  ips: ['10.20.0.5/16', 'fd20::5/64'],
  gateways: ['10.20.0.1', 'fd20::1'],
  role: 'primary',
});

describe('network-status', () => {
  it('has every interface, with all keys of the specification and of Multus', () => {
    const router = made('red/storage', 'net1', {
      ips: ['10.40.0.9/24'],
      gateways: ['10.40.0.1'],
      requested: ['10.40.0.1'],
    });
    const text = formatAttachedNetworks(attachedNetworks([LOCKED, PRIMARY, router, made('red/bare/1', 'net2')]));
    expect(JSON.parse(text)).toEqual([
      {
        name: 'ovn-kubernetes',
        interface: 'eth0',
        ips: ['10.128.0.5', 'fd00:10:128::5'],
        mac: '0a:58:0a:80:00:05',
        mtu: 1400,
        dns: {},
      },
      {
        name: 'red/net',
        interface: 'ovn-udn1',
        ips: ['10.20.0.5', 'fd20::5'],
        mac: '0a:58:0a:80:00:05',
        mtu: 1400,
        default: true,
        dns: {},
        gateway: ['10.20.0.1', 'fd20::1'],
      },
      {
        name: 'red/storage',
        interface: 'net1',
        ips: ['10.40.0.9'],
        mac: '0a:58:0a:80:00:05',
        mtu: 1400,
        dns: {},
        'default-route': ['10.40.0.1'],
        gateway: ['10.40.0.1'],
      },
      { name: 'red/bare', interface: 'net2', mac: '0a:58:0a:80:00:05', mtu: 1400, dns: {} },
    ]);
  });

  const defaultOf = (...all: readonly MadeInterface[]) =>
    attachedNetworks(all).flatMap((one) => (one.default ? [one.interface] : []));

  it('says of one interface that the default route is there', () => {
    const plain = made('default', 'eth0', { gateways: ['10.128.0.1'], role: 'primary' });
    const onlyV6 = made('red/net', 'ovn-udn1', { gateways: ['fd20::1'], role: 'primary' });
    const onlyV4 = made('red/s', 'net1', { gateways: ['10.40.0.1'] });
    expect(defaultOf(plain)).toEqual(['eth0']);
    expect(defaultOf(plain, made('red/s', 'net1'))).toEqual(['eth0']);
    // Of a route per family the one of IPv4 counts.
    expect(defaultOf(LOCKED, onlyV6, onlyV4)).toEqual(['net1']);
    expect(defaultOf(LOCKED, made('red/net', 'ovn-udn1', { role: 'primary' }))).toEqual(['ovn-udn1']);
    expect(defaultOf()).toEqual([]);
  });

  it('is read as it was written, and what Multus writes, too', () => {
    const networks = attachedNetworks([LOCKED, PRIMARY]);
    expect(parseAttachedNetworks(formatAttachedNetworks(networks), 'red/p')).toEqual(
      networks.map((one) => ({ ...one, dns: {} })),
    );
    const multus =
      '[{"name":"red/sriov","interface":"net1","ips":[],"mac":"0a:58:0a:80:00:05","dns":{"nameservers":["10.0.0.10"]},"device-info":{"type":"pci"}}]';
    expect(parseAttachedNetworks(multus, 'red/p')).toMatchObject([
      { default: false, dns: { nameservers: ['10.0.0.10'] }, deviceInfo: { type: 'pci' } },
    ]);
  });

  it.each([
    ['{}', 'must be an array, is an object'],
    ['[{}]', '[0].name: is required'],
    ['[{"name":"a","ips":["x"]}]', '[0].ips[0]: "x" is not an IP address'],
    ['[{"name":"a","default":"yes"}]', '[0].default: must be a boolean, is a string'],
  ])('refuses %s', (text, message) => {
    const object = 'annotation k8s.v1.cni.cncf.io/network-status of Pod red/p';
    expect(() => parseAttachedNetworks(text, 'red/p')).toThrow(expect.objectContaining({ message, object }));
  });

  it('throws nothing but ApiError', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json(),
          fc.string(),
          fc.json().map((json) => `[${json}]`),
        ),
        (text) => {
          try {
            parseAttachedNetworks(text, 'red/p');
          } catch (error) {
            expect(error).toBeInstanceOf(ApiError);
          }
        },
      ),
    );
  });
});
