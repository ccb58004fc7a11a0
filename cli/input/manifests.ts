/** Reads manifests from files, folders and standard input: multi-document YAML, or JSON, which is YAML. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseAllDocuments } from 'yaml';
import type { Diagnostic } from '../../agent/model/fragment.ts';
import { messageOf } from '../../base/error-message.ts';
import { CliError } from '../errors.ts';

export interface Manifests {
  /** In the order of the paths and of their documents; lists (`kind: List`) are taken apart. */
  readonly objects: readonly unknown[];
  /** Documents that are no YAML: all others are used. */
  readonly diagnostics: readonly Diagnostic[];
}

/** @param paths of files and folders; `-` is standard input @throws CliError for what can't be opened */
export const readManifestFiles = async (paths: readonly string[]): Promise<Manifests> => {
  const files = (await Promise.all(paths.map(filesOf))).flat();
  const read = await Promise.all(files.map(async (file) => parseManifests(await contentOf(file), file)));
  return {
    objects: read.flatMap(({ objects }) => objects),
    diagnostics: read.flatMap(({ diagnostics }) => diagnostics),
  };
};

/** @param name of the file, for what is wrong in it */
export const parseManifests = (content: string, name: string): Manifests => {
  const documents = parseAllDocuments(content, { prettyErrors: true });
  if ('empty' in documents) return { objects: [], diagnostics: [] };
  const objects: unknown[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const [index, document] of documents.entries()) {
    try {
      const [error] = document.errors;
      if (error !== undefined) throw error;
      objects.push(...itemsOf(document.toJS()));
    } catch (error) {
      // Behind the first line is the text around the mistake.
      const [message = ''] = messageOf(error).split('\n');
      diagnostics.push({
        object: `${name} document ${index + 1}`,
        severity: 'error',
        message: `not ${name.endsWith('.json') ? 'JSON' : 'YAML'}: ${message.replace(/:$/, '')}`,
      });
    }
  }
  return { objects, diagnostics };
};

const filesOf = async (path: string): Promise<string[]> => {
  if (path === '-') return [path];
  const found = await stat(path).catch((error: Error) => {
    throw new CliError(error.message);
  });
  if (!found.isDirectory()) return [path];
  const names = await readdir(path);
  return names
    .filter((name) => /\.(ya?ml|json)$/.test(name))
    .sort()
    .map((name) => join(path, name));
};

const contentOf = (path: string): Promise<string> =>
  (path === '-' ? text(process.stdin) : readFile(path, 'utf8')).catch((error: Error) => {
    throw new CliError(error.message);
  });

/** Items of a list of one kind, such as `PodList`, need not say their kind: an API server leaves it out. */
const itemsOf = (value: unknown): unknown[] => {
  if (value === null || value === undefined) return [];
  if (typeof value !== 'object' || !('items' in value) || !Array.isArray(value.items)) return [value];
  const { apiVersion, kind } = value as { readonly apiVersion?: unknown; readonly kind?: unknown };
  const kindOfItems = typeof kind === 'string' ? /^(.+)List$/.exec(kind)?.[1] : undefined;
  const implied = kindOfItems === undefined ? {} : { apiVersion, kind: kindOfItems };
  return value.items.flatMap((item: unknown) =>
    itemsOf(typeof item === 'object' && item !== null ? { ...implied, ...item } : item),
  );
};
