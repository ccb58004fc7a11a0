import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseFlow } from './flow-dump.ts';

it.each([
  [
    ' cookie=0x1dfcb5a2, duration=9.2s, table=8, n_packets=17, n_bytes=1626, idle_age=3, priority=50,reg14=0x2,metadata=0x5,dl_src=0a:58:0a:80:00:03 actions=resubmit(,9)',
    {
      cookie: '0x1dfcb5a2',
      table: 8,
      priority: 50,
      packets: 17,
      match: 'reg14=0x2,metadata=0x5,dl_src=0a:58:0a:80:00:03',
      actions: 'resubmit(,9)',
      datapathKey: 5,
    },
  ],
  [
    ' cookie=0x0, duration=1.0s, table=44, n_packets=0, n_bytes=0, priority=0 actions=drop',
    { cookie: '0x0', table: 44, priority: 0, packets: 0, match: '', actions: 'drop', datapathKey: undefined },
  ],
  [
    ' cookie=0x0, duration=1.0s, table=0, n_packets=3, n_bytes=90, actions=NORMAL',
    { cookie: '0x0', table: 0, priority: 32768, packets: 3, match: '', actions: 'NORMAL', datapathKey: undefined },
  ],
  [
    ' cookie=0x2, duration=1.0s, table=9, n_packets=3, n_bytes=90, ip,metadata=0x2,nw_dst=10.0.0.1 actions=drop',
    {
      cookie: '0x2',
      table: 9,
      priority: 32768,
      packets: 3,
      match: 'ip,metadata=0x2,nw_dst=10.0.0.1',
      actions: 'drop',
      datapathKey: 2,
    },
  ],
])('%s', (line, flow) => expect(parseFlow(line)).toEqual(flow));

it.each(['', 'NXST_FLOW reply (xid=0x4):', 'OFPST_FLOW reply (OF1.5) (xid=0x2):'])('no flow: "%s"', (line) =>
  expect(parseFlow(line)).toBeUndefined(),
);

it('never throws', () => {
  fc.assert(fc.property(fc.string(), (line) => void parseFlow(line)));
  fc.assert(fc.property(fc.string(), (middle) => void parseFlow(` cookie=0x1, ${middle} actions=${middle}`)));
});
