/** `udnctl flows --network NETWORK`: the flows of br-int that belong to one network. */
import type { NetworkStatus } from '../../api/agent-status.ts';
import type { CommandRunner } from '../../datapath/exec/types.ts';
import { CliError } from '../errors.ts';
import { type Datapath, datapathsOf, type Transact } from '../flows/datapaths.ts';
import { type Flow, parseFlow } from '../flows/flow-dump.ts';
import type { AgentClient } from '../node/agent-client.ts';
import type { Output } from '../output/format.ts';

export interface FlowSources {
  readonly agent: Pick<AgentClient, 'networks'>;
  readonly northbound: Transact;
  readonly southbound: Transact;
  readonly runner: Pick<CommandRunner, 'run'>;
}

export interface FlowOptions {
  /** Its name, the key of one of its NADs, or the name of its ClusterUserDefinedNetwork. */
  readonly network: string;
  /** Only a count for each datapath and table. */
  readonly summary: boolean;
}

/** @throws CliError when there is no such network */
export const listFlows = async (sources: FlowSources, { network: wanted, summary }: FlowOptions): Promise<Output> => {
  const network = findNetwork(await sources.agent.networks(), wanted);
  const datapaths = await datapathsOf(network.name, sources.northbound, sources.southbound);
  const { stdout } = await sources.runner.run({ file: 'ovs-ofctl', args: ['dump-flows', 'br-int'] });
  const byKey = new Map(datapaths.map((datapath) => [datapath.key, datapath]));
  const flows = stdout.split('\n').flatMap((line): NetworkFlow[] => {
    const flow = parseFlow(line);
    const datapath = byKey.get(flow?.datapathKey ?? -1);
    return flow === undefined || datapath === undefined ? [] : [{ ...flow, datapath: datapath.name }];
  });
  return {
    data: { network: network.name, datapaths, flows },
    tables: [overview(datapaths, flows), ...(summary ? [] : [details(flows)])],
  };
};

interface NetworkFlow extends Flow {
  readonly datapath: string;
}

const findNetwork = (networks: readonly NetworkStatus[], wanted: string): NetworkStatus => {
  const found = networks.find(
    ({ name, nads }) => name === wanted || nads.includes(wanted) || name === `cluster_udn_${wanted}`,
  );
  if (found !== undefined) return found;
  const names = networks.map(({ name }) => name).join(', ');
  throw new CliError(`this node knows no network "${wanted}"; it knows ${names === '' ? 'none' : names}`);
};

const overview = (datapaths: readonly Datapath[], flows: readonly NetworkFlow[]): Output['tables'][number] => ({
  head: ['DATAPATH', 'KIND', 'KEY', 'FLOWS', 'PACKETS'],
  rows: datapaths.map(({ name, kind, key }) => {
    const own = flows.filter(({ datapath }) => datapath === name);
    const packets = own.reduce((sum, flow) => sum + flow.packets, 0);
    return [name, kind, String(key), String(own.length), String(packets)];
  }),
  empty: 'the network has no datapath on this node',
});

const details = (flows: readonly NetworkFlow[]): Output['tables'][number] => ({
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
