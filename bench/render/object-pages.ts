/** The API's objects as text: in pages, as an API server sends lists and the agent's reflectors ask for them. */
import { writeFile } from 'node:fs/promises';
import type { KubeObject } from '../../kube/types.ts';

/** As the reflectors have it. */
const PAGE_SIZE = 500;

export const writePages = async (path: string, objects: readonly KubeObject[]): Promise<void> => {
  const pages: string[] = [];
  for (let at = 0; at < objects.length; at += PAGE_SIZE) {
    pages.push(JSON.stringify({ items: objects.slice(at, at + PAGE_SIZE) }));
  }
  await writeFile(path, pages.join('\n'));
};

/** A page is read when its first object is asked for. */
export function* readPages(text: string): Generator<KubeObject, undefined> {
  for (const page of text.split('\n')) yield* (JSON.parse(page) as { readonly items: readonly KubeObject[] }).items;
}
