/** `udnctl status`: whether what the networks need beside the agent works, on this node or on all. */
import type { ComponentStatus } from '../../api/agent-status.ts';
import { NODE_NETWORK_REPORTS } from '../../api/resources.ts';
import { listAll } from '../../kube/reflector/list-all.ts';
import { NODES } from '../../kube/resources.ts';
import type { KubeClient, KubeObject, ResourceType } from '../../kube/types.ts';
import { isHealthy, type NodeRow, rowMessage, statusRows } from '../cluster/status-rows.ts';
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
        empty: 'not checked yet',
      },
    ],
    exitStatus: components.length > 0 && components.every(isWorking) ? 0 : 1,
  };
};

const isWorking = ({ state }: ComponentStatus): boolean => state === 'working';

const PAGE_SIZE = 500;

/** Of all nodes, as their agents have reported it. @param now milliseconds since 1970 @throws KubeError */
export const clusterStatus = async (
  client: Pick<KubeClient, 'list'>,
  { only, now }: { readonly only?: string | undefined; readonly now: number },
): Promise<StatusOutput> => {
  const [nodes, reports] = await Promise.all([listOf(client, NODES), listOf(client, NODE_NETWORK_REPORTS)]);
  const rows = statusRows(nodes, reports, now).filter(({ node }) => only === undefined || node === only);
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

const cellsOf = (row: NodeRow): string[] => {
  const { node, agent, networks, failed } = row;
  return [
    node,
    agent,
    ...(['ready', 'pending', 'failed'] as const).map((state) =>
      networks === undefined ? '' : String(networks[state]),
    ),
    // What a silent agent has said is no news, and neither is what an older one does not say.
    agent === 'reporting' && failed !== undefined ? failed.map(({ component }) => component).join(',') || 'none' : '?',
    rowMessage(row) ?? '',
  ];
};
