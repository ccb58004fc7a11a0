/** What a cluster has in its guest beside what every guest has. A guest builds and unpacks nothing: it gets it from here. */
import type { Artifacts } from '../artifacts.ts';
import { ensureCoredns } from '../coredns/ensure.ts';
import { ensureKonnectivity } from '../konnectivity/ensure.ts';
import { ensureKubernetes } from '../kubernetes/build.ts';
import { CONTROL_PLANE_PROGRAMS, type KubernetesProgram, REAL_KUBELET_PROGRAMS } from '../kubernetes/recipe.ts';
import type { SandboxOptions } from '../plan/options.ts';
import { ensureRuntimeTree } from '../real-kubelet/tree.ts';

/** Paths on this machine. */
export interface GuestParts {
  /** By name. */
  readonly programs: Readonly<Record<string, string>>;
  /** Folders of this machine's cache, which the sandbox in the guest looks for in its own. */
  readonly cached: readonly string[];
}

export interface NeededParts {
  readonly kubernetes: readonly KubernetesProgram[];
  readonly coredns: boolean;
  readonly konnectivity: boolean;
  /** containerd and crun. */
  readonly runtime: boolean;
}

/** The same that a cluster on this machine asks for (supervisor/cluster.ts). Pure. */
export const neededParts = ({
  api,
  kubelet,
  dns,
  egress,
  programs,
}: Pick<SandboxOptions, 'api' | 'kubelet' | 'dns' | 'egress' | 'programs'>): NeededParts => ({
  kubernetes: [
    ...(api === 'kube' && programs.has('api') ? CONTROL_PLANE_PROGRAMS : []),
    ...(kubelet === 'real' ? REAL_KUBELET_PROGRAMS : []),
  ],
  coredns: dns === 'coredns',
  konnectivity: egress === 'konnectivity',
  runtime: kubelet === 'real',
});

/** Makes what the cache lacks: minutes, once. @throws SandboxError ERR_SANDBOX_MACHINE, Error when something can't be had */
export const ensureParts = async (
  { kubernetes, coredns, konnectivity, runtime }: NeededParts,
  { root }: Pick<Artifacts, 'root'>,
  progress: (message: string) => void,
): Promise<GuestParts> => ({
  programs: {
    ...(kubernetes.length > 0 && (await ensureKubernetes(kubernetes, { root, progress }))),
    ...(coredns && { coredns: await ensureCoredns({ root, progress }) }),
    ...(konnectivity && (await ensureKonnectivity({ root, progress }))),
  },
  cached: runtime ? [await ensureRuntimeTree(progress)] : [],
});
