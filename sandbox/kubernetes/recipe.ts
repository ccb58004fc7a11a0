/** Which programs of Kubernetes are built, of what, and under which name they are kept. Pure. */
import { createHash } from 'node:crypto';
import { SandboxError } from '../errors.ts';

/** By the name of the program, its Go package. Each is a `tool` of go.mod, so that go.sum knows all that it needs. */
export const PACKAGES = {
  etcd: 'go.etcd.io/etcd/server/v3',
  'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
  'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
  'kube-scheduler': 'k8s.io/kubernetes/cmd/kube-scheduler',
  kubectl: 'k8s.io/kubernetes/cmd/kubectl',
  kubelet: 'k8s.io/kubernetes/cmd/kubelet',
} as const;

export type KubernetesProgram = keyof typeof PACKAGES;

/** What a cluster with a real API server needs. */
export const CONTROL_PLANE_PROGRAMS = ['etcd', 'kube-apiserver', 'kube-controller-manager'] as const;

/** What one with real kubelets needs beside it. */
export const REAL_KUBELET_PROGRAMS = ['kube-scheduler', 'kubelet'] as const;

export interface Recipe {
  /** `v1.36.3`. */
  readonly version: string;
  /** The Go toolchain that it is built with, or a newer one: `go1.26.8`. */
  readonly toolchain: string;
  /** Names the programs in the cache. Every change of the recipe makes new ones. */
  readonly key: string;
}

export interface RecipeInput {
  readonly goMod: string;
  readonly goSum: string;
  readonly architecture: string;
}

/** Static, without paths of this machine and without symbols: the same on every machine. */
export const GO_FLAGS: readonly string[] = ['-mod=readonly', '-trimpath', '-buildvcs=false'];

/** @throws SandboxError ERR_SANDBOX_MACHINE when go.mod does not name the versions */
export const recipeOf = ({ goMod, goSum, architecture }: RecipeInput): Recipe => {
  const version = /^(?:require|\t)\s*k8s\.io\/kubernetes (v\S+)/m.exec(goMod)?.[1];
  const toolchain = /^toolchain (go\S+)/m.exec(goMod)?.[1];
  if (version === undefined || toolchain === undefined) {
    throw new SandboxError('ERR_SANDBOX_MACHINE', 'go.mod of the sandbox names no k8s.io/kubernetes or no toolchain');
  }
  const digest = createHash('sha256')
    .update(JSON.stringify([goMod, goSum, GO_FLAGS, linkerFlags(version), architecture]))
    .digest('hex');
  return { version, toolchain, key: `kubernetes-${version}-${digest.slice(0, 12)}` };
};

/** What the programs say of themselves; without it they are v0.0.0-master, which clients can't compare. */
export const linkerFlags = (version: string): string => {
  const [major = '', minor = ''] = version.replace(/^v/, '').split('.');
  const values = { gitVersion: version, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' };
  const settings = Object.entries(values).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`);
  return ['-s', '-w', ...settings].join(' ');
};

/** True when a Go of this version reads the `toolchain` of a go.mod and gets it: since 1.21. @param text of `go version` */
export const switchesToolchains = (text: string): boolean => {
  const [, major, minor] = /\bgo(\d+)\.(\d+)/.exec(text) ?? [];
  return Number(major) > 1 || (Number(major) === 1 && Number(minor) >= 21);
};
