import { expect, it } from 'vitest';
import { captureText } from './tables.ts';

const hop = { name: 'uplink', interface: 'eth0', filter: '', file: '1-uplink-eth0.pcap', packets: 0, dropped: 0 };

it('a row for each hop, what its packets are, and what was not captured', () => {
  const captured = [
    { ...hop, packets: 2, first: '2026-01-01T00:00:01.500Z', last: '2026-01-01T00:00:02.000Z', note: 'of all pods' },
    { ...hop, name: 'tunnels', dropped: 3, failure: 'the interface disappeared' },
  ];
  const missed = [{ name: 'br-int', because: 'patch ports' }];
  expect(captureText({ captured, missed }, 'folder')).toBe(`\
HOP      INTERFACE  PACKETS  FIRST         LAST          FILE
uplink   eth0       2        00:00:01.500  00:00:02.000  1-uplink-eth0.pcap
tunnels  eth0       0                                    1-uplink-eth0.pcap
uplink: of all pods
tunnels: ended early: the interface disappeared
tunnels: the kernel dropped 3 packets before tcpdump saw them

NOT CAPTURED  BECAUSE
br-int        patch ports

files in folder
`);
  expect(captureText({ captured: [], missed: [] }, 'folder')).toBe('nothing was captured\n\nfiles in folder\n');
});
