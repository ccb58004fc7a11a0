/** What the Open_vSwitch database says about the node, and which of its changes matter here. */
import type { RowChange } from '../../ovsdb/replica/row.ts';
import { INTEGRATION_BRIDGE } from '../cni/vswitch-operations.ts';
import type { VswitchReplica } from '../databases/vswitch.ts';

/**
 * Whether the datapath can compare packets with an MTU (`check_pkt_len`); undefined while nobody knows. ovn-controller adds
 * the row whose `capabilities` ovs-vswitchd fills in. Offloading to hardware lacks the action.
 */
export const canCheckMtu = (replica: VswitchReplica): boolean | undefined => {
  const [row] = replica.rows('Open_vSwitch');
  const type = replica.findOne('Bridge', 'name', INTEGRATION_BRIDGE)?.datapath_type;
  if (row === undefined || type === undefined) return undefined;
  if (row.other_config['hw-offload'] === 'true') return false;
  const uuid = row.datapaths[type === '' ? 'system' : type];
  const capability = uuid === undefined ? undefined : replica.get('Datapath', uuid)?.capabilities['check_pkt_len'];
  return capability === undefined ? undefined : capability === 'true';
};

/**
 * Whether flows of a bridge may set `nd_reserved` and `nd_options_type`. Linux' datapath lacks them (`dpif/show-dp-features`:
 * "IPv6 ND Extension"), and OVS refuses the flows: OFPBAC_BAD_SET_ARGUMENT.
 */
export const canAdvertise = (replica: VswitchReplica, bridge: string): boolean =>
  replica.findOne('Bridge', 'name', bridge)?.datapath_type === 'netdev';

/** The name of the node's chassis; undefined while nobody has given it one. */
export const chassisIdOf = (replica: VswitchReplica): string | undefined => {
  const [row] = replica.rows('Open_vSwitch');
  return row?.external_ids['system-id'] || undefined;
};

/**
 * Bridges that come and go, and ports of these names. Not the ports of pods and networks, of which there are many.
 * @param names of the gateway bridge and its uplink; undefined: not known yet, so that any may be it
 */
export const concernsNode = ({ table, before, after }: RowChange, names: ReadonlySet<string> | undefined): boolean => {
  switch (table) {
    case 'Open_vSwitch':
    case 'Datapath':
      return true;
    case 'Bridge':
      return before === undefined || after === undefined || before['datapath_type'] !== after['datapath_type'];
    case 'Port':
    case 'Interface':
      return names === undefined || names.has(String((after ?? before)?.['name']));
    default:
      return false;
  }
};
