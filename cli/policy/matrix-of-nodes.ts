/** The matrix of a namespace from the agents of all nodes with its pods. */
import { z } from 'zod';
import { parseWith } from '../../api/parse.ts';
import { messageOf } from '../../base/error-message.ts';
import { PODS } from '../../kube/resources.ts';
import { CliError } from '../errors.ts';
import type { NodeTools } from '../remote/node-tools.ts';
import { matrixSchema, mergedMatrix, type PolicyMatrix } from './matrix.ts';
import { answerOfNode } from './on-node.ts';

/** @throws CliError for a namespace with more pods than a matrix has */
export const matrixOfNodes = async (tools: NodeTools, namespace: string): Promise<PolicyMatrix> => {
  const { items } = await tools.client.list(PODS, { namespace, limit: MAX_PODS + 1 });
  if (items.length > MAX_PODS)
    throw new CliError(`namespace ${namespace} has more than ${MAX_PODS} pods: ask by udnctl policy why`, 2);
  const nodes = new Set(
    items.flatMap((item) => parseWith(podSchema, item, 'a pod of the API server').spec.nodeName ?? []),
  );
  const words = ['policy', 'matrix', '--output=json', '--', namespace];
  const answers = await Promise.all(
    [...nodes]
      .sort()
      .map((node) =>
        answerOfNode(tools, node, words, matrixSchema).catch((error: unknown) => ({ failed: messageOf(error) })),
      ),
  );
  const failed = answers.flatMap((answer) => ('failed' in answer ? answer.failed : []));
  return mergedMatrix(
    answers.flatMap((answer) => ('failed' in answer ? [] : answer)),
    failed,
  );
};

/** Completed ones among them have no ends: agents count those that have. */
const MAX_PODS = 200;

const podSchema = z.object({ spec: z.object({ nodeName: z.string().optional() }) });
