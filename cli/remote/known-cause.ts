/** Why a node cannot be reached, as far as the API server knows: what was last written about the node, the root cause first. */
import { z } from 'zod';
import { NETWORK_UNAVAILABLE } from '../../api/node-condition.ts';
import { NODE_NETWORK_REPORTS } from '../../api/resources.ts';
import { messageOf } from '../../base/error-message.ts';
import { reportFacts } from '../../cluster-manager/facts/report-facts.ts';
import { KubeError } from '../../kube/errors.ts';
import { NODES } from '../../kube/resources.ts';
import type { KubeClient, ResourceType } from '../../kube/types.ts';
import { nodeState } from '../cluster/node-state.ts';
import { rowMessage, rowOfFacts } from '../cluster/status-rows.ts';
import { CliError, UnreachableNodeError } from '../errors.ts';

interface Asked {
  readonly client: Pick<KubeClient, 'get'>;
  readonly node: string;
  /** Of udnctl. */
  readonly command: string;
}

/** The error itself, unless the node cannot be reached: then the first line of its message is why. */
export const withKnownCause = async (error: unknown, { client, node, command }: Asked): Promise<unknown> => {
  if (!(error instanceof UnreachableNodeError)) return error;
  const cause = await readKnownCause(client, node);
  const message = cause === undefined ? error.message : `${cause}\nudnctl: ${error.message}`;
  return new CliError(message, ONE_IS_A_FINDING.includes(command) ? 2 : 1);
};

/** Of these 1 is a finding about the node: differences, leftovers, what is missing, a hop without a capture. */
const ONE_IS_A_FINDING: readonly string[] = ['capture', 'diff', 'doctor', 'explain'];

/** What a user may not read explains nothing, and is no error. */
export const readKnownCause = async (client: Pick<KubeClient, 'get'>, name: string): Promise<string | undefined> => {
  const read = (resource: ResourceType): Promise<unknown> =>
    client.get(resource, { name }).catch((error: unknown) => {
      if (error instanceof KubeError) return undefined;
      throw error;
    });
  const [node, report] = await Promise.all([read(NODES), read(NODE_NETWORK_REPORTS)]);
  return knownCause(name, { node, report }, Date.now());
};

export interface LastWritten {
  /** Objects of the API server; undefined: missing, or not readable by this user. */
  readonly node: unknown;
  readonly report: unknown;
}

/** Pure. `node-1: NetworkUnavailable=UplinkNotOnBridge since …`; undefined: nothing explains it. @param now milliseconds since 1970 */
export const knownCause = (name: string, { node, report }: LastWritten, now: number): string | undefined => {
  const cause = networkCause(node) ?? reportedCause(node, report, now) ?? kubeletCause(node);
  return cause === undefined ? undefined : `${name}: ${cause}`;
};

const networkCause = (node: unknown): string | undefined => {
  const found = conditionOf(node, NETWORK_UNAVAILABLE);
  if (found?.status !== 'True') return undefined;
  return `${NETWORK_UNAVAILABLE}=${found.reason}${sinceText(found)}: ${found.message}`;
};

/** While its agent reports, a failure of a component explains more than a kubelet that is silent. */
const reportedCause = (node: unknown, report: unknown, now: number): string | undefined => {
  if (node === undefined || report === undefined) return undefined;
  try {
    return rowMessage(rowOfFacts(nodeState(node), reportFacts(report), now));
  } catch (error) {
    return messageOf(error);
  }
};

const kubeletCause = (node: unknown): string | undefined => {
  const found = conditionOf(node, 'Ready');
  if (found === undefined || found.status === 'True') return undefined;
  return `Ready=${found.status}${sinceText(found)}: ${found.reason}: ${found.message}`;
};

type Condition = z.output<typeof conditionSchema>;

const conditionSchema = z.object({
  ...{ type: z.string(), status: z.string() },
  ...{ reason: z.string().default('no reason'), message: z.string().default('no message') },
  lastTransitionTime: z.string().nullish(),
});

const nodeSchema = z.object({ status: z.object({ conditions: z.array(conditionSchema).default([]) }) });

const conditionOf = (node: unknown, type: string): Condition | undefined =>
  nodeSchema.safeParse(node).data?.status.conditions.find((one) => one.type === type);

const sinceText = ({ lastTransitionTime: at }: Condition): string => (at ? ` since ${at}` : '');
