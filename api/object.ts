/** What every Kubernetes object has, as far as we read it. */
import { z } from 'zod';

const ownerReferenceSchema = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  name: z.string(),
  uid: z.string(),
  controller: z.boolean().optional(),
  blockOwnerDeletion: z.boolean().optional(),
});

const stringMap = z
  .record(z.string(), z.string())
  .nullish()
  .transform((map): Readonly<Record<string, string>> => map ?? {});

const list = <Item extends z.ZodType>(item: Item) =>
  z
    .array(item)
    .nullish()
    .transform((items): readonly z.output<Item>[] => items ?? []);

export const metadataSchema = z.object({
  name: z.string().min(1),
  namespace: z.string().optional(),
  uid: z.string().optional(),
  generation: z.number().optional(),
  resourceVersion: z.string().optional(),
  creationTimestamp: z.string().nullish(),
  deletionTimestamp: z.string().nullish(),
  labels: stringMap,
  annotations: stringMap,
  finalizers: list(z.string()),
  ownerReferences: list(ownerReferenceSchema),
});

export type ObjectMeta = z.output<typeof metadataSchema>;

/** What an error or a diagnostic calls an object. */
export interface ObjectRef {
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** `UserDefinedNetwork ns/name`, `Node n1` */
export const describeRef = ({ kind, namespace, name }: ObjectRef): string =>
  `${kind} ${namespace === undefined || namespace === '' ? '' : `${namespace}/`}${name}`;

// Once and not for each object: a schema is compiled when it is first used.
const namedSchema = z.object({ metadata: z.object({ name: z.string(), namespace: z.string().optional() }) });

/** The reference of an object that may be anything, for the error that says so. */
export const refOf = (kind: string, value: unknown): ObjectRef => {
  const result = namedSchema.safeParse(value);
  return result.success ? { kind, ...result.data.metadata } : { kind, name: '(without a name)' };
};

/** The order in which things are given out: oldest first, then by namespace and name. */
export const compareByAge = (a: ObjectMeta, b: ObjectMeta): number =>
  compareText(a.creationTimestamp ?? '', b.creationTimestamp ?? '') ||
  compareText(a.namespace ?? '', b.namespace ?? '') ||
  compareText(a.name, b.name);

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
