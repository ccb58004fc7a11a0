import { expect, it } from 'vitest';
import { parseIp } from './ip.ts';
import { isUnicastIp } from './unicast.ts';

const isUnicast = (text: string): boolean => isUnicastIp(parseIp(text));

it('tells addresses of one host from all others', () => {
  const hosts = ['10.0.0.1', '169.254.0.1', '240.0.0.1', '223.255.255.255', 'fe80::1', 'fd00::', '2001:db8::1', '::2'];
  expect(hosts.filter((text) => !isUnicast(text))).toEqual([]);
  const others = [
    '0.0.0.0',
    '0.0.0.1',
    '127.0.0.1',
    '224.0.0.1',
    '239.9.9.9',
    '255.255.255.255',
    '::',
    '::1',
    'ff02::1',
  ];
  expect(others.filter(isUnicast)).toEqual([]);
});
