/** What agents and the cluster manager leave on a Node, and the patches that remove it. Pure. */
import { NODE_ANNOTATIONS } from '../../api/names.ts';
import { isOurCondition } from '../../api/node-condition.ts';

export interface NodeTraces {
  readonly annotations: readonly string[];
  /** Types. */
  readonly conditions: readonly string[];
}

interface NodeParts {
  readonly annotations: Readonly<Record<string, string>>;
  readonly conditions: readonly { readonly type: string; readonly reason?: string | undefined }[];
}

export const tracesOf = ({ annotations, conditions }: NodeParts): NodeTraces => ({
  annotations: Object.values<string>(NODE_ANNOTATIONS).filter((key) => annotations[key] !== undefined),
  conditions: conditions.filter(({ type, reason }) => isOurCondition(type, reason)).map(({ type }) => type),
});

/** A merge patch, RFC 7386. */
export const annotationsPatch = ({ annotations }: NodeTraces): object => ({
  metadata: { annotations: Object.fromEntries(annotations.map((key) => [key, null])) },
});

/** A strategic merge patch: by type, so that a condition that the kubelet writes meanwhile is kept. */
export const conditionsPatch = ({ conditions }: NodeTraces): object => ({
  status: { conditions: conditions.map((type) => ({ type, $patch: 'delete' })) },
});
