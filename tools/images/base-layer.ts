/** The lowest layer of an image without a container engine: a minimal Debian with packages, from this machine's mirror. */
import { createHash } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OPTIONS, SUITE } from '../../sandbox/tree/recipe.ts';
import { ensureInCache, mmdebstrap } from '../../sandbox/tree/tree.ts';
import { digestOf, type Layer, layerOf } from './layer.ts';

export interface BaseLayer {
  readonly layer: Layer;
  /** `/var/lib/dpkg/status`, which lists what is installed. */
  readonly status: string;
}

/**
 * The cache keeps it under what it is made of, and is then as old as when it was made: with `UDN_IMAGES_FRESH` it is made again, from
 * the packages that the mirror has now. @throws Error when it can't be made
 */
export const ensureBaseLayer = async (
  packages: readonly string[],
  {
    epoch,
    fresh,
    progress,
  }: { readonly epoch: number; readonly fresh: boolean; readonly progress: (text: string) => void },
): Promise<BaseLayer> => {
  const name = `image-${SUITE}-${keyOf([...packages, String(epoch), process.arch])}${fresh ? `-${Date.now()}` : ''}`;
  const folder = await ensureInCache(name, async (draft) => {
    progress(`installing ${packages.length === 0 ? 'a minimal Debian' : packages.join(', ')} (once, about a minute)`);
    const archive = join(draft, 'root.tar');
    await mmdebstrap((mirror) => baseArguments(packages, mirror, draft), { SOURCE_DATE_EPOCH: String(epoch) });
    const { content, diffId, uncompressedSize } = await layerOf(await readFile(archive));
    await writeFile(join(draft, 'layer.tar.gz'), content);
    await writeFile(join(draft, 'layer.json'), JSON.stringify({ diffId, uncompressedSize }));
    await rm(archive);
  });
  const [content, facts, status] = await Promise.all([
    readFile(join(folder, 'layer.tar.gz')),
    readFile(join(folder, 'layer.json'), 'utf8'),
    readFile(join(folder, 'status'), 'utf8'),
  ]);
  if (fresh) await rm(folder, { recursive: true });
  const known = JSON.parse(facts) as Pick<Layer, 'diffId' | 'uncompressedSize'>;
  return { layer: { ...known, content, digest: digestOf(content) }, status };
};

const keyOf = (parts: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify([...parts, baseArguments([], '', '')]))
    .digest('hex')
    .slice(0, 12);

/** mmdebstrap(1): bit by bit the same archive for the same packages and SOURCE_DATE_EPOCH. @param folder for `root.tar` and `status` */
export const baseArguments = (packages: readonly string[], mirror: string, folder: string): string[] => [
  ...OPTIONS,
  ...(packages.length === 0 ? [] : [`--include=${packages.join(',')}`]),
  // Of the machine that builds: its mirror, its name, its resolvers.
  '--customize-hook=rm -f "$1/etc/apt/sources.list" "$1/etc/hostname" "$1/etc/resolv.conf"',
  `--customize-hook=cp "$1/var/lib/dpkg/status" "${folder}/status"`,
  '--format=tar',
  SUITE,
  `${folder}/root.tar`,
  mirror,
];
