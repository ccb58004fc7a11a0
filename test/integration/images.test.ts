/** The programs of the images start with exactly the files that the Dockerfile copies. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { copiesOf, entrypointOf, lineageOf, ROOT, readStages, type Stage } from '../../tools/images/dockerfile.ts';

const run = promisify(execFile);
const stages = readStages();
const targets = stages.filter((stage) => entrypointOf([stage]).length > 0);

/** The files of an image below a folder. What comes from the build is taken from where `make build` puts it. */
const assemble = async (lineage: readonly Stage[], root: string): Promise<void> => {
  for (const { from, sources, target } of lineage.flatMap(copiesOf)) {
    for (const source of sources) {
      const path = from === undefined ? source : posix.relative(ROOT, source);
      const name = target.endsWith('/') ? posix.join(target, posix.basename(source)) : target;
      await cp(path, join(root, ROOT, name));
    }
  }
};

it.each(targets.filter(({ name }) => name !== 'udn-ovn'))('$name', async (target) => {
  const lineage = lineageOf(target, stages);
  const root = await mkdtemp(join(tmpdir(), 'image-test-'));
  try {
    await assemble(lineage, root);
    const [program = ''] = entrypointOf(lineage);
    const { stdout } = await run(join(root, program), ['--version'], { env: {}, cwd: '/' });
    expect(stdout).toBe(`${target.name} ${packageJson.version}\n`);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});
