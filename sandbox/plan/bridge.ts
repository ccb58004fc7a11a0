/** ovs-vsctl(8) arguments of what provisioning sets on a node before any agent runs. */
import { createHash } from 'node:crypto';
import { GATEWAY_BRIDGE, UPLINK } from './links.ts';
import type { HostPlan } from './netplan.ts';

/** `netdev` is the userspace datapath, for kernels without the openvswitch module. */
export type Datapath = 'system' | 'netdev';

/** The node's identity. Returns when ovs-vswitchd has seen it; may be repeated. */
export const identityArguments = (host: HostPlan, datapath: Datapath): string[] => [
  '--timeout=30',
  '--retry',
  ...['set', 'Open_vSwitch', '.', `external_ids:system-id=${systemId(host)}`],
  // ovn-controller makes br-int with the datapath type of this key, ovn-controller(8).
  ...(datapath === 'netdev' ? ['external_ids:ovn-bridge-datapath-type=netdev'] : []),
];

/** Beside its identity br-ex with the uplink in it. */
export const provisionArguments = (host: HostPlan, datapath: Datapath): string[] => [
  ...identityArguments(host, datapath),
  ...['--', '--may-exist', 'add-br', GATEWAY_BRIDGE],
  ...['--', 'set', 'Bridge', GATEWAY_BRIDGE, `datapath_type=${datapath}`, 'fail_mode=standalone'],
  ...[`other_config:hwaddr=${JSON.stringify(host.mac)}`],
  ...[`external_ids:bridge-id=${GATEWAY_BRIDGE}`, `external_ids:bridge-uplink=${UPLINK}`],
  ...['--', '--may-exist', 'add-port', GATEWAY_BRIDGE, UPLINK],
];

/** Of a node's chassis, in the form of a UUID as Debian's package makes one: the same for the same node name. */
export const systemId = ({ name }: HostPlan): string => {
  const hex = createHash('sha256').update(`system-id ${name}`).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-');
};
