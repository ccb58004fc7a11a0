/**
 * `make images`: every image as an OCI archive in build/images/, by docker or podman where one of them works, and else by this program
 * from Debian's packages. Environment: UDN_IMAGES (names, comma list), UDN_IMAGES_ENGINE (docker, podman or none), UDN_IMAGES_FRESH,
 * SOURCE_DATE_EPOCH.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import packageJson from '../../package.json' with { type: 'json' };
import { type BuiltImage, buildImages } from './build.ts';
import { ENGINES, type Engine, findEngine } from './engine.ts';
import { imageSpecs } from './image-spec.ts';

const FOLDER = 'build/images';

const main = async (): Promise<void> => {
  mkdirSync(FOLDER, { recursive: true });
  const engine = await engineToUse();
  console.error(engine === undefined ? 'building images from Debian packages' : `building images with ${engine}`);
  const built = await buildImages(chosen(), {
    version: packageJson.version,
    revision: revision(),
    epoch: Number(process.env['SOURCE_DATE_EPOCH'] || 0),
    folder: FOLDER,
    engine,
    fresh: isSet(process.env['UDN_IMAGES_FRESH']),
    progress: (text) => console.error(text),
  });
  for (const image of built) console.log(lineOf(image));
};

const chosen = () => {
  const specs = imageSpecs();
  const names = process.env['UDN_IMAGES']?.split(',').filter((name) => name !== '') ?? [];
  const unknown = names.find((name) => !specs.some((spec) => spec.name === name));
  if (unknown !== undefined) {
    throw new Error(`no image ${unknown}: the Dockerfile has ${specs.map(({ name }) => name).join(', ')}`);
  }
  return names.length === 0 ? specs : specs.filter(({ name }) => names.includes(name));
};

const engineToUse = async (): Promise<Engine | undefined> => {
  const { UDN_IMAGES_ENGINE: requested = '' } = process.env;
  if (requested === '') return await findEngine();
  if (requested === 'none') return undefined;
  const known = ENGINES.find((engine) => engine === requested);
  if (known === undefined)
    throw new Error(`UDN_IMAGES_ENGINE must be none or one of ${ENGINES.join(', ')}, not "${requested}"`);
  return known;
};

const isSet = (value: string | undefined): boolean => !['', '0', 'no', 'false'].includes(value ?? '');

const revision = (): string => {
  try {
    return execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return 'unknown';
  }
};

const lineOf = ({ name, archive, size, unpackedSize }: BuiltImage): string =>
  `${name}: ${archive}, ${megabytes(size)}${unpackedSize === undefined ? '' : `, unpacked ${megabytes(unpackedSize)}`}`;

const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
