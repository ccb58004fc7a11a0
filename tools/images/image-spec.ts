/** What an image is made of, read from the Dockerfile: whoever builds it, it has the same packages and files. Pure. */
import { posix } from 'node:path';
import {
  copiesOf,
  entrypointOf,
  imageStages,
  labelsOf,
  lineageOf,
  packagesOf,
  ROOT,
  readStages,
  type Stage,
  userOf,
} from './dockerfile.ts';

export interface ImageSpec {
  readonly name: string;
  /** Of Debian, beside its base. */
  readonly packages: readonly string[];
  /** One list for each stage, the lowest first: images share the layers of stages that they share. */
  readonly layers: readonly (readonly ImageFile[])[];
  readonly labels: Readonly<Record<string, string>>;
  readonly entrypoint: readonly string[];
  /** Arguments of the entry point where a container has none. */
  readonly command?: readonly string[];
  /** Undefined: root. */
  readonly user: string | undefined;
  readonly workingFolder: string;
}

export interface ImageFile {
  /** In this repository, once it is built. */
  readonly source: string;
  /** In the image, without a slash in front. */
  readonly path: string;
}

export const imageSpecs = (stages: readonly Stage[] = readStages()): ImageSpec[] =>
  imageStages(stages).map((stage) => specOf(stage, lineageOf(stage, stages)));

const specOf = ({ name }: Stage, lineage: readonly Stage[]): ImageSpec => ({
  name,
  packages: packagesOf(lineage),
  layers: lineage.map(filesOf).filter((files) => files.length > 0),
  labels: labelsOf(lineage),
  entrypoint: entrypointOf(lineage),
  user: userOf(lineage),
  workingFolder: ROOT,
});

/** What a stage takes from the build is where `make build` puts it. */
const filesOf = (stage: Stage): ImageFile[] =>
  copiesOf(stage).flatMap(({ from, sources, target }) =>
    sources.map((source) => {
      const path = target.endsWith('/') ? posix.join(target, posix.basename(source)) : target;
      return {
        source: from === undefined ? source : posix.relative(ROOT, source),
        path: posix.join(ROOT, path).slice(1),
      };
    }),
  );
