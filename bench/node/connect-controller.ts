/** Lets ovn-controller of a node without an agent work. */
import type { Remote } from '../../ovsdb/index.ts';
import { NB_SOCKET } from '../../sandbox/plan/daemons.ts';
import type { OvnNode } from './ovn-node.ts';

/** What the agent tells ovn-controller of a node at its start: by that chassis its rows know the node. */
export const connectController = async ({ run }: Pick<OvnNode, 'run'>): Promise<void> => {
  const ids = {
    'system-id': CHASSIS,
    'ovn-remote': 'unix:/run/ovn/ovnsb_db.sock',
    'ovn-encap-type': 'geneve',
    'ovn-encap-ip': '172.20.0.11',
    'ovn-is-interconn': 'true',
    'ovn-monitor-all': 'true',
  };
  const settings = Object.entries(ids).map(([key, value]) => `external_ids:${key}=${value}`);
  await run(['ovs-vsctl', '--timeout=30', 'set', 'Open_vSwitch', '.', ...settings]);
  await run(['ovn-sbctl', '--timeout=30', 'wait-until', 'Chassis', CHASSIS]);
};

/** Of node-1, as `nodeObject` has it. */
const CHASSIS = '00000000-0000-4000-8000-000000000001';

/** Its northbound database, as this machine reaches it. */
export const northboundOf = (node: Pick<OvnNode, 'pathOf'>): Remote => ({
  transport: 'unix',
  path: node.pathOf(NB_SOCKET),
});
