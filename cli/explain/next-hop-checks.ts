/** Whether a network's gateway router knows where its next hops are, without which nothing of the network gets out. */
import { gatewayRouterName, routerToExternalPortName } from '../../agent/model/names.ts';
import { askerCookie } from '../../agent/model/registry/marks.ts';
import { FLOW_TABLES } from '../../agent/model/registry/openflow.ts';
import { parseNetworkId } from '../../net/ids.ts';
import { dumpFlows, type Flow } from '../flows/flow-dump.ts';
import { setOf } from '../node/wire-values.ts';
import { type Check, missing, ok, unknown } from './check.ts';
import type { ExplainSources } from './sources.ts';

export interface AskingNetwork {
  readonly id: number;
  readonly name: string;
  readonly node: string;
  readonly bridge: string;
}

export const nextHopChecks = async (
  { northbound, southbound, runner }: ExplainSources,
  { id, name, node, bridge }: AskingNetwork,
): Promise<Check[]> => {
  const port = routerToExternalPortName(gatewayRouterName(name, node));
  const [[routes], [bindings], flows] = await Promise.all([
    northbound([
      {
        op: 'select',
        table: 'Logical_Router_Static_Route',
        where: [['output_port', '==', port]],
        columns: ['ip_prefix', 'nexthop'],
      },
    ]),
    southbound([{ op: 'select', table: 'MAC_Binding', where: [['logical_port', '==', port]], columns: ['ip', 'mac'] }]),
    dumpFlows(runner, bridge),
  ]);
  const hops = (routes?.rows ?? []).filter((route) => DEFAULT_ROUTES.has(setOf(route['ip_prefix'])[0] ?? ''));
  const macs = new Map(bindings?.rows?.map(({ ip, mac }) => [String(ip), String(mac)]));
  return hops.map(({ nexthop }) => hopCheck(String(nexthop), macs, flows, askerCookie(parseNetworkId(id))));
};

const DEFAULT_ROUTES = new Set(['0.0.0.0/0', '::/0']);

/** What a network has asked for is learned by the bridge, and forgotten after some seconds. */
const hopCheck = (hop: string, macs: ReadonlyMap<string, string>, flows: readonly Flow[], cookie: bigint): Check => {
  const what = `next hop ${hop}`;
  const mac = macs.get(hop);
  if (mac !== undefined) return ok(what, `its gateway router resolves it to ${mac}`);
  const isAsked = flows.some(
    (flow) =>
      flow.table === FLOW_TABLES.askers &&
      BigInt(flow.cookie) === cookie &&
      flow.match.split(',').some((field) => field === `arp_spa=${hop}` || field === `nd_target=${hop}`),
  );
  if (!isAsked) return unknown(what, 'its gateway router has no MAC for it and has not requested one recently');
  const next =
    'is it up? ip neigh on the node shows whether the node resolves it; tcpdump on the uplink shows the requests';
  return missing(what, 'its gateway router gets no reply to its ARP or ND requests: the network has no path out', next);
};
