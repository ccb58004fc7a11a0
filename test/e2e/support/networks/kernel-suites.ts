/** The suites of the host's network stack that need VRF, on the kernel of a node: they skip these tests where there is none. */
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { Sandbox } from '../../../../sandbox/index.ts';

const NODE = 'node-1';
const ROOT = join(import.meta.dirname, '../../../..');
/** The programs and the addon of a node. */
const INSTALLED = '/opt/ovn-udn';
const FOLDER = '/run/kernel-suites';
/** Of tests: the others run on every kernel, and routes of a VRF are as those of the main table. */
const PATTERN = 'VRF|master|takes the port out|renames';

const resultSchema = z.object({ name: z.string(), state: z.string(), errors: z.array(z.string()) });

/** Call it where tests are declared. */
export const kernelSuites = (cluster: () => Sandbox): void => {
  it('netlink and the host’s backend do with VRFs what they should', async () => {
    const program = await bundled(join(import.meta.dirname, 'kernel-suites.inside.ts'));
    // Beside it are the worker that it starts and, one folder up, the addon: as in this repository.
    const install = [
      `mkdir -p ${FOLDER}/dist`,
      `ln -sfn ${INSTALLED}/build ${FOLDER}/build`,
      `ln -sfn ${INSTALLED}/dist/netlink-worker.mjs ${FOLDER}/dist/netlink-worker.mjs`,
      `cat > ${FOLDER}/dist/suites.mjs`,
    ];
    await cluster().node(NODE, ['sh', '-ec', install.join(' && ')], { input: program });
    const run = `${INSTALLED}/bin/node ${FOLDER}/dist/suites.mjs "$1" || true`;
    const { stdout } = await cluster().node(NODE, ['sh', '-c', run, '-', PATTERN]);
    const results = stdout
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => resultSchema.parse(JSON.parse(line)));
    expect(results.filter(({ state }) => state === 'fail')).toEqual([]);
    const passed = results.filter(({ state }) => state === 'pass').map(({ name }) => name);
    expect(passed).toContain('has VRFs, with their tables');
    expect(passed).toContain('brings a network about in its VRF, and then has nothing to do');
    expect(passed.length).toBeGreaterThan(8);
  });
};

const bundled = async (entry: string): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [entry],
    absWorkingDir: ROOT,
    bundle: true,
    write: false,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    alias: { 'vite/module-runner': join(ROOT, 'node_modules/vite/dist/node/module-runner.js') },
    external: ['vite'],
    logLevel: 'error',
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
  });
  return outputFiles[0]?.text ?? '';
};
