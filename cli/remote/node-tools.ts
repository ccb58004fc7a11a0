/** Runs udnctl in the pod of a node's agent, by the API server: nobody needs an account on the node. */
import { type Clock, systemClock } from '../../base/clock.ts';
import { messageOf } from '../../base/error-message.ts';
import type { PodLogTarget } from '../../kube/client/pod-log.ts';
import { isForbidden, isNotFound, KubeError } from '../../kube/errors.ts';
import type { ExecOutput, PodExec } from '../../kube/exec/types.ts';
import { PODS } from '../../kube/resources.ts';
import type { KubeClient } from '../../kube/types.ts';
import { CliError, UnreachableNodeError } from '../errors.ts';
import { AGENT_CONTAINER, AGENT_SELECTOR, type AgentPod, agentlessText, agentPodOf } from './agent-pods.ts';
import { isUnreachable, whileReachable } from './while-reachable.ts';

/** Of the image (Dockerfile). */
export const UDNCTL_PATH = '/opt/ovn-udn/bin/udnctl';

export interface NodeTools {
  readonly client: Pick<KubeClient, 'get' | 'list'>;
  readonly exec: Pick<PodExec, 'run'>;
  /** The end of a container's log: a small request that the kubelet answers. */
  readonly readLog: (target: PodLogTarget, tailLines: number, signal?: AbortSignal) => Promise<string>;
  /** Where the agents are. */
  readonly namespace: string;
  readonly clock?: Clock;
}

/** The pod to run commands in. @throws CliError that says what is wrong, and which right is missing */
export const findAgentPod = async (
  { client, namespace }: NodeTools,
  node: string,
  signal?: AbortSignal,
): Promise<AgentPod> => {
  const list = async (fieldSelector?: string): Promise<readonly unknown[]> =>
    (await client.list(PODS, { namespace, labelSelector: AGENT_SELECTOR, fieldSelector, limit: MAX_PODS }, signal))
      .items;
  try {
    const pods = await list(`spec.nodeName=${node}`);
    if (pods.length === 0) throw new CliError(agentlessText(await list(), node, namespace), 2);
    return agentPodOf(pods, node);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    throw new CliError(missingRight(error, 'get and list', 'pods', namespace), 2);
  }
};

/** Of more nodes than that nobody reads the names. */
const MAX_PODS = 500;

/**
 * @param command the program and its arguments
 * @returns its exit status
 * @throws UnreachableNodeError within some ten seconds, and CliError when it cannot be run there for another reason
 */
export const runInAgentPod = async (
  { exec, readLog, namespace, clock = systemClock }: NodeTools,
  { name: pod }: AgentPod,
  command: readonly string[],
  output: ExecOutput,
  signal?: AbortSignal,
): Promise<number> => {
  const target = { namespace, pod, container: AGENT_CONTAINER };
  const probe = (probing: AbortSignal): Promise<string> => readLog(target, 1, probing);
  try {
    return await whileReachable({ output, probe, clock, signal }, (noted, ending) =>
      exec.run({ ...target, command }, noted, ending),
    );
  } catch (error) {
    if (isForbidden(error)) throw new CliError(missingRight(error, 'get and create', 'pods/exec', namespace), 2);
    if (isNotFound(error)) throw new CliError(`pod ${pod} was deleted: try again when its replacement runs`, 2);
    if (isUnreachable(error)) throw new UnreachableNodeError(unreachableText(pod, messageOf(error)));
    if (error instanceof KubeError) throw new CliError(`${command[0]} cannot be run: ${messageOf(error)}`, 2);
    throw error;
  }
};

const unreachableText = (pod: string, cause: string): string =>
  `pod ${pod} cannot be reached: ${cause}; udnctl status shows the last report of its node, and which nodes do not reach that node`;

const missingRight = (error: KubeError, verbs: string, resource: string, namespace: string): string =>
  `${messageOf(error)}; udnctl needs the verbs ${verbs} on ${resource} in namespace ${namespace}: bind the Role ovn-udn-node-tools there to whom you trust with the nodes`;

/** On which node a pod is. @param key `namespace/name` @throws CliError */
export const nodeOfPod = async (
  { client }: Pick<NodeTools, 'client'>,
  key: string,
  signal?: AbortSignal,
): Promise<string> => {
  const [namespace = '', name = '', ...more] = key.split('/');
  if (namespace === '' || name === '' || more.length > 0)
    throw new CliError(`a pod is NAMESPACE/NAME, not "${key}"`, 2);
  try {
    const { spec } = await client.get(PODS, { namespace, name }, signal);
    const node = spec !== null && typeof spec === 'object' && 'nodeName' in spec ? spec.nodeName : undefined;
    if (typeof node === 'string' && node !== '') return node;
  } catch (error) {
    if (isNotFound(error)) throw new CliError(`there is no pod ${key}`, 2);
    if (isForbidden(error))
      throw new CliError(`the node of pod ${key} is unknown: ${messageOf(error)}; --node names it`, 2);
    throw error;
  }
  throw new CliError(`pod ${key} has no node yet: udnctl why ${key}`, 2);
};
