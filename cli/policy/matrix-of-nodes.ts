/** The matrix of a namespace from the agents of all nodes with its pods. */
import { z } from 'zod';
import { parseWith } from '../../api/parse.ts';
import { messageOf } from '../../base/error-message.ts';
import { isForbidden, isNotFound } from '../../kube/errors.ts';
import { NAMESPACES, PODS } from '../../kube/resources.ts';
import { CliError } from '../errors.ts';
import type { NodeTools } from '../remote/node-tools.ts';
import { matrixSchema, mergedMatrix, type PolicyMatrix } from './matrix.ts';
import { answerOfNode } from './on-node.ts';
import { type Probed, probedSchema, type Targets } from './probe/connect.ts';

/**
 * @param network a secondary one; undefined: the pods' own
 * @throws CliError for a namespace with more pods than a matrix has
 */
export const matrixOfNodes = async (
  tools: NodeTools,
  namespace: string,
  network?: string,
): Promise<{ readonly matrix: PolicyMatrix; readonly nodes: readonly string[] }> => {
  const { items } = await tools.client.list(PODS, { namespace, limit: MAX_PODS + 1 });
  if (items.length > MAX_PODS)
    throw new CliError(`namespace ${namespace} has more than ${MAX_PODS} pods: ask by udnctl policy why`, 2);
  if (items.length === 0) await requireNamespace(tools, namespace);
  const nodes = new Set(
    items.flatMap((item) => parseWith(podSchema, item, 'a pod of the API server').spec.nodeName ?? []),
  );
  const words = ['policy', 'matrix', '--output=json', ...optionOf(network), '--', namespace];
  const asked = await askAll(tools, [...nodes].sort(), words, matrixSchema);
  const waiting = items.length > 0 && nodes.size === 0 ? [`no pod of namespace ${namespace} has a node yet`] : [];
  return { matrix: mergedMatrix(asked.answers, [...waiting, ...asked.failed]), nodes: [...nodes].sort() };
};

/** The API server lists no pods of a namespace whose name is misspelt. Who may not read namespaces is told of no pods. */
const requireNamespace = async ({ client }: NodeTools, name: string): Promise<void> => {
  try {
    await client.get(NAMESPACES, { name });
  } catch (error) {
    if (isForbidden(error)) return;
    throw isNotFound(error) ? new CliError(`there is no namespace ${name}`, 2) : error;
  }
};

/** From the pods of all these nodes. */
export const probeOnNodes = async (
  tools: NodeTools,
  nodes: readonly string[],
  namespace: string,
  { addresses, ports, network }: Targets,
): Promise<Probed> => {
  const words = [
    ...['policy', 'probe', '--output=json', ...optionOf(network)],
    ...['--', namespace, addresses.join(), ports.join()],
  ];
  const { answers, failed } = await askAll(tools, nodes, words, probedSchema);
  return {
    results: answers.flatMap(({ results }) => results),
    unknown: [...failed, ...answers.flatMap(({ unknown }) => unknown)],
  };
};

const optionOf = (network: string | undefined): string[] => (network === undefined ? [] : [`--network=${network}`]);

const askAll = async <Answer extends z.ZodType>(
  tools: NodeTools,
  nodes: readonly string[],
  words: readonly string[],
  schema: Answer,
): Promise<{ readonly answers: z.output<Answer>[]; readonly failed: string[] }> => {
  const answers: z.output<Answer>[] = [];
  const failed: string[] = [];
  const settled = await Promise.allSettled(nodes.map((node) => answerOfNode(tools, node, words, schema)));
  for (const one of settled)
    if (one.status === 'fulfilled') answers.push(one.value);
    else failed.push(messageOf(one.reason));
  return { answers, failed };
};

/** Completed ones among them have no ends: agents count those that have. */
const MAX_PODS = 200;

const podSchema = z.object({ spec: z.object({ nodeName: z.string().optional() }) });
