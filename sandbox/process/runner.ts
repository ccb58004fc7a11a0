/**
 * Who uses a sandbox is large, for example a test, and starts a hundred programs a minute: they are started without a copy of its
 * page tables (ADR 37), which takes 2 ms and in a guest many times that.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openCommandRunner } from '../../datapath/exec/spawn-runner.ts';
import type { BatchRunner } from '../../datapath/exec/types.ts';

let opened: BatchRunner | undefined;

/** The same one for everybody: it keeps no state. Before `make build` it starts programs as Node does. */
export const commandRunner = (): BatchRunner => {
  opened ??= openCommandRunner(ADDONS.find((path) => existsSync(path)));
  return opened;
};

/** Beside the folder of this file's bundle, or in the repository. */
const ADDONS = ['..', '../..'].map((up) => join(import.meta.dirname, up, 'build', 'spawn.node'));
