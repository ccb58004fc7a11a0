import { describe, expect, it } from 'vitest';
import { parseCidr, parseInterfaceAddress } from '../../../net/cidr.ts';
import { parseIp } from '../../../net/ip.ts';
import { parseMac } from '../../../net/mac.ts';
import { sharedChain } from '../frame-filter/types.ts';
import type { PodInterface } from './types.ts';
import { validatePod } from './validate.ts';

const good: PodInterface = {
  name: 'eth0',
  hostName: 'abcdef',
  mac: parseMac('0a:58:0a:80:01:03'),
  mtu: 1400,
  addresses: [parseInterfaceAddress('10.128.1.3/24')],
  routes: [],
  defaultGateways: [parseIp('10.128.1.1')],
  alias: 'ovn-udn:a',
  txChecksum: true,
  hears: { shared: sharedChain([]), rules: [{ tests: [], verdict: 'accept' }], isLocked: false },
};

const validate = (...interfaces: PodInterface[]) => validatePod({ netns: '/run/netns/a', interfaces });

describe('validatePod', () => {
  it('takes what is possible', () => {
    validate();
    validate(good);
    validate({ ...good, addresses: [], defaultGateways: [], mtu: 68 });
    validate({ ...good, alias: `ovn-udn:${'a'.repeat(247)}`, mtu: 65_535, name: 'fifteen-bytes-x' });
  });

  it.each<[Partial<PodInterface>, RegExp]>([
    [{ name: 'sixteen-bytes-xx' }, /^sixteen-bytes-xx: "sixteen-bytes-xx" is not a name/],
    [{ name: '..' }, /is not a name/],
    [{ hostName: 'a/b' }, /eth0: "a\/b" is not a name/],
    [{ mac: parseMac('01:00:5e:00:00:01') }, /is not the MAC of one interface/],
    [{ mac: parseMac('00:00:00:00:00:00') }, /is not the MAC of one interface/],
    [{ mtu: 67 }, /MTU 67 is not in 68–65535/],
    [{ mtu: 1400.5 }, /MTU 1400.5 is not in/],
    [{ mtu: 1279, addresses: [parseInterfaceAddress('fd00::1/64')] }, /MTU 1279 is not in 1280–65535/],
    [{ alias: 'calico' }, /alias "calico" does not begin with ovn-udn:/],
    [{ alias: `ovn-udn:${'ü'.repeat(124)}` }, /alias is longer than 255 bytes/],
    [{ addresses: ['10.0.0.1/24', '10.0.0.1/16'].map(parseInterfaceAddress) }, /10\.0\.0\.1 is requested twice/],
    [{ defaultGateways: ['10.128.1.1', '10.128.1.2'].map(parseIp) }, /two default gateways for IPv4/],
    [
      { routes: [1, 2].map((n) => ({ dst: parseCidr('10.0.0.0/8'), via: parseIp(`10.128.1.${n}`) })) },
      /two routes have .* 10\.0\.0\.0\/8/,
    ],
  ])('refuses %o', (fields, message) => {
    expect(() => validate({ ...good, ...fields })).toThrow(
      expect.objectContaining({ code: 'ERR_POD_INTERFACE_INVALID', message: expect.stringMatching(message) }),
    );
  });

  it('refuses two interfaces of one name, here and there', () => {
    const other = { ...good, defaultGateways: [], addresses: [] };
    expect(() => validate(good, { ...other, hostName: 'other' })).toThrow('interface eth0 is requested twice');
    expect(() => validate(good, { ...other, name: 'eth1' })).toThrow('host interface abcdef is requested twice');
  });

  it('refuses two interfaces with the same route', () => {
    expect(() => validate(good, { ...good, name: 'eth1', hostName: 'other' })).toThrow(
      /two routes have .* 0\.0\.0\.0\/0/,
    );
  });
});
