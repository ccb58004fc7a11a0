/** Chromium without a screen, unpacked from Debian's packages into the user's cache: for tests of pages, and their pictures. */
import { createHash } from 'node:crypto';
import { readdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { unpackArguments } from '../guest/recipe.ts';
import { SUITE } from '../tree/recipe.ts';
import { ensureInCache, mmdebstrap } from '../tree/tree.ts';

/** A font, as pages without one are empty. */
const PACKAGES: readonly string[] = ['chromium-headless-shell', 'fonts-dejavu-core'];

/** Drivers of graphics cards, which need half of the disk: without one, pages are drawn by Chromium itself. */
const UNUSED = /^(?:libLLVM|libgallium|libz3)|^libVkLayer/;

/** Counts changes of what is made out of the packages. */
const REVISION = 1;

export const ensureChromium = (progress: (message: string) => void): Promise<string> =>
  ensureInCache(`chromium-${SUITE}-${digest(process.arch)}`, async (draft) => {
    progress('unpacking a headless Chromium (once, 174 MB, about half a minute)');
    await mmdebstrap((mirror) => unpackArguments(PACKAGES, mirror, draft));
    // Unpacked and not installed: the links of a merged /usr are made by a script of base-files.
    for (const name of ['bin', 'lib', 'lib64']) await symlink(`usr/${name}`, join(draft, name));
    await removeUnused(draft);
  });

const removeUnused = async (tree: string): Promise<void> => {
  const files = await readdir(join(tree, 'usr/lib'), { recursive: true });
  const unused = files.filter((file) => UNUSED.test(file.split('/').at(-1) ?? ''));
  await Promise.all(unused.map((file) => rm(join(tree, 'usr/lib', file))));
};

/** The newest version of the suite when it was unpacked: nothing is said of another one. */
const digest = (architecture: string): string =>
  createHash('sha256')
    .update(JSON.stringify([unpackArguments(PACKAGES, '', ''), architecture, REVISION]))
    .digest('hex')
    .slice(0, 12);
