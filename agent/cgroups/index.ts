/** Keeps the facts about cgroups of this node: the kubelet's, and those of pods. */
import { readFileSync } from 'node:fs';
import type { FactStore } from '../model/fact-store.ts';
import { type CgroupFact, LOCAL } from '../model/facts.ts';
import { CgroupTree, type FoundCgroup } from './cgroup-tree.ts';
import { type CgroupRoot, cgroupRoot } from './root.ts';

export interface CgroupsOptions {
  readonly facts: Pick<FactStore, 'set'>;
  /** The kubelet's cgroup below the root of cgroup v2, when it is given and not looked for. */
  readonly kubelet?: string | undefined;
  /** Default: what is mounted. */
  readonly root?: CgroupRoot | undefined;
  /** What is mounted, proc_pid_mountinfo(5). Default: what this process sees. */
  readonly mountinfo?: string;
}

export interface Cgroups {
  /** False: there is no cgroup v2 here that nft could match by. Then no fact is ever set. */
  readonly supported: boolean;
  /** Looks at everything again. Events make it unnecessary, unless some were lost. */
  refresh(): void;
  stop(): void;
}

/** The facts of what is there are set when this returns. */
export const startCgroups = ({ facts, kubelet, mountinfo, root = mountedRoot(mountinfo) }: CgroupsOptions): Cgroups => {
  if (root === undefined) return { supported: false, refresh: () => {}, stop: () => {} };
  const kubelets = new Map<string, FoundCgroup>();
  const setKubelet = (): void => {
    const [best] = [...kubelets.values()].toSorted(byRank);
    facts.set('kubeletCgroup', LOCAL, best && factOf(best, root));
  };
  /** Of a pod that moved between qualities of service there are two for a moment: the last one counts. */
  const pods = new Map<string, FoundCgroup>();
  const tree = new CgroupTree({
    folder: root.folder,
    kubelet: kubelet?.split('/'),
    onFound: (found) => {
      if (found.kind.kind === 'kubelet') {
        kubelets.set(found.path.join('/'), found);
        setKubelet();
      } else {
        pods.set(found.kind.uid, found);
        facts.set('podCgroup', found.kind.uid, factOf(found, root));
      }
    },
    onGone: (gone) => {
      if (gone.kind.kind === 'kubelet') {
        kubelets.delete(gone.path.join('/'));
        setKubelet();
      } else if (pods.get(gone.kind.uid)?.id === gone.id) {
        pods.delete(gone.kind.uid);
        facts.set('podCgroup', gone.kind.uid, undefined);
      }
    },
  });
  tree.start();
  return { supported: true, refresh: () => tree.refresh(), stop: () => tree.stop() };
};

const mountedRoot = (mountinfo = readFileSync('/proc/self/mountinfo', 'utf8')): CgroupRoot | undefined =>
  cgroupRoot(mountinfo);

const factOf = ({ path, id }: FoundCgroup, { prefix }: CgroupRoot): CgroupFact => ({
  path: [...(prefix === '' ? [] : [prefix]), ...path].join('/'),
  level: path.length,
  id,
});

const byRank = (a: FoundCgroup, b: FoundCgroup): number =>
  rankOf(a) - rankOf(b) || a.path.join('/').localeCompare(b.path.join('/'), 'en');

const rankOf = ({ kind }: FoundCgroup): number => (kind.kind === 'kubelet' ? kind.rank : 0);
