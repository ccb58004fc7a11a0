/** A node with one pod on one network, and what explains it. */
import { expect } from 'vitest';
import type { NetworkStatus, NodeStatus, PodStatus } from '../../../api/agent-status.ts';
import { explain } from '../../commands/explain.ts';
import type { ExplainSources } from '../sources.ts';
import { memoryTables } from './memory-tables.ts';

export const UUID = '0a1b2c3d-0000-0000-0000-000000000000';
export const CHASSIS = '11111111-0000-0000-0000-000000000000';

export const network: NetworkStatus = {
  name: 'red_red',
  id: 1,
  nads: ['red/red'],
  topology: 'layer3',
  role: 'primary',
  mtu: 1400,
  subnets: ['10.100.0.0/16/24'],
  nodeSubnets: ['10.100.0.0/24'],
  pods: 1,
  state: 'ready',
};

export const attachment = {
  network: 'red_red',
  nad: 'red/red',
  role: 'primary',
  interface: 'ovn-udn1',
  addresses: ['10.100.0.3/24'],
  mac: '0a:58:0a:64:00:03',
  port: 'red.red_red_a',
  hostInterface: 'abc_1',
  installed: true,
};

export const pod: PodStatus = { namespace: 'red', name: 'a', uid: 'u', attachments: [attachment], state: 'ready' };
export const STANDBY: PodStatus = { ...pod, attachments: [{ ...attachment, standbyFor: 'red/source' }] };
export const node: NodeStatus = { name: 'n1' };

export const NORTHBOUND = {
  Logical_Switch_Port: [{ name: 'red.red_red_a', addresses: '0a:58:0a:64:00:03 10.100.0.3', type: '' }],
};
export const SOUTHBOUND = {
  Port_Binding: [
    { _uuid: ['uuid', UUID], logical_port: 'red.red_red_a', chassis: ['uuid', CHASSIS], up: true, tunnel_key: 3 },
  ],
  Chassis: [{ _uuid: ['uuid', CHASSIS], name: 'chassis-1' }],
};
export const INTERFACE = {
  name: 'abc_1',
  ofport: 2,
  error: ['set', []],
  link_state: 'up',
  external_ids: [
    'map',
    [
      ['iface-id', 'red.red_red_a'],
      ['ovn-installed', 'true'],
    ],
  ],
};
export const VSWITCH = {
  Interface: [INTERFACE],
  Open_vSwitch: [{ external_ids: ['map', [['system-id', 'chassis-1']]] }],
};
export const FLOWS =
  ' cookie=0xa1b2c3d, duration=1s, table=0, n_packets=4, n_bytes=1, priority=100,in_port=2 actions=drop\n';

export const sources = (more: Partial<ExplainSources> = {}): ExplainSources => ({
  agent: {
    node: () => Promise.resolve(node),
    networks: () => Promise.resolve([network]),
    pods: () => Promise.resolve([pod]),
    health: () => Promise.resolve([]),
    problems: () => Promise.resolve([]),
    desired: () => Promise.resolve([]),
    differences: () => Promise.resolve({ differences: [], unreadable: [], unsupported: [] }),
    policies: () => Promise.resolve({ isRead: true, policies: [], rules: [], pods: [] }),
    services: () => Promise.resolve([]),
  },
  northbound: memoryTables(NORTHBOUND),
  southbound: memoryTables(SOUTHBOUND),
  openvswitch: memoryTables(VSWITCH),
  runner: {
    run: ({ args }) => {
      expect(args).toEqual(['--no-names', 'dump-flows', 'br-int', 'cookie=0xa1b2c3d/-1']);
      return Promise.resolve({ stdout: FLOWS, stderr: '' });
    },
  },
  podNetns: {
    read: () => ({
      addresses: [{ link: 'ovn-udn1', address: '10.100.0.3/24' }] as never,
      routes: [{ dst: '0.0.0.0/0', via: '10.100.0.1', dev: 'ovn-udn1' }] as never,
    }),
  },
  hostTable: () => Promise.resolve(undefined),
  ...more,
});

export const silent = () => Promise.reject(new Error('no answer'));
export const of = async (more: Partial<ExplainSources> = {}) => {
  const { data, lines, exitStatus } = await explain(sources(more), 'pod', 'red/a');
  const { checks } = data as { checks: { what: string; state: string; found: string; next?: string }[] };
  return { checks, lines, exitStatus, missing: checks.filter(({ state }) => state === 'missing') };
};
