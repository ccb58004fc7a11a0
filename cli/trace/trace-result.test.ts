import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseOfprotoTrace } from './ofproto-trace.ts';
import { parseDatapathPorts } from './port-names.ts';
import { stepsOf } from './steps.ts';
import { decidingFlows, type TraceContext, traceResultOf } from './trace-result.ts';

const read = (name: string) =>
  parseOfprotoTrace(readFileSync(join(import.meta.dirname, 'testdata', `${name}.txt`), 'utf8'));

const PORTS = parseDatapathPorts(`netdev@ovs-netdev: hit:1 missed:1
  br-ex:
    br-ex 65534/2: (tap)
    eth0 1/1: (system)
  br-int:
    podb 4/7: (system)
    ovn-5bc4b7-0 1/4: (geneve: remote_ip=172.20.0.12)
  br-tst:
    pt1 1/none: (patch: peer=pt2)
    up0 2/12: (tap)
    br-tst 65534/11: (tap)
  br-tst2:
    br-tst2 65534/13: (tap)
    pt2 1/none: (patch: peer=pt1)
`);

const context = (more: Partial<TraceContext> = {}): TraceContext => ({
  ports: PORTS,
  owners: new Map([
    ['podb', { pod: 'red/b', network: 'red_red' }],
    ['pt1', { network: 'red_red' }],
  ]),
  uplink: 'up0',
  logicalFlows: new Map(),
  datapaths: new Map([[1, { kind: 'switch', name: 'node-1' }]]),
  ...more,
});

const GATEWAY_ROUTER = { kind: 'router', name: 'GR_red_red_node-1' };
const lastMatch = (passes: ReturnType<typeof read>): string =>
  passes.at(-1)?.bridges.at(-1)?.steps.at(-1)?.flow?.match ?? '';

