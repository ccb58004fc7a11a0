/** `udnctl pods`: the pods of this node with all their addresses, which `kubectl get pods -o wide` cannot show. */
import type { PodStatus } from '../../api/agent-status.ts';
import type { AgentClient } from '../node/agent-client.ts';
import type { Output } from '../output/format.ts';

export interface PodFilter {
  readonly namespace?: string | undefined;
  readonly network?: string | undefined;
}

export const listPods = async (agent: Pick<AgentClient, 'pods'>, filter: PodFilter = {}): Promise<Output> => {
  const pods = (await agent.pods()).filter((pod) => matches(pod, filter));
  return {
    data: pods,
    tables: [
      {
        head: ['POD', 'NETWORK', 'INTERFACE', 'ADDRESSES', 'MAC', 'OVS PORT', 'STATE'],
        rows: pods.flatMap(rows),
        empty: 'no pods',
      },
    ],
  };
};

const matches = (pod: PodStatus, { namespace, network }: PodFilter): boolean =>
  (namespace === undefined || pod.namespace === namespace) &&
  (network === undefined || pod.attachments.some((one) => one.network === network || one.nad === network));

const rows = (pod: PodStatus): string[][] => {
  const name = `${pod.namespace}/${pod.name}`;
  const state = pod.message === undefined ? pod.state : `${pod.state}: ${pod.message}`;
  if (pod.attachments.length === 0) return [[name, '', '', '', '', '', state]];
  return pod.attachments.map((attachment, index) => [
    index === 0 ? name : '',
    attachment.network,
    attachment.interface,
    attachment.addresses.join('\n'),
    attachment.mac ?? '',
    attachment.hostInterface ?? '',
    index === 0 ? state : attachment.role,
  ]);
};
