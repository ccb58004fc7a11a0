/** Whatever the tools print, a parser gives a value or its own error. */
import fc from 'fast-check';
import { describe, it } from 'vitest';
import { OpenflowError } from '../errors.ts';
import { canonicalFlow } from './flow.ts';
import { parseFlows } from './flow-dump.ts';
import { FlowMonitorReader } from './flow-monitor.ts';
import { parseGroups } from './group-dump.ts';

const WORDS = [
  ...[
    ' ',
    ',',
    '\n',
    '(',
    ')',
    '[',
    ']',
    '->',
    '=',
    ':',
    '/',
    '..',
    '+',
    '-',
    '0x',
    '0',
    '1',
    '65535',
    '99999999999',
    'ff',
  ],
  ...[
    'cookie=0x1',
    'table=1',
    'priority=7',
    'actions=',
    'ip',
    'tcp6',
    'nw_src=',
    'ipv6_dst=',
    'dl_src=',
    'ct_state=+trk',
  ],
  ...[
    '10.0.0.0/8',
    'fd00::1',
    '::ffff:1.2.3.4',
    '0a:00:00:00:00:01',
    'reg0',
    'NXM_NX_REG0[0..3]',
    'vlan_tci=0',
    'dl_vlan=7',
  ],
  ...[
    'ct(commit,',
    'nat(src=',
    'exec(',
    'set_field:',
    'load:',
    'move:',
    'mod_vlan_vid:',
    'output:',
    'check_pkt_larger(5)->',
  ],
  ...[' group_id=5,type=all', ',bucket=', 'bucket_id:3,', 'n_packets=5'],
  ...['OFPST_FLOW_MONITOR reply (OF1.5) (xid=0x0):\n', ' event=ADDED table=1 cookie=0x5 ip\n', ' event=PAUSED\n'],
  ...[
    '00000000  06 13 00 18 00 00 00 00-00 10 00 00 00 00 00 00 |................|\n',
    '00000010  00 08 00 05 00 00 00 00- |',
  ],
  ...['constructor', '__proto__', 'toString'],
];

const output = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.array(fc.constantFrom(...WORDS), { maxLength: 30 }).map((words) => words.join('')),
);

const givesOrRefuses = (read: (text: string) => void): void => {
  fc.assert(
    fc.property(output, (text) => {
      try {
        read(text);
      } catch (error) {
        if (!(error instanceof OpenflowError)) throw error;
      }
    }),
    { numRuns: 3000 },
  );
};

describe('outside text', () => {
  it('as flows', () => {
    givesOrRefuses((text) => [...parseFlows(text)]);
    givesOrRefuses((text) => [...parseFlows(` cookie=0x1, table=1, ${text} actions=${text}`)]);
    givesOrRefuses((text) => [...parseFlows(` actions=${text}`)]);
  });

  it('as groups', () => {
    givesOrRefuses(parseGroups);
    givesOrRefuses((text) => parseGroups(` group_id=1,type=all,bucket=bucket_id:1,actions=${text}`));
  });

  it('as events', () =>
    givesOrRefuses((text) => {
      const reader = new FlowMonitorReader();
      for (const line of text.split('\n')) reader.push(line);
    }));

  it('as what features want', () => {
    const base = { table: 0, priority: 0, cookie: 0n };
    givesOrRefuses((text) => canonicalFlow({ ...base, match: [], actions: text }));
    givesOrRefuses((text) => {
      const match = text.split(',').map((one) => [one.split('=')[0] ?? '', one.split('=')[1] ?? true] as const);
      canonicalFlow({ ...base, match, actions: '' });
    });
  });
});
