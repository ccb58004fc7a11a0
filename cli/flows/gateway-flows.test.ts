import { describe, expect, it } from 'vitest';
import { FLOW_PRIORITIES } from '../../agent/model/registry/openflow.ts';
import type { NetworkStatus } from '../../api/agent-status.ts';
import { parseDatapathPorts } from '../trace/port-names.ts';
import { parseFlow } from './flow-dump.ts';
import { type GatewayOptions, gatewayFlows } from './gateway-flows.ts';

const flow = (text: string) => {
  const found = parseFlow(text);
  if (found === undefined) throw new Error(`no flow: ${text}`);
  return found;
};

const { classify } = FLOW_PRIORITIES;
const PATCH = '2';
const PORTS = parseDatapathPorts(`  br-ex:
    eth0 1/1: (system)
    patch-br-ex_red_red_n1-to-br-int 2/none: (patch: peer=patch-br-int-to-br-ex_red_red_n1)
`);
const FLOWS = [
  ` cookie=0xdeff105, duration=1s, table=0, n_packets=3, n_bytes=1, priority=${classify.spoofed.priority},in_port=${PATCH} actions=drop`,
  ` cookie=0xdeff105, duration=1s, table=0, n_packets=5, n_bytes=1, priority=${classify.egress.priority},ip,in_port=${PATCH},nw_src=169.254.0.11 actions=ct(commit,zone=64000,nat(src=172.20.0.11)),output:1`,
  ` cookie=0xdeff105, duration=1s, table=0, n_packets=6, n_bytes=1, priority=${classify.egress.priority},ipv6,in_port=${PATCH},ipv6_src=fd69::b actions=output:1`,
  ` cookie=0xdeff105, duration=1s, table=1, n_packets=7, n_bytes=1, priority=100,ct_state=+est+trk,ct_mark=0x4,ip actions=output:${PATCH}`,
  ' cookie=0xdeff105, duration=1s, table=2, n_packets=0, n_bytes=1, priority=250,ip,pkt_mark=0x1001 actions=drop',
  ' cookie=0xdeff105, duration=1s, table=0, n_packets=9, n_bytes=1, priority=0 actions=NORMAL',
  ' cookie=0x1, duration=1s, table=0, n_packets=1, n_bytes=1, priority=77,tcp actions=drop',
  ' cookie=0xdeff105, duration=1s, table=0, n_packets=1, n_bytes=1, priority=78,tcp actions=drop',
].map(flow);

const RED: NetworkStatus = {
  name: 'red_red',
  id: 1,
  nads: ['red/red'],
  topology: 'layer3',
  role: 'primary',
  mtu: 1400,
  subnets: [],
  nodeSubnets: [],
  pods: 0,
  state: 'ready',
  masquerade: { gateway: ['169.254.0.11', 'fd69::b'], management: ['169.254.0.12', 'fd69::c'] },
};

const groups = (options: Partial<GatewayOptions> = {}) =>
  gatewayFlows(FLOWS, {
    bridge: 'br-ex',
    node: 'n1',
    ports: PORTS,
    networks: [{ ...RED, name: 'default', id: 0, role: 'default' }, RED],
    network: undefined,
    onlyNode: false,
    ...options,
  }).groups.map(({ owner, table, priority, flows }) => `${owner} ${table} ${priority} ${flows.length}`);

describe('flows of the gateway bridge', () => {
  it('of a network are those with its patch port, marks and addresses', () =>
    expect(groups({ network: 'red_red' })).toEqual([
      `red_red 0 ${classify.egress.priority} 2`,
      `red_red 0 ${classify.spoofed.priority} 1`,
      'red_red 1 100 1',
      'red_red 2 250 1',
    ]));

  it('of the node are all others; what the registry does not have is foreign, whatever its cookie', () =>
    expect(groups({ onlyNode: true })).toEqual(['foreign 0 78 1', 'foreign 0 77 1', 'node 0 0 1']));

  it('say in words what they are for', () => {
    const [first] = gatewayFlows(FLOWS, {
      bridge: 'br-ex',
      node: 'n1',
      ports: PORTS,
      networks: [RED],
      network: 'red_red',
      onlyNode: false,
    }).groups;
    expect(first?.purpose).toBe(classify.egress.purpose);
  });
});
