/**
 * OVN interconnect between two nodes, with rows written by hand: what agents do otherwise. It proves that the sandbox's
 * OVS and OVN work by themselves.
 */
import type { Sandbox } from '../index.ts';

const SWITCH = 'tsw';
const TUNNEL_KEY = 16_711_684;
const NODES = ['node-1', 'node-2'] as const;

/** A pod's network namespace on each node, `pod-1` and `pod-2` with 10.20.0.1 and 10.20.0.2, on one logical switch. */
export const connectZones = async (sandbox: Sandbox): Promise<void> => {
  const { nodes } = await sandbox.status();
  const encapIps = nodes.map(({ addresses }) => addresses[0]?.split('/')[0] ?? '');
  await Promise.all(NODES.map((node, i) => makeZone(sandbox, node, encapIps[i] ?? '')));
  await Promise.all(NODES.map((_, i) => addRemoteChassis(sandbox, i, encapIps)));
  await Promise.all(NODES.map((_, i) => addPorts(sandbox, i)));
  await Promise.all(NODES.map((node) => sandbox.node(node, ['ovn-nbctl', '--wait=hv', '--timeout=20', 'sync'])));
};

/** Reference: node-datapath.md section 6.5. */
const makeZone = async (sandbox: Sandbox, node: string, encapIp: string): Promise<void> => {
  await sandbox.node(node, [
    ...['ovs-vsctl', '--timeout=30', 'set', 'Open_vSwitch', '.'],
    ...['external_ids:ovn-encap-type=geneve', `external_ids:ovn-encap-ip=${encapIp}`],
    'external_ids:ovn-remote=unix:/run/ovn/ovnsb_db.sock',
    ...['external_ids:ovn-monitor-all=true', 'external_ids:ovn-is-interconn=true'],
  ]);
  await sandbox.node(node, ['ovn-nbctl', 'set', 'NB_Global', '.', `name=${node}`, `options:name=${node}`]);
};

const addRemoteChassis = async (sandbox: Sandbox, index: number, encapIps: readonly string[]): Promise<void> => {
  const [node, other, ip] = [NODES[index] ?? '', NODES[1 - index] ?? '', encapIps[1 - index] ?? ''];
  const { stdout } = await sandbox.node(other, ['ovs-vsctl', 'get', 'Open_vSwitch', '.', 'external_ids:system-id']);
  const chassis = stdout.trim().replaceAll('"', '');
  await sandbox.node(node, [
    'ovn-sbctl',
    ...[
      '--',
      '--id=@e',
      'create',
      'Encap',
      `chassis_name=${chassis}`,
      'type=geneve',
      `ip="${ip}"`,
      'options:csum=true',
    ],
    ...['--', 'create', 'Chassis', `name=${chassis}`, 'encaps=@e', `hostname=${other}`, 'other_config:is-remote=true'],
  ]);
};

const addPorts = async (sandbox: Sandbox, index: number): Promise<void> => {
  const node = NODES[index] ?? '';
  await sandbox.node(node, [
    ...['ovn-nbctl', 'ls-add', SWITCH, '--', 'set', 'Logical_Switch', SWITCH],
    ...[`other_config:interconn-ts=${SWITCH}`, `other_config:requested-tnl-key=${TUNNEL_KEY}`],
  ]);
  for (const number of [1, 2]) await addLogicalPort(sandbox, node, number, number !== index + 1);
  await addPod(sandbox, node, index + 1);
};

const addLogicalPort = async (sandbox: Sandbox, node: string, number: number, isRemote: boolean): Promise<void> => {
  const { stdout } = await sandbox.node(`node-${number}`, [
    'ovs-vsctl',
    'get',
    'Open_vSwitch',
    '.',
    'external_ids:system-id',
  ]);
  const port = `pod-${number}`;
  await sandbox.node(node, [
    ...['ovn-nbctl', 'lsp-add', SWITCH, port],
    ...['--', 'lsp-set-addresses', port, `${macOf(number)} 10.20.0.${number}`],
    ...(isRemote ? ['--', 'lsp-set-type', port, 'remote'] : []),
    ...['--', 'set', 'Logical_Switch_Port', port, `options:requested-tnl-key=${number}`],
    `options:requested-chassis=${stdout.trim()}`,
  ]);
};

const macOf = (number: number): string => `0a:58:0a:14:00:0${number}`;

/** A veth into a network namespace of the node; the userspace datapath needs whole checksums. */
const addPod = async (sandbox: Sandbox, node: string, number: number): Promise<void> => {
  const pod = `pod-${number}`;
  const commands = [
    ['ip', 'netns', 'add', pod],
    ['ip', 'link', 'add', `p${number}`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', pod],
    ['ip', 'link', 'set', `p${number}`, 'up'],
    ['ip', '-n', pod, 'link', 'set', 'eth0', 'address', macOf(number), 'mtu', '1400', 'up'],
    ['ip', '-n', pod, 'addr', 'add', `10.20.0.${number}/24`, 'dev', 'eth0'],
    ['ip', 'netns', 'exec', pod, 'ethtool', '-K', 'eth0', 'tx', 'off'],
    [
      'ovs-vsctl',
      'add-port',
      'br-int',
      `p${number}`,
      '--',
      'set',
      'Interface',
      `p${number}`,
      `external_ids:iface-id=${pod}`,
    ],
  ];
  for (const command of commands) await sandbox.node(node, command);
};
