/** What nodes with real kubelets need of this machine. */
import { readFile } from 'node:fs/promises';
import type { Artifacts } from '../artifacts.ts';
import { ensureKubernetes } from '../kubernetes/build.ts';
import { REAL_KUBELET_PROGRAMS } from '../kubernetes/recipe.ts';
import { imageArchive } from './images.ts';
import { ensureRuntimeTree } from './tree.ts';

export interface RealKubeletParts {
  readonly kubelet: string;
  readonly scheduler: string;
  /** A tree with containerd and crun. */
  readonly runtime: string;
  /** For containerd to import. */
  readonly images: Uint8Array;
}

/** Makes what the cache lacks. @param withDns pods may name `coredns` @throws SandboxError ERR_SANDBOX_MACHINE, Error when something can't be had */
export const ensureRealKubelet = async (
  { root, toolbox }: Pick<Artifacts, 'root' | 'toolbox'>,
  withDns: boolean,
  progress: (message: string) => void,
): Promise<RealKubeletParts> => {
  const programs = await ensureKubernetes(REAL_KUBELET_PROGRAMS, { root, progress });
  const runtime = await ensureRuntimeTree(progress);
  const images = imageArchive(await readFile(toolbox), withDns);
  return { kubelet: programs.kubelet, scheduler: programs['kube-scheduler'], runtime, images };
};
