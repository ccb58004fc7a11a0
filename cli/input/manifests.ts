/** Reads manifests from files, folders and standard input: multi-document YAML, or JSON, which is YAML. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseAllDocuments } from 'yaml';
import { CliError } from '../errors.ts';

/** Documents in the order of the paths; lists (`kind: List`) are taken apart. `-` is standard input. */
export const readManifestFiles = async (paths: readonly string[]): Promise<unknown[]> => {
  const files = (await Promise.all(paths.map(filesOf))).flat();
  const documents = await Promise.all(files.map(async (file) => parseManifests(await contentOf(file), file)));
  return documents.flat();
};

/** @throws CliError for what is no YAML */
export const parseManifests = (content: string, name: string): unknown[] => {
  const documents = parseAllDocuments(content);
  if ('empty' in documents) return [];
  return documents.flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw new CliError(`${name}: ${error.message}`);
    return itemsOf(document.toJS());
  });
};

const filesOf = async (path: string): Promise<string[]> => {
  if (path === '-') return [path];
  const found = await stat(path).catch((error: Error) => {
    throw new CliError(`${path}: ${error.message}`);
  });
  if (!found.isDirectory()) return [path];
  const names = await readdir(path);
  return names
    .filter((name) => /\.(ya?ml|json)$/.test(name))
    .sort()
    .map((name) => join(path, name));
};

const contentOf = (path: string): Promise<string> => (path === '-' ? text(process.stdin) : readFile(path, 'utf8'));

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
