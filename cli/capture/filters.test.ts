import { expect, it } from 'vitest';
import { bothOf, eitherOf, genevePackets, hosts } from './filters.ts';

it.each([
  [hosts(['10.0.0.3', 'fd00::3']), 'host 10.0.0.3 or host fd00::3'],
  [hosts(['0a:58:0a:00:00:03']), 'ether host 0a:58:0a:00:00:03'],
  [hosts([]), 'greater 1000000'],
  [bothOf('host 10.0.0.3 or host fd00::3', 'icmp or tcp'), '(host 10.0.0.3 or host fd00::3) and (icmp or tcp)'],
  [bothOf('host 10.0.0.3', ''), 'host 10.0.0.3'],
  [bothOf('', 'icmp'), 'icmp'],
  [eitherOf('icmp', 'arp'), '(icmp) or (arp)'],
  [
    genevePackets([4, 0xff0004], 'host 10.0.0.3'),
    'udp port 6081 and (udp[12:4] & 0xffffff00 = 0x00000400 or ip6[52:4] & 0xffffff00 = 0x00000400 or ' +
      'udp[12:4] & 0xffffff00 = 0xff000400 or ip6[52:4] & 0xffffff00 = 0xff000400) and geneve and (host 10.0.0.3)',
  ],
  [genevePackets([], 'icmp'), 'udp port 6081 and (greater 1000000) and geneve and (icmp)'],
  [genevePackets(undefined, 'icmp'), 'udp port 6081 and geneve and (icmp)'],
])('%s', (expression, expected) => expect(expression).toBe(expected));
