import { expect, it } from 'vitest';
import { captureCommand, compileCommand, droppedIn, isListening } from './tcpdump.ts';

it('the command line: an expression stays one word, and no option', () => {
  const hop = { name: 'uplink', interface: 'eth0', filter: '-z rm; $(id)' };
  expect(captureCommand(hop, '/f/1.pcap', { durationMs: 1_500, count: 5 })).toEqual({
    file: 'timeout',
    args: [
      ...['--kill-after=2', '12', 'tcpdump', '--interface', 'eth0', '-n', '--immediate-mode', '-U', '-Z', 'root'],
      ...['--snapshot-length', '1600', '-c', '5', '-w', '/f/1.pcap', '--', '-z rm; $(id)'],
    ],
    linesFrom: 'stderr',
  });
  expect(compileCommand('-w x').args).toEqual(['-d', '--', '-w x']);
});

it('what tcpdump prints', () => {
  const lines = [
    'tcpdump: listening on eth0, link-type EN10MB (Ethernet), snapshot length 1600 bytes',
    '4 packets captured',
    '6 packets received by filter',
    '2 packets dropped by kernel',
    '1 packet dropped by interface',
  ];
  expect(lines.map(isListening)).toEqual([true, false, false, false, false]);
  expect(lines.map(droppedIn)).toEqual([0, 0, 0, 2, 1]);
});
