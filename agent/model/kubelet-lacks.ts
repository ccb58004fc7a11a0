import type { CgroupFact } from './facts.ts';

/** Why nftables does not know the kubelet by its cgroup: a rule by a cgroup without processes matches nothing. Undefined: it does. */
export const kubeletLacks = (kubelet: CgroupFact | undefined): string | undefined => {
  if (kubelet === undefined) return 'the cgroup of the kubelet was not found';
  return kubelet.isEmpty
    ? `no process is in the cgroup of the kubelet, ${kubelet.path}: it has stopped, or runs in another one`
    : undefined;
};
