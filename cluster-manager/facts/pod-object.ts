/**
 * What is read of a Pod as the API server sends it. There are more of them than of anything else, so one of the usual
 * shape is read without the schema, which has the last word on every other.
 */
import { z } from 'zod';
import { metadataSchema } from '../../api/object.ts';
import { parseWith } from '../../api/parse.ts';
import { map, namespacedMeta, nullish, text, usual, yesOrNo } from '../../api/usual.ts';

/** `podIPs` as the kubelet says them, unread: of most pods nobody asks. */
export const podSchema = z.object({
  metadata: metadataSchema.extend({ namespace: z.string() }),
  spec: z.object({ nodeName: z.string().nullish(), hostNetwork: z.boolean().nullish() }).nullish(),
  status: z.object({ phase: z.string().nullish(), podIPs: z.unknown().optional() }).nullish(),
});

export type PodObject = z.output<typeof podSchema>;

/** @throws ApiError */
export const parsePod = (object: unknown): PodObject => usualPod(object) ?? parseWith(podSchema, object, 'Pod');

/** @returns undefined for what the schema has to decide: everything that it would refuse, and what is seldom */
export const usualPod = usual((value): PodObject => {
  const { metadata, spec, status } = map(value);
  return {
    metadata: namespacedMeta(metadata),
    spec: nullish(spec, (one) => {
      const { nodeName, hostNetwork } = map(one);
      return { nodeName: nullish(nodeName, text), hostNetwork: nullish(hostNetwork, yesOrNo) };
    }),
    status: nullish(status, (one) => {
      const { phase, podIPs } = map(one);
      return { phase: nullish(phase, text), podIPs };
    }),
  };
});
