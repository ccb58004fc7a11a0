/** Asks for both ends of a connection: of the agent here, or of the agents of both nodes. */
import type { z } from 'zod';
import type { PolicyEndStatus } from '../../api/policy-status.ts';
import { messageOf } from '../../base/error-message.ts';
import { isIp } from '../../net/ip.ts';
import type { AgentClient } from '../node/agent-client.ts';
import { type NodeTools, nodeOfPod } from '../remote/node-tools.ts';
import { answerOfNode } from './on-node.ts';
import type { AskedPacket } from './packet.ts';
import { type Ends, whySchema } from './why.ts';

export interface Connection {
  /** `namespace/name` */
  readonly from: string;
  /** `namespace/name`, or an address. */
  readonly to: string;
  readonly packet: AskedPacket | undefined;
  /** Name of a secondary network that both are attached to; absent: their own. */
  readonly network?: string | undefined;
}

/** An end whose pod is not on this node is not known here. */
export const endsHere = async (
  agent: Pick<AgentClient, 'policyEnd'>,
  { from, to, packet, network }: Connection,
): Promise<Ends> => ({
  egress: await agent.policyEnd({ pod: from, direction: 'Egress', peer: to, packet, network }),
  ...(!isIp(to) && { ingress: await agent.policyEnd({ pod: to, direction: 'Ingress', peer: from, packet, network }) }),
});

/** An end whose node cannot be asked is not known, and so not allowed. */
export const endsOnNodes = async (tools: NodeTools, connection: Connection): Promise<Ends> => {
  const { from, to } = connection;
  const answers = new Map<string, ReturnType<typeof askNode>>();
  const ask = async (pod: string): ReturnType<typeof askNode> => {
    const node = await nodeOfPod(tools, pod);
    const asked = answers.get(node) ?? askNode(tools, node, connection);
    answers.set(node, asked);
    return await asked;
  };
  const unknownEnd = (end: Pick<PolicyEndStatus, 'pod' | 'direction' | 'peer'>, error: unknown): PolicyEndStatus => ({
    ...{ ...end, verdict: 'unknown', message: messageOf(error), peerAddresses: [], isolatedBy: [], families: [] },
  });
  const [egress, ingress] = await Promise.all([
    ask(from)
      .then((answer) => answer.egress)
      .catch((error: unknown) => unknownEnd({ pod: from, direction: 'Egress', peer: to }, error)),
    isIp(to)
      ? undefined
      : ask(to)
          .then(ingressOf)
          .catch((error: unknown) => unknownEnd({ pod: to, direction: 'Ingress', peer: from }, error)),
  ]);
  return { egress, ingress };
};

type NodeAnswer = z.output<typeof whySchema>;

const ingressOf = ({ ingress }: NodeAnswer): PolicyEndStatus => {
  if (ingress === undefined) throw new Error('its node has not answered for this end');
  return ingress;
};

const askNode = (tools: NodeTools, node: string, { from, to, packet, network }: Connection): Promise<NodeAnswer> => {
  const words = packet === undefined ? [] : [`${packet.protocol}/${packet.port}`];
  const options = ['--output=json', ...(network === undefined ? [] : [`--network=${network}`])];
  return answerOfNode(tools, node, ['policy', 'why', ...options, '--', from, to, ...words], whySchema);
};
