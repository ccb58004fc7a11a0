/** Which pod is the agent of a node, and why none of them can be asked. Pure. */
import { z } from 'zod';
import { CliError } from '../errors.ts';
import { named } from '../why/finding.ts';

/** Of the pods of the DaemonSet (daemonset/agent.yaml). */
export const AGENT_SELECTOR = 'app.kubernetes.io/name=udn-agent';
export const AGENT_CONTAINER = 'udn-agent';

export interface AgentPod {
  readonly name: string;
  /** It runs, but is not ready: its answers may be old or incomplete. */
  readonly doubt?: string;
}

/**
 * Of several, as while one replaces another, the one that runs and is ready.
 * @param pods of the node, as the API server has them
 * @throws CliError when none of them runs
 */
export const agentPodOf = (pods: readonly unknown[], node: string): AgentPod => {
  const read = pods.map((pod) => podSchema.parse(pod)).sort((a, b) => rankOf(b) - rankOf(a));
  const [best] = read;
  if (best === undefined) throw new CliError(`no pod of udn-agent is on node ${node}`, 2);
  const { name } = best.metadata;
  const container = containerOf(best);
  if (container?.state?.running === undefined) {
    throw new CliError(`pod ${name}, the agent of node ${node}, does not run: ${reasonOf(best)}`, 2);
  }
  return container.ready ? { name } : { name, doubt: `pod ${name}, the agent of node ${node}, is not ready` };
};

/** For the error message: the nodes that have an agent. @param pods of all nodes */
export const agentlessText = (pods: readonly unknown[], node: string, namespace: string): string => {
  const nodes = pods.flatMap((pod) => podSchema.safeParse(pod).data?.spec.nodeName ?? []);
  const first = `no pod of udn-agent is on node ${node}`;
  return nodes.length === 0
    ? `${first}, nor on any other: namespace ${namespace} has no pod with label ${AGENT_SELECTOR}; --agent-namespace names another namespace`
    : `${first}; agents are on ${named([...new Set(nodes)].sort())}`;
};

const stateSchema = z.object({
  running: z.unknown().optional(),
  waiting: z.object({ reason: z.string().optional(), message: z.string().optional() }).optional(),
  terminated: z.object({ reason: z.string().optional(), exitCode: z.number() }).optional(),
});

const podSchema = z.object({
  metadata: z.object({ name: z.string(), deletionTimestamp: z.string().optional() }),
  spec: z.object({ nodeName: z.string().optional() }).default({}),
  status: z
    .object({
      phase: z.string().optional(),
      reason: z.string().optional(),
      message: z.string().optional(),
      containerStatuses: z
        .array(z.object({ name: z.string(), ready: z.boolean(), state: stateSchema.optional() }))
        .default([]),
    })
    .default({ containerStatuses: [] }),
});
type Pod = z.output<typeof podSchema>;

const containerOf = ({ status }: Pod) => status.containerStatuses.find(({ name }) => name === AGENT_CONTAINER);

const rankOf = (pod: Pod): number => {
  const container = containerOf(pod);
  const isStaying = pod.metadata.deletionTimestamp === undefined;
  return (container?.state?.running === undefined ? 0 : 4) + (container?.ready ? 2 : 0) + (isStaying ? 1 : 0);
};

const reasonOf = (pod: Pod): string => {
  const { waiting, terminated } = containerOf(pod)?.state ?? {};
  const { phase = 'Pending', reason, message } = pod.status;
  if (waiting !== undefined) return words(waiting.reason, waiting.message);
  if (terminated !== undefined) return words(terminated.reason, `exit code ${terminated.exitCode}`);
  return words(reason ?? phase, message);
};

const words = (...parts: readonly (string | undefined)[]): string =>
  parts.filter((part) => part !== undefined && part !== '').join(': ') || 'the kubelet reports no reason';
