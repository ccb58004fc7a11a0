import { describe, expect, it } from 'vitest';
import { OpenflowError } from '../errors.ts';
import { NORMAL_FORMS } from '../testing/normal-forms.ts';
import { canonicalFlow, type FlowParts, formatFlow } from './flow.ts';
import { parseFlowLine } from './flow-dump.ts';

const parts = (over: Partial<FlowParts> = {}): FlowParts => ({
  table: 1,
  priority: 2,
  cookie: 3n,
  match: [],
  actions: '',
  ...over,
});

describe('the one form of a flow', () => {
  it.each(NORMAL_FORMS)('of $match to $actions', ({ match, actions, printed }) => {
    const flow = canonicalFlow(parts({ match: Object.entries(match), actions }));
    const identity = `table=1,priority=2${printed.match === '' ? '' : `,${printed.match}`}`;
    expect(flow).toEqual({ identity, cookie: '0x3', actions: printed.actions });
  });

  it.each(NORMAL_FORMS)('does not change when it is read back: $printed', ({ match, actions }) => {
    const flow = canonicalFlow(parts({ match: Object.entries(match), actions }));
    const line = ` cookie=${flow.cookie}, ${flow.identity.replace(/^table=1,/, 'table=1, ')} actions=${flow.actions}`;
    expect(parseFlowLine(line)).toMatchObject(flow);
  });

  it('is what ovs-ofctl reads', () => {
    expect(formatFlow(canonicalFlow(parts({ match: [['ip', true]], actions: 'output:1' })))).toBe(
      'table=1,priority=2,ip,cookie=0x3,actions=output:1',
    );
  });

  it.each<readonly [string, Partial<FlowParts>]>([
    ['"x" is not an IPv4 address', { match: [['nw_src', 'x']] }],
    ['"fd00::1" is not an IPv4 address', { match: [['nw_src', 'fd00::1']] }],
    ['/33 is too long for IPv4', { match: [['nw_src', '10.0.0.0/33']] }],
    ['"1.2.3" is not a MAC address', { match: [['dl_src', '1.2.3']] }],
    ['"" is not a number', { match: [['pkt_mark', '']] }],
    ['70000 is too large for tcp_dst', { match: [['tp_dst', '70000']] }],
    ['"itp" is not a protocol', { match: [['itp', true]] }],
    ['"constructor" is not a protocol', { match: [['constructor', true]] }],
    [
      'dl_type is both 2048 and 34525',
      {
        match: [
          ['ip', true],
          ['tcp6', true],
        ],
      },
    ],
    [
      'nw_dst is both 10.0.0.1 and 10.0.0.2',
      {
        match: [
          ['nw_dst', '10.0.0.1'],
          ['ip_dst', '10.0.0.2'],
        ],
      },
    ],
    ['255 is not a table', { table: 255 }],
    ['-1 is not a priority', { priority: -1 }],
    ['ct has no parameter "zoen"', { actions: 'ct(zoen=1)' }],
    ['nat has no parameter "sr"', { actions: 'ct(nat(sr=1.2.3.4))' }],
    ['"here" is not an address', { actions: 'ct(nat(src=here))' }],
    ['"eth_src" has no ->', { actions: 'set_field:eth_src' }],
    ['load:0x10->reg0[0..3] is too large for its bits', { actions: 'load:0x10->reg0[0..3]' }],
    ['mod_tp_dst without a match on tcp, udp or sctp', { actions: 'mod_tp_dst:5' }],
    ['not a list with matching brackets: "ct(commit"', { actions: 'ct(commit' }],
  ])('refuses: %s', (message, over) => {
    const attempt = () => canonicalFlow(parts(over));
    expect(attempt).toThrow(OpenflowError);
    expect(attempt).toThrow(message);
  });
});