describe('the decision comes first, in a message', () => {
  it('on this node', () =>
    expect(traceResultOf(read('local'), context())).toEqual({
      kind: 'delivered',
      message: 'delivered to red/b on this node, network red_red',
      pod: 'red/b',
    }));

  it('through a tunnel, and not out of the uplink that the tunnel uses', () =>
    expect(traceResultOf(read('remote'), context({ uplink: 'eth0' }))).toEqual({
      kind: 'tunnel',
      message: 'sent to the node 172.20.0.12 through a tunnel',
    }));

  it('to the outside, with the address that it leaves with', () =>
    expect(traceResultOf(read('patch-out'), context())).toEqual({
      kind: 'leaves',
      message: 'leaves through up0 as 172.20.0.11 (masqueraded from 169.254.0.11)',
    }));

  it('all the way from a pod: through routers, translated twice, out of the gateway bridge', () => {
    const ports = parseDatapathPorts(
      '  br-ex:\n    eth0 1/1: (system)\n    patch 3/none: (patch: peer=other)\n  br-int:\n    other 4/none: (patch: peer=patch)\n',
    );
    expect(traceResultOf(read('leaves'), context({ ports, uplink: 'eth0' }))).toEqual({
      kind: 'leaves',
      message: 'leaves through eth0 as 172.20.0.11 (masqueraded from 169.254.0.11)',
    });
    const steps = stepsOf(read('leaves'), { ports, datapaths: new Map() });
    expect(steps.slice(-3)).toEqual([
      'br-ex: table 0 priority 100: to the outside: record the network of the connection',
      'br-ex: source becomes 172.20.0.11',
      'br-ex: to port eth0',
    ]);
  });

  it('dropped by a flow of the gateway bridge, with what the flow is for', () => {
    const { kind, message } = traceResultOf(read('patch-drop'), context());
    expect(kind).toBe('dropped');
    expect(message).toMatch(/^dropped by br-tst table 0 priority 9: .+ \(network red_red\)$/);
  });

  describe('of what a network sends, whose flows are those of all networks', () => {
    const ports = parseDatapathPorts(
      '  br-ex:\n    eth0 1/2: (system)\n    patch 3/3: (system)\n    br-ex 65534/100: (tap)\n',
    );
    const here = context({ ports, uplink: 'eth0', owners: new Map([['patch', { network: 'red_red' }]]) });

    it('out of the gateway bridge, with the address that told who sends', () => {
      const passes = read('network-out');
      expect(traceResultOf(passes, here)).toEqual({
        kind: 'leaves',
        message: 'leaves through eth0 as 172.30.0.2 (masqueraded from 169.254.0.11)',
      });
      expect(stepsOf(passes, { ports, datapaths: new Map() })).toEqual([
        'br-ex: table 0 priority 730: record the sending network and that the source is its gateway router',
        'br-ex: table 0 priority 100: to the outside: record the network of the connection',
        'br-ex: source becomes 172.30.0.2',
        'br-ex: to port eth0',
      ]);
    });

    it('dropped, and of which network it is', () => {
      expect(traceResultOf(read('network-drop'), here).message).toBe(
        'dropped by br-ex table 0 priority 90: drop everything else of a tenant network (network red_red)',
      );
    });
  });

  it('dropped by OVN, with the stage', () => {
    const passes = read('acl');
    const [flow] = decidingFlows(passes).slice(-1);
    const logicalFlows = new Map([[flow?.cookie ?? '', { stage: 'ls_in_acl_action', match: 'reg8[17] == 1' }]]);
    expect(traceResultOf(passes, context({ logicalFlows })).message).toBe(
      'dropped by br-int table 18 priority 1000: stage ls_in_acl_action of switch node-1',
    );
  });

  it('dropped, and not what only too large packets get', () =>
    expect(traceResultOf(read('drop'), context())).toEqual({
      kind: 'dropped',
      message: 'dropped by br-int table 23 priority 0',
      bridge: 'br-int',
    }));

  it('dropped by an ACL, with what it matches', () => {
    const passes = read('acl');
    const [evaluated, , action] = decidingFlows(passes);
    const logicalFlows = new Map([
      [evaluated?.cookie ?? '', { stage: 'ls_in_acl_eval', match: 'inport == @isolated' }],
      [action?.cookie ?? '', { stage: 'ls_in_acl_action', match: 'reg8[17] == 1' }],
    ]);
    expect(traceResultOf(passes, context({ logicalFlows })).message).toBe(
      'dropped by br-int table 18 priority 1000: an ACL of switch node-1 (priority 1000, inport == @isolated)',
    );
  });

  it('dropped by an ACL that is logged: what ovn-controller logs does not go to it', () => {
    expect(traceResultOf(read('acl-logged'), context())).toEqual({
      kind: 'dropped',
      message: 'dropped by br-int table 53 priority 1000',
      bridge: 'br-int',
    });
  });

  it('waits at a router that does not know its next hop', () => {
    const passes = read('next-hop');
    const [flow] = decidingFlows(passes).slice(-1);
    const logicalFlows = new Map([[flow?.cookie ?? '', { stage: 'lr_in_arp_request', match: 'eth.dst == 0' }]]);
    const datapaths = new Map([[Number(/metadata=(0x[0-9a-f]+)/.exec(lastMatch(passes))?.[1]), GATEWAY_ROUTER]]);
    expect(traceResultOf(passes, context({ logicalFlows, datapaths }))).toEqual({
      kind: 'controller',
      message:
        'waits at router GR_red_red_node-1: the MAC of the next hop is not known yet; ovn-controller requests it',
    });
  });

  it('says all ways of a packet that is flooded', () =>
    expect(traceResultOf(read('in-est'), context()).message).toMatch(/^sent to several ports: /));
});

it('the steps name datapaths, conntrack, translation and ports', () => {
  const names = { ports: PORTS, datapaths: new Map([[1, { kind: 'switch', name: 'node-1' }]]) };
  expect(stepsOf(read('acl'), names)).toEqual([
    'br-int: switch node-1',
    'br-int: conntrack lookup',
    'back from conntrack with ct_state=new|trk',
    'br-int: switch node-1',
  ]);
  expect(stepsOf(read('patch-out'), names)).toContain('br-tst: source becomes 172.20.0.11');
  expect(stepsOf(read('remote'), names)).toContain('br-int: to port ovn-5bc4b7-0, tunneling to 172.20.0.12 via br-ex');
});
