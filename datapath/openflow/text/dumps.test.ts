import { describe, expect, it } from 'vitest';
import { parseFlows } from './flow-dump.ts';
import { parseGroups } from './group-dump.ts';

describe('a dump of flows', () => {
  it('is read with statistics', () => {
    const output = [
      'OFPST_FLOW reply (OF1.5) (xid=0x2): flags=[more]',
      ' cookie=0xdeff105, duration=7.058s, table=0, n_packets=12, n_bytes=840, idle_age=0, priority=500,ip,in_port=LOCAL,nw_dst=169.254.0.1 actions=ct(table=5,zone=64002,nat)',
      ' cookie=0x0, duration=1s, table=3, n_packets=0, n_bytes=0, idle_timeout=5, send_flow_rem actions=drop',
      '',
    ].join('\n');
    expect([...parseFlows(output)]).toEqual([
      {
        identity: 'table=0,priority=500,ip,in_port=LOCAL,nw_dst=169.254.0.1',
        cookie: '0xdeff105',
        actions: 'ct(table=5,zone=64002,nat)',
      },
      {
        identity: 'table=3,priority=32768',
        cookie: '0',
        actions: 'drop',
      },
    ]);
  });

  it('is read without statistics, and keeps what it does not understand', () => {
    const line = ' table=3, nsh_ttl=64,ip,nw_src=::ffff:1.2.3.4 actions=encap(nsh(md_type=1)),learn(table=1,in_port=1)';
    expect([...parseFlows(line)]).toMatchObject([
      {
        identity: 'table=3,priority=32768,ip,nsh_ttl=64,nw_src=::ffff:1.2.3.4',
        actions: 'encap(nsh(md_type=1)),learn(table=1,in_port=1)',
      },
    ]);
  });

  it.each(['nonsense', ' cookie=0x1, table=0, priority=1', ' cookie=x, actions=drop', ' priority=99999 actions=drop'])(
    'is refused: %s',
    (line) => {
      expect(() => [...parseFlows(line)]).toThrow(expect.objectContaining({ code: 'ERR_OPENFLOW_SYNTAX' }));
    },
  );
});

describe('a dump of groups', () => {
  it('is read', () => {
    const output =
      'OFPST_GROUP_DESC reply (OF1.5) (xid=0x2):\n' +
      ' group_id=5,type=all,bucket=bucket_id:3,actions=output:1,bucket=bucket_id:4,actions=set_field:0a:00:00:00:00:01->eth_dst,output:2\n' +
      ' group_id=6,type=select,selection_method=hash,bucket=bucket_id:0,weight:100,actions=ct(commit,nat(dst=10.0.0.1))\n' +
      ' group_id=7,type=all\n';
    expect(parseGroups(output)).toEqual(
      new Map([
        [
          5,
          {
            type: 'all',
            buckets: new Map([
              [3, 'output:1'],
              [4, 'set_field:0a:00:00:00:00:01->eth_dst,output:2'],
            ]),
          },
        ],
        [6, { type: 'select', buckets: new Map([[0, 'ct(commit,nat(dst=10.0.0.1))']]) }],
        [7, { type: 'all', buckets: new Map() }],
      ]),
    );
  });

  it.each([' group_id=x,type=all', ' group_id=1', ' group_id=1,type=all,bucket=actions=drop'])(
    'is refused: %s',
    (line) => {
      expect(() => parseGroups(line)).toThrow(expect.objectContaining({ code: 'ERR_OPENFLOW_SYNTAX' }));
    },
  );
});
