/** What the cluster manager keeps of a Namespace. */
import { z } from 'zod';
import type { Labels } from '../../api/label-selector.ts';
import { metadataSchema } from '../../api/object.ts';
import { parseWith } from '../../api/parse.ts';

export interface NamespaceFacts {
  readonly name: string;
  readonly labels: Labels;
  readonly isTerminating: boolean;
}

const schema = z.object({ metadata: metadataSchema });

export const namespaceFacts = (object: unknown): NamespaceFacts => {
  const { metadata } = parseWith(schema, object, 'Namespace');
  return { name: metadata.name, labels: metadata.labels, isTerminating: metadata.deletionTimestamp != null };
};
