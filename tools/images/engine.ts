/** The commands of a container engine that builds an image: the same for docker and for podman, which is buildah inside. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

export const ENGINES = ['docker', 'podman'] as const;
export type Engine = (typeof ENGINES)[number];

export interface EngineBuild {
  readonly engine: Engine;
  readonly name: string;
  readonly tag: string;
  readonly revision: string;
  /** Where the image goes. */
  readonly archive: string;
}

/** One whose daemon answers, or that needs none. Undefined: this machine has none. */
export const findEngine = async (): Promise<Engine | undefined> => {
  for (const engine of ENGINES) {
    try {
      await run(engine, ['info'], { timeout: PATIENCE_MS });
      return engine;
    } catch {
      // Not installed, or a client without its daemon.
    }
  }
  return undefined;
};

const PATIENCE_MS = 10_000;

/** Argument lists, to be run one after the other. `save` of docker 25 and of podman writes an OCI layout. */
export const buildCommands = ({ engine, name, tag, revision, archive }: EngineBuild): string[][] => [
  [
    ...['build', '--target', name, '--tag', `${name}:${tag}`, '--build-arg', `COMMIT=${revision}`],
    ...['--label', `org.opencontainers.image.revision=${revision}`, '.'],
  ],
  ['save', ...(engine === 'podman' ? ['--format', 'oci-archive'] : []), '--output', archive, `${name}:${tag}`],
];

/** Prints dpkg's list of what the image has. */
export const statusCommand = ({ name, tag }: Pick<EngineBuild, 'name' | 'tag'>): string[] => [
  ...['run', '--rm', '--network', 'none', '--entrypoint', 'cat', `${name}:${tag}`, '/var/lib/dpkg/status'],
];
