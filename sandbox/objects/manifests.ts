/** Kubernetes manifests: YAML or JSON, several documents, lists. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseAllDocuments } from 'yaml';
import { messageOf } from '../../base/error-message.ts';
import { isRecord } from '../../kube/is-record.ts';
import { SandboxError } from '../errors.ts';

export interface ManifestObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name?: string;
    readonly generateName?: string;
    readonly namespace?: string;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

/**
 * The objects of a file, of all manifests right in a folder, or of stdin for `-`.
 * @throws SandboxError ERR_SANDBOX_USAGE with a message that names the file
 */
export const readManifests = async (path: string): Promise<ManifestObject[]> => {
  if (path === '-') return parseManifests(await text(process.stdin), 'stdin');
  try {
    if (!(await stat(path)).isDirectory()) return parseManifests(await readFile(path, 'utf8'), path);
    const files = (await readdir(path)).filter((name) => /\.(ya?ml|json)$/.test(name)).sort();
    const parsed = await Promise.all(files.map((name) => readManifests(join(path, name))));
    return parsed.flat();
  } catch (error) {
    if (error instanceof SandboxError) throw error;
    throw new SandboxError('ERR_SANDBOX_USAGE', messageOf(error), { cause: error });
  }
};

/** @param source for messages */
export const parseManifests = (content: string, source: string): ManifestObject[] =>
  parseAllDocuments(content).flatMap((document) => {
    const [problem] = document.errors;
    if (problem !== undefined) throw new SandboxError('ERR_SANDBOX_USAGE', `${source}: ${problem.message}`);
    const value = contentOf(document, source);
    return value === null ? [] : objectsOf(value, source);
  });

/** An alias without an anchor shows only here. */
const contentOf = (document: { toJS(): unknown }, source: string): unknown => {
  try {
    return document.toJS();
  } catch (error) {
    throw new SandboxError('ERR_SANDBOX_USAGE', `${source}: ${messageOf(error)}`, { cause: error });
  }
};

const objectsOf = (value: unknown, source: string): ManifestObject[] => {
  if (isRecord(value) && Array.isArray(value['items']) && String(value['kind']).endsWith('List')) {
    return value['items'].flatMap((item) => objectsOf(item, source));
  }
  if (isManifest(value)) return [value];
  throw new SandboxError('ERR_SANDBOX_USAGE', `${source}: an object needs apiVersion, kind and metadata.name`);
};

/** What is in a namespace but of these kinds is in `namespace` when it does not say where: as kustomize's `namespace` does. */
export const inNamespace = (objects: readonly ManifestObject[], namespace: string): ManifestObject[] =>
  objects.map((object) =>
    CLUSTER_SCOPED.has(object.kind) ? object : { ...object, metadata: { namespace, ...object.metadata } },
  );

const CLUSTER_SCOPED = new Set(['Namespace', 'CustomResourceDefinition', 'ClusterRole', 'ClusterRoleBinding']);

const isManifest = (value: unknown): value is ManifestObject =>
  isRecord(value) &&
  typeof value['apiVersion'] === 'string' &&
  typeof value['kind'] === 'string' &&
  isRecord(value['metadata']) &&
  (typeof value['metadata']['name'] === 'string' || typeof value['metadata']['generateName'] === 'string');
