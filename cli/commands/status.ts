/** `udnctl status`: whether what the networks need beside the agent works, on this node or on all. */
import type { ComponentStatus } from '../../api/agent-status.ts';
import { NODE_NETWORK_REPORTS } from '../../api/resources.ts';
import { messageOf } from '../../base/error-message.ts';
import { type ReportFacts, reportFacts } from '../../cluster-manager/facts/report-facts.ts';
import { listAll } from '../../kube/reflector/list-all.ts';
import { NODES } from '../../kube/resources.ts';
import type { KubeClient, KubeObject, ResourceType } from '../../kube/types.ts';
import { type IdRanges, idsIn } from '../../net/id-ranges.ts';
import { type NodeState, nodeState } from '../cluster/node-state.ts';
import type { AgentClient } from '../node/agent-client.ts';
import type { Output } from '../output/format.ts';

export interface StatusOutput extends Output {
  /** 0: everything works. 1: something does not, or its state is not known. */
  readonly exitStatus: 0 | 1;
}

/** Of the node whose agent is asked. */
export const nodeStatus = async (agent: Pick<AgentClient, 'node' | 'health'>): Promise<StatusOutput> => {
  const [{ name }, components] = await Promise.all([agent.node(), agent.health()]);
  return {
    data: { node: name, components },
    tables: [
      {
        head: ['COMPONENT', 'STATE', 'SINCE', 'MESSAGE'],
        rows: components.map(({ component, state, since, message = '' }) => [component, state, since, message]),
        empty: 'nothing was looked at yet',
      },
    ],
    exitStatus: components.length > 0 && components.every(isWorking) ? 0 : 1,
  };
};

const isWorking = ({ state }: ComponentStatus): boolean => state === 'working';

/** `unreadable`: somebody else has written the report, or a newer agent. `silent`: its report was not renewed in time, and says nothing any more. `absent`: the node has no report. */
export type AgentState = 'reporting' | 'silent' | 'absent' | 'excluded' | 'unreadable';

interface NodeRow {
  readonly node: string;
  readonly agent: AgentState;
  readonly networks: { readonly ready: number; readonly pending: number; readonly failed: number } | undefined;
  /** Undefined: an older agent, or none. */
  readonly failed: ReportFacts['failedComponents'] | undefined;
  /** Why it cannot be read. */
  readonly error?: string;
}

const PAGE_SIZE = 500;

/** Of all nodes, as their agents have reported it. @param now milliseconds since 1970 @throws KubeError */
export const clusterStatus = async (
  client: Pick<KubeClient, 'list'>,
  { only, now }: { readonly only?: string | undefined; readonly now: number },
): Promise<StatusOutput> => {
  const [nodes, reports] = await Promise.all([listOf(client, NODES), listOf(client, NODE_NETWORK_REPORTS)]);
  const found = new Map(reports.map((one) => [one.metadata.name, one]));
  const rows = nodes
    .filter(({ metadata: { name } }) => only === undefined || name === only)
    .map((node) => rowOf(node, found.get(node.metadata.name), now))
    .sort((a, b) => (a.node < b.node ? -1 : 1));
  return {
    data: rows,
    tables: [
      {
        head: ['NODE', 'AGENT', 'READY', 'PENDING', 'FAILED', 'FAILING', 'MESSAGE'],
        rows: rows.map(cellsOf),
        empty: only === undefined ? 'there are no nodes' : `there is no node ${only}`,
      },
    ],
    exitStatus: rows.length > 0 && rows.every(isHealthy) ? 0 : 1,
  };
};

const listOf = async (client: Pick<KubeClient, 'list'>, resource: ResourceType): Promise<KubeObject[]> => {
  let objects: KubeObject[] = [];
  await listAll(
    client,
    resource,
    { pageSize: PAGE_SIZE },
    (object) => void objects.push(object),
    () => {
      objects = [];
    },
  );
  return objects;
};

/** One object that cannot be read is one row that says so. */
const rowOf = (node: KubeObject, object: KubeObject | undefined, now: number): NodeRow => {
  const { name } = node.metadata;
  try {
    const report = object && reportFacts(object);
    return {
      node: name,
      agent: agentState(nodeState(node), report, now),
      networks: report && countsOf(report),
      failed: report?.failedComponents,
    };
  } catch (error) {
    return { node: name, agent: 'unreadable', networks: undefined, failed: undefined, error: messageOf(error) };
  }
};

const countsOf = ({ ready, pending, failed }: ReportFacts): NonNullable<NodeRow['networks']> => ({
  ready: sizeOf(ready),
  pending: sizeOf(pending),
  failed: sizeOf(failed),
});

const agentState = ({ isExcluded }: NodeState, report: ReportFacts | undefined, now: number): AgentState => {
  if (isExcluded) return 'excluded';
  if (report === undefined) return 'absent';
  const { renewal } = report;
  return renewal !== undefined && renewal.at + renewal.leaseMs >= now ? 'reporting' : 'silent';
};

const sizeOf = (ids: IdRanges): number => [...idsIn(ids)].length;

const cellsOf = ({ node, agent, networks, failed, error }: NodeRow): string[] => [
  node,
  agent,
  ...(['ready', 'pending', 'failed'] as const).map((state) => (networks === undefined ? '' : String(networks[state]))),
  // What a silent agent has said is no news, and neither is what an older one does not say.
  agent === 'reporting' && failed !== undefined ? failed.map(({ component }) => component).join(',') || 'none' : '?',
  error ?? MESSAGES[agent] ?? failed?.[0]?.message ?? '',
];

const MESSAGES: Readonly<Partial<Record<AgentState, string>>> = {
  silent: 'udn-agent does not renew its report: it has stopped, hangs, or does not reach the API server',
  absent: 'no udn-agent has reported from this node',
  excluded: 'it has the label k8s.ovn.org/exclude-from-networks, or does not run Linux',
};

const isHealthy = ({ agent, networks, failed }: NodeRow): boolean =>
  agent === 'excluded' || (agent === 'reporting' && failed?.length === 0 && networks?.failed === 0);
