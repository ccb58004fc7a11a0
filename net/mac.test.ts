import { describe, expect, it } from 'vitest';
import { parseIp } from './ip.ts';
import { ipv4FromMac, isUnicastMac, linkLocalFromMac, macFromBytes, macFromIp, macToBytes, parseMac } from './mac.ts';

describe('macFromIp', () => {
  it.each([
    ['100.65.0.4', '0a:58:64:41:00:04'],
    ['192.168.1.1', '0a:58:c0:a8:01:01'],
    ['0.0.0.0', '0a:58:00:00:00:00'],
    ['255.255.255.254', '0a:58:ff:ff:ff:fe'],
    ['fe80::1', '0a:58:6d:6d:c1:50'],
    ['fd99::1', '0a:58:2b:11:86:0d'],
    ['fd97::8', '0a:58:31:e2:6c:9b'],
    ['2014:100:200::1', '0a:58:f6:5f:cb:68'],
    ['fda6:0:0:1::1', '0a:58:23:5a:40:f1'],
  ])('%s → %s', (ip, mac) => expect(macFromIp(parseIp(ip))).toBe(mac));
});

describe('ipv4FromMac', () => {
  it.each(['0.0.0.0', '10.20.0.5', '100.65.0.4', '255.255.255.254'])('finds %s again', (ip) =>
    expect(ipv4FromMac(macFromIp(parseIp(ip)))).toBe(ip),
  );
  it('knows MACs that belong to none', () => expect(ipv4FromMac(parseMac('02:58:0a:14:00:05'))).toBeUndefined());
});

describe('parseMac', () => {
  it('writes lower case', () => expect(parseMac('0A:58:C0:A8:01:01')).toBe('0a:58:c0:a8:01:01'));
  it.each(['', '0a:58:c0:a8:01', '0a-58-c0-a8-01-01', '0a:58:c0:a8:01:0', '0a:58:c0:a8:01:01:02', 'g0:58:c0:a8:01:01'])(
    'refuses "%s"',
    (text) => expect(() => parseMac(text)).toThrow(expect.objectContaining({ code: 'ERR_NET_MAC' })),
  );
  it('goes through bytes', () =>
    expect(macFromBytes(macToBytes(parseMac('0a:58:00:ff:01:10')))).toBe('0a:58:00:ff:01:10'));
});

it('linkLocalFromMac flips the universal bit (RFC 4291 appendix A)', () => {
  expect(linkLocalFromMac(parseMac('0a:58:64:c8:00:01'))).toBe('fe80::858:64ff:fec8:1');
});

it('distinguishes the MACs of interfaces from those of groups and of none', () => {
  const isUnicast = (text: string) => isUnicastMac(parseMac(text));
  expect(['0a:58:00:00:00:01', '02:00:00:00:00:00', '00:00:00:00:00:01'].map(isUnicast)).toEqual([true, true, true]);
  expect(['00:00:00:00:00:00', '01:00:5e:00:00:01', 'ff:ff:ff:ff:ff:ff'].map(isUnicast)).toEqual([false, false, false]);
});
