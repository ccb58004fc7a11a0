/** `udnctl flows`: the flows of one network, or of the node itself, by what they are for. */
import type { CommandRunner } from '../../datapath/exec/types.ts';
import { type Datapath, datapathsOf, type Transact } from '../flows/datapaths.ts';
import { dumpFlows, type Flow } from '../flows/flow-dump.ts';
import { type GatewayFlows, gatewayFlows } from '../flows/gateway-flows.ts';
import type { AgentClient } from '../node/agent-client.ts';
import { findNetwork } from '../node/find-network.ts';
import type { Output } from '../output/format.ts';
import { readPorts } from '../trace/port-names.ts';

export interface FlowSources {
  readonly agent: Pick<AgentClient, 'networks' | 'node'>;
  readonly northbound: Transact;
  readonly southbound: Transact;
  readonly runner: Pick<CommandRunner, 'run'>;
}

export interface FlowOptions {
  /** Its name, the key of one of its NADs, or the name of its ClusterUserDefinedNetwork; absent: all. */
  readonly network?: string | undefined;
  /** Only the gateway bridge's flows that are the node's, not a network's. */
  readonly node: boolean;
  /** Only a count for each datapath, and for each purpose. */
  readonly summary: boolean;
}

/** @throws CliError when there is no such network */
export const listFlows = async (sources: FlowSources, options: FlowOptions): Promise<Output> => {
  const [node, networks] = await Promise.all([sources.agent.node(), sources.agent.networks()]);
  const network = options.network === undefined ? undefined : findNetwork(networks, options.network);
  const datapaths =
    network === undefined || options.node
      ? []
      : await datapathsOf(network.name, sources.northbound, sources.southbound);
  const flows = datapaths.length === 0 ? [] : flowsOfDatapaths(await dumpFlows(sources.runner, 'br-int'), datapaths);
  const bridge = node.gateway?.bridge;
  const gateway =
    bridge === undefined
      ? undefined
      : gatewayFlows(await dumpFlows(sources.runner, bridge), {
          bridge,
          ports: await readPorts(sources.runner),
          node: node.name,
          networks,
          network: network?.name,
          onlyNode: options.node,
        });
  return {
    data: { network: network?.name, datapaths, flows, ...(gateway !== undefined && { gateway }) },
    tables: [
      ...(network === undefined || options.node ? [] : [overview(datapaths, flows)]),
      ...(gateway === undefined ? [] : [gatewayTable(gateway)]),
      ...(options.summary || datapaths.length === 0 ? [] : [details(flows)]),
    ],
  };
};

interface NetworkFlow extends Flow {
  readonly datapath: string;
}

const flowsOfDatapaths = (flows: readonly Flow[], datapaths: readonly Datapath[]): NetworkFlow[] => {
  const byKey = new Map(datapaths.map((datapath) => [datapath.key, datapath]));
  return flows.flatMap((flow): NetworkFlow[] => {
    const datapath = byKey.get(flow.datapathKey ?? -1);
    return datapath === undefined ? [] : [{ ...flow, datapath: datapath.name }];
  });
};

const overview = (datapaths: readonly Datapath[], flows: readonly NetworkFlow[]): Output['tables'][number] => ({
  title: 'br-int, by logical switch and router',
  head: ['DATAPATH', 'KIND', 'KEY', 'FLOWS', 'PACKETS'],
  rows: datapaths.map(({ name, kind, key }) => {
    const own = flows.filter(({ datapath }) => datapath === name);
    return [name, kind, String(key), String(own.length), String(packetsOf(own))];
  }),
  empty: 'the network has no datapath on this node',
});

const gatewayTable = ({ bridge, groups }: GatewayFlows): Output['tables'][number] => ({
  title: `${bridge}, by purpose`,
  head: ['OF', 'TABLE', 'PRIORITY', 'FLOWS', 'PACKETS', 'FOR'],
  rows: groups.map(({ owner, table, priority, purpose, flows }) => [
    owner,
    String(table),
    String(priority),
    String(flows.length),
    String(packetsOf(flows)),
    purpose,
  ]),
  empty: `${bridge} has no such flows`,
});

const packetsOf = (flows: readonly Flow[]): number => flows.reduce((sum, { packets }) => sum + packets, 0);

const details = (flows: readonly NetworkFlow[]): Output['tables'][number] => ({
  title: 'br-int, flow by flow',
  head: ['DATAPATH', 'TABLE', 'PRIORITY', 'PACKETS', 'MATCH', 'ACTIONS'],
  rows: [...flows]
    .sort((a, b) => a.table - b.table || b.priority - a.priority)
    .map(({ datapath, table, priority, packets, match, actions }) => [
      datapath,
      String(table),
      String(priority),
      String(packets),
      match,
      actions,
    ]),
  empty: 'no flows',
});
