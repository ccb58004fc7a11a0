/** Reads what is on the node, without asking the agent. */
import { POD_PORT_KEY } from '../../agent/model/ownership.ts';
import { CT_ZONES } from '../../agent/model/registry/marks.ts';
import { messageOf } from '../../base/error-message.ts';
import { createConntrack } from '../../datapath/conntrack/conntrack.ts';
import { vswitchdControl } from '../../datapath/exec/vswitchd-control.ts';
import type { Netns } from '../../datapath/netlink/kernel/types.ts';
import { OUR_PROTOCOL } from '../../datapath/netlink/route/types.ts';
import { FAMILIES } from '../../net/ip.ts';
import type { Transact } from '../flows/datapaths.ts';
import { mapOf, setOf, uuidOf } from '../node/wire-values.ts';
import { type DaemonSources, lookAtDaemons } from './daemons.ts';
import { inTime } from './in-time.ts';
import type { NodeState, PodPort } from './leftovers.ts';

export interface NodeSources extends DaemonSources {
  readonly openvswitch: Transact;
  readonly netns: Pick<Netns, 'links' | 'rules' | 'routes' | 'whyNoFilters'>;
}

export interface NodeReading {
  readonly state: NodeState & {
    /** Why the kernel takes no filters of what pods hear; empty: it does. */
    readonly noFilters: readonly string[];
  };
  /** What could not be looked at, and why. */
  readonly blind: string[];
}

export const readNode = async (sources: NodeSources): Promise<NodeReading> => {
  const { openvswitch, netns, runner } = sources;
  const blind: string[] = [];
  const look = async <Thing>(
    what: string,
    read: (signal: AbortSignal) => Promise<readonly Thing[]> | readonly Thing[],
  ): Promise<readonly Thing[]> => {
    try {
      return await inTime(read);
    } catch (error) {
      blind.push(`${what}: ${messageOf(error)}`);
      return [];
    }
  };
  const daemons = lookAtDaemons(sources, look);
  const marks = look('conntrack', async (signal) => [
    ...(await createConntrack(runner, vswitchdControl).marks(CT_ZONES.external, signal)),
  ]);
  const state = {
    podPorts: await look('OVS ports', () => podPorts(openvswitch)),
    links: await look('links', () => netns.links()),
    rules: await look('rules', () => netns.rules()),
    routes: await look('routes', () => FAMILIES.flatMap((family) => netns.routes({ family, protocol: OUR_PROTOCOL }))),
    noFilters: await look('frame filters', () => [netns.whyNoFilters()].filter((why) => why !== undefined)),
    conntrackMarks: await marks,
  };
  await daemons;
  return { state, blind };
};

const podPorts = async (openvswitch: Transact): Promise<PodPort[]> => {
  const [interfaces, ports] = await openvswitch([
    { op: 'select', table: 'Interface', where: [], columns: ['_uuid', 'name', 'external_ids'] },
    { op: 'select', table: 'Port', where: [], columns: ['_uuid', 'interfaces'] },
  ]);
  const portOf = new Map(
    (ports?.rows ?? []).flatMap((row) => setOf(row['interfaces']).map((one) => [one, uuidOf(row['_uuid'])] as const)),
  );
  return (interfaces?.rows ?? []).flatMap((row): PodPort[] => {
    const ids = mapOf(row['external_ids']);
    const uuid = portOf.get(uuidOf(row['_uuid']));
    if (!ids.has(POD_PORT_KEY) || uuid === undefined) return [];
    const [podUid = '', logicalPort = ''] = [ids.get('iface-id-ver'), ids.get('iface-id')];
    return [{ uuid, name: String(row['name']), podUid, logicalPort }];
  });
};
