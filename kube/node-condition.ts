/** One condition of a Node, as the API server has it now. */
import { z } from 'zod';
import { NODES } from './resources.ts';
import type { KubeClient } from './types.ts';

export interface NodeConditionFacts {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
  /** Last transition; empty: not said. */
  readonly since: string;
}

const nodeSchema = z.object({
  status: z.object({
    conditions: z
      .array(
        z.object({
          type: z.string(),
          status: z.string(),
          reason: z.string().default(''),
          message: z.string().default(''),
          lastTransitionTime: z.string().nullish(),
        }),
      )
      .default([]),
  }),
});

/** Undefined: the Node has no such condition, or it is Unknown. @throws KubeError */
export const readNodeCondition = async (
  client: Pick<KubeClient, 'get'>,
  node: string,
  type: string,
  signal: AbortSignal,
): Promise<NodeConditionFacts | undefined> => {
  const parsed = nodeSchema.safeParse(await client.get(NODES, { name: node }, signal));
  const found = parsed.data?.status.conditions.find((one) => one.type === type);
  if (found === undefined || (found.status !== 'True' && found.status !== 'False')) return undefined;
  const { status, reason, message, lastTransitionTime } = found;
  return { status, reason, message, since: lastTransitionTime ?? '' };
};
