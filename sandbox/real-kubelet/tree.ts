/** containerd and crun, unpacked from Debian's packages into the user's cache: only nodes with a real kubelet have them. */
import { createHash } from 'node:crypto';
import { unpackArguments } from '../guest/recipe.ts';
import { SUITE } from '../tree/recipe.ts';
import { ensureInCache, mmdebstrap } from '../tree/tree.ts';

/** The CNI plugins are for `loopback`, which containerd before 2.0 runs in every pod. */
const PACKAGES: readonly string[] = ['containerd', 'containernetworking-plugins', 'crun'];

/** Below the nodes' Debian tree, of the same suite, which has what they need beside their own libraries. */
export const ensureRuntimeTree = (progress: (message: string) => void): Promise<string> =>
  ensureInCache(`runtime-${SUITE}-${digest(process.arch)}`, async (draft) => {
    progress('unpacking containerd and crun for real kubelets (once, about ten seconds)');
    await mmdebstrap((mirror) => unpackArguments(PACKAGES, mirror, draft));
  });

const digest = (architecture: string): string =>
  createHash('sha256')
    .update(JSON.stringify([unpackArguments(PACKAGES, '', ''), architecture]))
    .digest('hex')
    .slice(0, 12);
