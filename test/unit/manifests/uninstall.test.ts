/** `daemonset/uninstall` runs the commands that exist, with what the installation has: paths, rights, settings and images. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { parseAgentCommand } from '../../../agent/options/options.ts';
import { parseCommand } from '../../../cluster-manager/options.ts';
import { unknownFields } from '../../../kube/testing/known-fields.ts';
import { FOLDER, permission, readKustomization, roleSchema } from './load.ts';

const HERE = join(FOLDER, 'uninstall');

const objectSchema = z.looseObject({ kind: z.string(), metadata: z.looseObject({ name: z.string() }) });
const containerSchema = z.looseObject({
  image: z.string(),
  args: z.array(z.string()).optional(),
  envFrom: z.unknown().optional(),
  volumeMounts: z.unknown().optional(),
  securityContext: z.unknown().optional(),
});
const podSchema = z.looseObject({
  initContainers: z.tuple([containerSchema]).optional(),
  containers: z.tuple([containerSchema]),
  affinity: z.unknown().optional(),
  volumes: z.unknown().optional(),
});
const workloadSchema = z.looseObject({ spec: z.looseObject({ template: z.looseObject({ spec: podSchema }) }) });
const kustomizationSchema = z.looseObject({
  namespace: z.string(),
  resources: z.array(z.string()),
  configMapGenerator: z.unknown(),
  images: z.unknown(),
});

const read = (file: string): string => readFileSync(file, 'utf8');
const kustomization = kustomizationSchema.parse(parse(read(join(HERE, 'kustomization.yaml'))));
const objects = kustomization.resources.flatMap((file) =>
  parseAllDocuments(read(join(HERE, file))).map((document) => objectSchema.parse(document.toJS())),
);
const podOf = (kind: string) => workloadSchema.parse(objects.find((one) => one.kind === kind)).spec.template.spec;
const agentPod = workloadSchema.parse(parse(read(join(FOLDER, 'agent.yaml')))).spec.template.spec;

it.each(objects)('$kind $metadata.name has only fields that Kubernetes knows', (object) =>
  expect(unknownFields(`V1${object.kind}`, object)).toEqual([]),
);

it('has settings and images of the installation, and a namespace that is not deleted with it', () => {
  const { namespace, configMapGenerator, images } = readKustomization();
  expect([kustomization.configMapGenerator, kustomization.images]).toEqual([configMapGenerator, images]);
  expect(kustomization.namespace).not.toBe(namespace);
  expect(objects.filter(({ kind }) => kind === 'Namespace').map(({ metadata }) => metadata.name)).toEqual([
    kustomization.namespace,
  ]);
});

/** It asks no API server: it needs nothing of the kubelet. */
const withoutKubelet = (part: unknown): unknown =>
  Array.isArray(part) ? part.filter((one) => (one as { name?: string }).name !== 'kubelet') : part;

it('cleans nodes where agents ran, with all that they saw of the node', () => {
  const pod = podOf('DaemonSet');
  const [cleanup] = pod.initContainers!;
  const [agent] = agentPod.containers;
  expect(parseAgentCommand(cleanup.args ?? [], {}).kind).toBe('cleanup');
  for (const part of ['image', 'envFrom', 'volumeMounts', 'securityContext'] as const) {
    expect(cleanup[part], part).toEqual(withoutKubelet(agent[part]));
  }
  expect([pod.volumes, pod.affinity]).toEqual([withoutKubelet(agentPod.volumes), agentPod.affinity]);
});

it('cleans Nodes with the rights that it needs, and no other', () => {
  expect(parseCommand(podOf('Job').containers[0].args ?? [], {}).kind).toBe('cleanup');
  const roles = objects.flatMap((one) => roleSchema.safeParse(one).data ?? []);
  const rights = roles.flatMap(({ rules }) =>
    rules.flatMap(({ apiGroups: [group = ''], resources: [resource = ''], verbs }) =>
      verbs.map((verb) => permission(group, resource, verb)),
    ),
  );
  const nodes = (resource: string, verb: string) => permission('', resource, verb);
  expect(rights).toEqual([nodes('nodes', 'list'), nodes('nodes', 'patch'), nodes('nodes/status', 'patch')]);
});
