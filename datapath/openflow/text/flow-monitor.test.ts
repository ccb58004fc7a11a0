import { describe, expect, it } from 'vitest';
import { FlowMonitorReader, type MonitorEvent } from './flow-monitor.ts';

const LOG = [
  '2026-01-01T00:00:00Z|00004|vconn|DBG|unix:/run/br-ex.mgmt: sent (Success): OFPST_FLOW_MONITOR request (OF1.5) (xid=0x2):',
  ' id=0 flags=add,delete,modify,actions,own',
  '2026-01-01T00:00:00Z|00005|vconn|DBG|unix:/run/br-ex.mgmt: received: OFPST_FLOW_MONITOR reply (OF1.5) (xid=0x2):',
  '2026-01-01T00:00:00Z|00006|vconn|DBG|unix:/run/br-ex.mgmt: sent (Success): OFPT_BARRIER_REQUEST (OF1.5) (xid=0x4):',
  '2026-01-01T00:00:00Z|00007|vconn|DBG|unix:/run/br-ex.mgmt: received: OFPT_BARRIER_REPLY (OF1.5) (xid=0x4):',
];
const EVENT = [
  '2026-01-01T00:00:00Z|00009|vconn|DBG|unix:/run/br-ex.mgmt: received: OFPST_FLOW_MONITOR reply (OF1.5) (xid=0x0):',
  ' event=ADDED table=11 cookie=0x5 ip',
  'OFPST_FLOW_MONITOR reply (OF1.5) (xid=0x0):',
  ' event=ADDED table=11 cookie=0x5 ip',
  '00000000  06 13 00 38 00 00 00 00-00 10 00 00 00 00 00 00 |...8............|',
  '00000010  00 28 00 01 0b 00 00 00-00 00 00 05 00 00 00 00 |.(..............|',
  '00000020  00 00 00 00 00 00 00 05-00 01 00 0a 80 00 0a 02 |................|',
  '00000030  08 00 00 00 00 00 00 00-                        |........        |',
];

const read = (lines: readonly string[]): MonitorEvent[] => {
  const reader = new FlowMonitorReader();
  return lines.flatMap((line) => [...reader.push(line)]);
};

const withLine = (index: number, line: string): string[] => EVENT.with(index, line);

describe('the output of a flow monitor', () => {
  it('says when changes are reported, and which, with the priority out of the bytes', () => {
    expect(read([...LOG, ...EVENT, ...EVENT])).toEqual([
      { kind: 'ready' },
      { kind: 'present', flow: { identity: 'table=11,priority=5,ip', cookie: '0x5', actions: 'drop' } },
      { kind: 'present', flow: { identity: 'table=11,priority=5,ip', cookie: '0x5', actions: 'drop' } },
    ]);
  });

  it('does not listen before a barrier behind the request is answered: ovs-ofctl throws away what comes before', () => {
    const [request = '', flags = '', reply = '', , barrier = ''] = LOG;
    expect(read([request, flags, reply])).toEqual([]);
    expect(read([request, flags, barrier])).toEqual([]);
  });

  it('says that a flow went', () => {
    const deleted = withLine(3, ' event=DELETED reason=group_delete table=11 cookie=0x5 ip actions=group:7');
    deleted[5] = '00000010  00 28 00 02 0b 05 00 00-00 00 00 05 00 00 00 00 |.(..............|';
    expect(read(deleted)).toEqual([
      { kind: 'deleted', flow: { identity: 'table=11,priority=5,ip', cookie: '0x5', actions: 'group:7' } },
    ]);
  });

  it('says that something was left out', () => {
    const lines = [
      'OFPST_FLOW_MONITOR reply (OF1.5) (xid=0x0):',
      ' event=PAUSED',
      ' event=RESUMED',
      '00000000  06 13 00 20 00 00 00 00-00 10 00 00 00 00 00 00 |... ............|',
      '00000010  00 08 00 05 00 00 00 00-00 08 00 06 00 00 00 00 |................|',
    ];
    expect(read(lines)).toEqual([{ kind: 'resumed' }]);
  });

  it.each([
    ['another table', withLine(3, ' event=ADDED table=12 cookie=0x5 ip')],
    ['another cookie', withLine(3, ' event=ADDED table=11 cookie=0x6 ip')],
    ['another event', withLine(3, ' event=DELETED reason=delete table=11 cookie=0x5 ip')],
    ['more events than the bytes have', EVENT.toSpliced(3, 0, EVENT[3] ?? '')],
    ['a line that is no bytes', withLine(5, 'something else')],
    ['a missing line', EVENT.toSpliced(5, 1)],
    ['an entry that is too long', withLine(5, (EVENT[5] ?? '').replace('00 28 00 01', 'ff 28 00 01'))],
    ['an entry without a length', withLine(5, (EVENT[5] ?? '').replace('00 28 00 01', '00 00 00 01'))],
  ])('is not believed with %s', (_, lines) => {
    expect(() => read(lines)).toThrow(expect.objectContaining({ code: 'ERR_OPENFLOW_SYNTAX' }));
  });
});
