/** Reports which objects of the input nothing is rendered from, although a cluster's networks depend on them. */
import { z } from 'zod';
import type { Diagnostic } from '../../agent/model/fragment.ts';
import { UNENFORCED_POLICIES } from '../../api/policy.ts';

/** Kinds that are valid input and that no feature reads. */
const KINDS: ReadonlySet<string> = new Set(UNENFORCED_POLICIES.map(({ kind }) => kind));

const schema = z.object({
  kind: z.string(),
  metadata: z.object({ namespace: z.string().optional(), name: z.string() }),
});

export const passedOver = (objects: readonly unknown[]): Diagnostic[] =>
  objects.flatMap((object): Diagnostic[] => {
    const { data } = schema.safeParse(object);
    if (data === undefined || !KINDS.has(data.kind)) return [];
    const { kind, metadata } = data;
    const name = [kind, ...(metadata.namespace === undefined ? [] : [metadata.namespace]), metadata.name].join('/');
    return [{ object: name, severity: 'info', message: `is ignored: ${kind} is not supported by render yet` }];
  });
