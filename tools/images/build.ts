/** Builds images, each as an OCI archive with a list of its content beside it. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SUITE } from '../../sandbox/tree/recipe.ts';
import { ensureBaseLayer } from './base-layer.ts';
import { buildCommands, type Engine, statusCommand } from './engine.ts';
import type { ImageFile, ImageSpec } from './image-spec.ts';
import { digestOf, type Layer, layerOfFiles } from './layer.ts';
import { ociArchive } from './oci.ts';
import { debianComponents, npmComponents, spdx } from './sbom.ts';

export interface BuildSettings {
  /** Of package.json. */
  readonly version: string;
  readonly revision: string;
  /** Seconds since 1970: the time of everything in the images. */
  readonly epoch: number;
  readonly folder: string;
  /** Undefined: without. */
  readonly engine: Engine | undefined;
  /** With packages that the mirror has now, not those of the cache. */
  readonly fresh: boolean;
  readonly progress: (text: string) => void;
}

export interface BuiltImage {
  readonly name: string;
  readonly archive: string;
  /** Of the archive, which is what a registry keeps; and unpacked, where that is known. */
  readonly size: number;
  readonly unpackedSize: number | undefined;
}

export const buildImages = async (specs: readonly ImageSpec[], settings: BuildSettings): Promise<BuiltImage[]> => {
  const layers = new Map<string, Promise<Layer>>();
  const built: BuiltImage[] = [];
  for (const spec of specs) {
    settings.progress(`${spec.name}:${settings.version}`);
    built.push(
      await (settings.engine === undefined
        ? buildOffline(spec, settings, layers)
        : buildBy(settings.engine, spec, settings)),
    );
  }
  return built;
};

const buildOffline = async (
  spec: ImageSpec,
  settings: BuildSettings,
  known: Map<string, Promise<Layer>>,
): Promise<BuiltImage> => {
  const base = await ensureBaseLayer(spec.packages, settings);
  const layers = [base.layer, ...(await Promise.all(spec.layers.map((files) => sharedLayer(files, known))))];
  const { version: tag, revision } = settings;
  const content = ociArchive({
    spec,
    tag,
    architecture: goArchitecture(),
    layers,
    created: createdAt(settings),
    revision,
  });
  const archive = join(settings.folder, `${spec.name}.tar`);
  await writeFile(archive, content);
  await writeSbom(spec, settings, { content, status: base.status });
  const unpackedSize = layers.reduce((total, { uncompressedSize }) => total + uncompressedSize, 0);
  return { name: spec.name, archive, size: content.length, unpackedSize };
};

/** Compressing Node once is enough for all images that have it. */
const sharedLayer = (files: readonly ImageFile[], known: Map<string, Promise<Layer>>): Promise<Layer> => {
  const key = JSON.stringify(files);
  const made = known.get(key) ?? layerOfFiles(files);
  known.set(key, made);
  return made;
};

const run = promisify(execFile);

const buildBy = async (engine: Engine, spec: ImageSpec, settings: BuildSettings): Promise<BuiltImage> => {
  const archive = join(settings.folder, `${spec.name}.tar`);
  const image = { engine, name: spec.name, tag: settings.version, revision: settings.revision, archive };
  for (const args of buildCommands(image)) await run(engine, args, OUTPUT);
  const [{ stdout: status }, content] = await Promise.all([
    run(engine, statusCommand(image), OUTPUT),
    readFile(archive),
  ]);
  await writeSbom(spec, settings, { content, status });
  return { name: spec.name, archive, size: content.length, unpackedSize: undefined };
};

const OUTPUT = { maxBuffer: 64 << 20 };

const writeSbom = async (
  spec: ImageSpec,
  settings: BuildSettings,
  { content, status }: { readonly content: Uint8Array; readonly status: string },
): Promise<void> => {
  const hasNode = spec.layers.flat().some(({ source }) => source.startsWith('node_modules/node/'));
  const lock: unknown = JSON.parse(await readFile('package-lock.json', 'utf8'));
  const components = [...debianComponents(status, SUITE), ...(hasNode ? npmComponents(lock) : [])];
  const subject = {
    name: spec.name,
    version: settings.version,
    digest: digestOf(content),
    created: createdAt(settings),
  };
  await writeFile(
    join(settings.folder, `${spec.name}.spdx.json`),
    `${JSON.stringify(spdx(subject, components), null, 2)}\n`,
  );
};

const createdAt = ({ epoch }: BuildSettings): string => new Date(epoch * 1000).toISOString().replace('.000', '');

const goArchitecture = (): string => (process.arch === 'x64' ? 'amd64' : process.arch);
