/** What a cgroup is by its path below the root: a kubelet's, a pod's, or one below which these may be. */

export type CgroupKind =
  /** The smallest rank wins where there are several. */
  | { readonly kind: 'kubelet'; readonly rank: number }
  | { readonly kind: 'pod'; readonly uid: string }
  | { readonly kind: 'folder' };

/** Units in whose cgroup a kubelet runs, the most specific first. In k3s and its relatives it is a part of one process. */
const KUBELET_UNITS: readonly string[] = [
  'kubelet.service',
  'k3s.service',
  'k3s-agent.service',
  'rke2-server.service',
  'rke2-agent.service',
  'k0sworker.service',
  'k0scontroller.service',
  'snap.kubelet-eks.daemon.service',
  'snap.microk8s.daemon-kubelite.service',
];

/**
 * @param path names from the root on @param kubelet a path that is the kubelet's whatever it is called; then no other is
 * @returns undefined: neither this nor anything below it is looked at
 */
export const classifyCgroup = (path: readonly string[], kubelet?: readonly string[]): CgroupKind | undefined => {
  const name = path.at(-1) ?? '';
  if (path.length > MAX_DEPTH || !path.every(isPlainName)) return undefined;
  if (kubelet !== undefined) {
    if (path.join('/') === kubelet.join('/')) return { kind: 'kubelet', rank: 0 };
    if (path.every((part, index) => part === kubelet[index])) return { kind: 'folder' };
  } else if (KUBELET_UNITS.includes(name)) return { kind: 'kubelet', rank: KUBELET_UNITS.indexOf(name) };
  if (path.slice(0, -1).some(isKubepods)) {
    const uid = podUid(name);
    if (uid !== undefined) return { kind: 'pod', uid };
  }
  return isFolder(name) ? { kind: 'folder' } : undefined;
};

const MAX_DEPTH = 8;

/** What nft can read between quotes; the kubelet and systemd use no other. */
const isPlainName = (name: string): boolean => /^[\w.@:-]+$/.test(name) && !/^\.+$/.test(name);

/**
 * Slices of systemd, and what the kubelet's cgroupfs driver makes. Not those of users and of virtual machines and
 * containers (systemd.special(7)): whoever may make cgroups there must not be able to pass for a kubelet.
 */
const isFolder = (name: string): boolean =>
  (name.endsWith('.slice') && name !== 'user.slice' && name !== 'machine.slice') ||
  ['kubelet', 'kubepods', 'burstable', 'besteffort'].includes(name);

/** `kubepods`, `kubepods.slice`, and below a kubelet with a root of its own (kind) `kubelet-kubepods.slice`. */
const isKubepods = (name: string): boolean => name === 'kubepods' || /^(.+-)?kubepods\.slice$/.test(name);

/**
 * `pod<uid>` (driver cgroupfs), `kubepods-burstable-pod<uid with _>.slice` (driver systemd). The UID of a static pod is a
 * hash without dashes.
 */
const podUid = (name: string): string | undefined => {
  const [, plain, escaped] = /^(?:pod([\w-]+)|(?:.+-)?pod([0-9a-zA-Z_]+)\.slice)$/.exec(name) ?? [];
  return plain ?? escaped?.replaceAll('_', '-');
};
