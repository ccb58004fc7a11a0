/** Programs of the benchmarks that run on a simulated node: bundles, as a node sees no sources. */
import { join } from 'node:path';
import { build } from 'esbuild';
import { OPT } from '../sandbox/machine/node-root.ts';
import { BUNDLE } from '../tools/lean-bundle.ts';

const ROOT = join(import.meta.dirname, '..');
/** Nodes see `build` below `OPT`. */
const FOLDER = join('build', 'bench');

/** Built as the agent is, with the netlink worker beside it. @returns where a node finds it */
export const nodeProgram = async (name: string, entry: string): Promise<string> => {
  await build({
    entryPoints: [
      { out: name, in: join(ROOT, entry) },
      { out: 'netlink-worker', in: join(ROOT, 'datapath/netlink/worker/netlink-worker.ts') },
    ],
    outdir: join(ROOT, FOLDER),
    ...BUNDLE,
  });
  return join(OPT, FOLDER, `${name}.mjs`);
};
