/** Manifests by kind, as they come from files: with what an API server would have filled in. */
import { z } from 'zod';
import { ApiError, describeFinding } from '../../api/errors.ts';
import { metadataSchema } from '../../api/object.ts';
import { parseWith } from '../../api/parse.ts';

export interface Manifest {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string | undefined;
    readonly annotations: Readonly<Record<string, string>>;
  } & Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

export interface Diagnostic {
  /** `Pod/ns/name`, `Node/n1` */
  readonly object: string;
  readonly severity: 'error' | 'warning' | 'info';
  readonly message: string;
}

/** Kinds whose objects are in no namespace. */
const CLUSTER_SCOPED = ['Node', 'Namespace', 'ClusterUserDefinedNetwork'];

export const objectName = ({ kind, metadata: { namespace, name } }: Manifest): string =>
  [kind, ...(namespace === undefined ? [] : [namespace]), name].join('/');

/** `namespace/name` or `name` */
export const keyOf = ({ metadata: { namespace, name } }: Manifest): string =>
  namespace === undefined ? name : `${namespace}/${name}`;

export interface ReadManifests {
  readonly manifests: readonly Manifest[];
  readonly diagnostics: readonly Diagnostic[];
}

/** An input that is no object is left out and reported; the default namespace is `default`, as with kubectl. */
export const readManifests = (objects: readonly unknown[]): ReadManifests => {
  const manifests = new Map<string, Manifest>();
  const diagnostics: Diagnostic[] = [];
  for (const [index, object] of objects.entries()) {
    const name = `object ${index + 1} of the input`;
    try {
      const manifest = readManifest(object, name);
      const id = `${String(manifest['apiVersion'])} ${objectName(manifest)}`;
      if (manifests.has(id)) diagnostics.push(repeated(manifest));
      manifests.set(id, manifest);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      diagnostics.push({ object: name, severity: 'error', message: describeFinding(error) });
    }
  }
  return { manifests: [...manifests.values()], diagnostics };
};

/** As if one had been applied after the other. */
const repeated = (manifest: Manifest): Diagnostic => ({
  object: objectName(manifest),
  severity: 'warning',
  message: 'is in the input more than once: using the last one',
});

const readManifest = (object: unknown, name: string): Manifest => {
  const { kind, metadata, ...rest } = parseWith(manifestSchema, object, name);
  const namespace = CLUSTER_SCOPED.includes(kind) ? {} : { namespace: metadata.namespace ?? 'default' };
  return { ...rest, kind, metadata: { ...metadata, ...namespace, annotations: metadata.annotations ?? {} } };
};

/** The facts of a manifest, or what is wrong with it. */
export const readFacts = <Facts>(
  manifest: Manifest,
  project: (object: unknown) => Facts,
): { readonly facts?: Facts; readonly diagnostics: readonly Diagnostic[] } => {
  try {
    return { facts: project(manifest), diagnostics: [] };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const message = describeFinding(error);
    return { diagnostics: [{ object: objectName(manifest), severity: 'error', message }] };
  }
};

export const withAnnotations = (manifest: Manifest, annotations: Readonly<Record<string, string>>): Manifest => ({
  ...manifest,
  metadata: { ...manifest.metadata, annotations: { ...manifest.metadata.annotations, ...annotations } },
});

const manifestSchema = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({
    name: metadataSchema.shape.name,
    namespace: z.string().optional(),
    annotations: z
      .record(z.string(), z.string())
      .nullish()
      .transform((annotations) => annotations ?? {}),
  }),
});
