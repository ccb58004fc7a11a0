/** The manifests of `daemonset/` as objects. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';

export const FOLDER = 'daemonset';

const kustomizationSchema = z.object({
  namespace: z.string(),
  resources: z.array(z.string()),
  configMapGenerator: z.array(z.object({ name: z.string(), literals: z.array(z.string()) })),
  images: z.array(z.object({ name: z.string(), newName: z.string(), newTag: z.string() })),
});

const probeSchema = z.object({ httpGet: z.object({ host: z.string(), port: z.string(), path: z.string() }) });

const containerSchema = z.object({
  name: z.string(),
  image: z.string(),
  args: z.array(z.string()),
  env: z.array(z.object({ name: z.string(), valueFrom: z.unknown() })).default([]),
  envFrom: z.array(z.object({ configMapRef: z.object({ name: z.string() }) })),
  ports: z.array(
    z.object({ name: z.string(), containerPort: z.number(), hostPort: z.number(), hostIP: z.string() }).strict(),
  ),
  livenessProbe: probeSchema,
  readinessProbe: probeSchema,
  volumeMounts: z
    .array(
      z.object({
        name: z.string(),
        mountPath: z.string(),
        mountPropagation: z.string().optional(),
        readOnly: z.boolean().optional(),
      }),
    )
    .default([]),
});

export const workloadSchema = z.object({
  kind: z.enum(['DaemonSet', 'Deployment']),
  metadata: z.object({ name: z.string() }),
  spec: z.object({
    replicas: z.number().optional(),
    strategy: z.object({ type: z.string() }).optional(),
    selector: z.object({ matchLabels: z.record(z.string(), z.string()) }),
    template: z.object({
      metadata: z.object({ labels: z.record(z.string(), z.string()) }),
      spec: z.object({
        serviceAccountName: z.string(),
        hostNetwork: z.boolean(),
        containers: z.tuple([containerSchema]),
        volumes: z.array(z.object({ name: z.string(), hostPath: z.object({ path: z.string() }) })).default([]),
      }),
    }),
  }),
});
export type Workload = z.output<typeof workloadSchema>;

const ruleSchema = z
  .object({
    apiGroups: z.array(z.string()),
    resources: z.array(z.string()),
    resourceNames: z.array(z.string()).optional(),
    verbs: z.array(z.string()),
  })
  .strict();

/** Of what serves no objects. */
const pathRuleSchema = z.object({ nonResourceURLs: z.array(z.string()), verbs: z.tuple([z.literal('get')]) }).strict();

/** With its rules about objects alone. */
export const roleSchema = z.object({
  kind: z.enum(['ClusterRole', 'Role']),
  metadata: z.object({ name: z.string() }),
  rules: z
    .array(z.union([ruleSchema, pathRuleSchema]))
    .transform((rules) => rules.flatMap((rule) => ('resources' in rule ? rule : []))),
});

export const bindingSchema = z.object({
  kind: z.enum(['ClusterRoleBinding', 'RoleBinding']),
  roleRef: z.object({ kind: z.enum(['ClusterRole', 'Role']), name: z.string() }),
  subjects: z.array(z.object({ kind: z.literal('ServiceAccount'), name: z.string(), namespace: z.string() })),
});

export interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

const manifestSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.object({ name: z.string() }).loose(),
});

export const readKustomization = (): z.output<typeof kustomizationSchema> =>
  kustomizationSchema.parse(documents('kustomization.yaml')[0]);

/** All objects of the resources that the kustomization names. */
export const readManifests = (): Manifest[] =>
  readKustomization().resources.flatMap((file) => documents(file).map((document) => manifestSchema.parse(document)));

export const readWorkload = (name: string): Workload => {
  const found = readManifests().find(
    ({ kind, metadata }) => (kind === 'DaemonSet' || kind === 'Deployment') && metadata.name === name,
  );
  return workloadSchema.parse(found);
};

/** `group/resource verb`, each combination that the roles of an account allow. */
export const permissionsOf = (account: string): Set<string> => {
  const bound = readManifests()
    .flatMap((one) => bindingSchema.safeParse(one).data ?? [])
    .filter(({ subjects }) => subjects.some(({ name }) => name === account))
    .map(({ roleRef }) => `${roleRef.kind}/${roleRef.name}`);
  const rules = readManifests()
    .flatMap((one) => roleSchema.safeParse(one).data ?? [])
    .filter(({ kind, metadata }) => bound.includes(`${kind}/${metadata.name}`))
    .flatMap((role) => role.rules);
  return new Set(
    rules.flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) => verbs.map((verb) => permission(group, resource, verb))),
      ),
    ),
  );
};

export const permission = (group: string, resource: string, verb: string): string => `${group}/${resource} ${verb}`;

/** Aliases (`*labels`) are resolved. */
const documents = (file: string): unknown[] =>
  parseAllDocuments(readFileSync(join(FOLDER, file), 'utf8')).map((document) => document.toJS() as unknown);
