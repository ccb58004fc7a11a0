/** Keeps the facts about cgroups of this node: the kubelet's, and those of pods. */
import { readFileSync } from 'node:fs';
import { type Clock, systemClock } from '../../../base/clock.ts';
import type { FactStore } from '../../model/fact-store.ts';
import { type CgroupFact, LOCAL } from '../../model/facts.ts';
import { CgroupTree, type FoundCgroup, type WatchFolder } from './cgroup-tree.ts';
import { Population } from './population.ts';
import { type CgroupRoot, cgroupRoot } from './root.ts';

export interface CgroupsOptions {
  readonly facts: Pick<FactStore, 'set'>;
  /** The kubelet's cgroup below the root of cgroup v2, when it is given and not looked for. */
  readonly kubelet?: string | undefined;
  /** Default: what is mounted. */
  readonly root?: CgroupRoot | undefined;
  /** What is mounted, proc_pid_mountinfo(5). Default: what this process sees. */
  readonly mountinfo?: string;
  /**
   * Called once, until all of them can be: cgroups cannot be watched, and changes are found when everything is read again.
   */
  readonly onUnwatched?: (error: unknown, path: string) => void;
  readonly watch?: WatchFolder;
  readonly clock?: Pick<Clock, 'schedule'>;
}

/** How often everything is read again, as the reconcilers do: events may be lost, and watches may run out. */
const REFRESH_MS = 15_000;

export interface Cgroups {
  /** False: there is no cgroup v2 here that nft could match by. Then no fact is ever set. */
  readonly supported: boolean;
  stop(): void;
}

/** The facts of what is there are set when this returns. */
export const startCgroups = (options: CgroupsOptions): Cgroups => {
  const { mountinfo, root = mountedRoot(mountinfo), clock = systemClock } = options;
  if (root === undefined) return { supported: false, stop: () => {} };
  const unwatched = new Unwatched(options.onUnwatched);
  const { tree, population } = openTree(options, root, (error, path) => unwatched.add(error, path));
  tree.start();
  let cancel = (): void => {};
  const refreshLater = (): void => {
    cancel = clock.schedule(REFRESH_MS, () => {
      unwatched.begin();
      tree.refresh();
      population.refresh();
      unwatched.end();
      refreshLater();
    });
  };
  refreshLater();
  return {
    supported: true,
    stop: () => {
      cancel();
      tree.stop();
      population.stop();
    },
  };
};

/** So that one cause is reported once, and not for each folder and each time. */
class Unwatched {
  readonly #report: CgroupsOptions['onUnwatched'];
  #isReported = false;
  #isSeen = false;

  constructor(report: CgroupsOptions['onUnwatched']) {
    this.#report = report;
  }

  add(error: unknown, path: readonly string[]): void {
    this.#isSeen = true;
    if (!this.#isReported) this.#report?.(error, path.join('/'));
    this.#isReported = true;
  }

  /** Everything is tried again. */
  begin(): void {
    this.#isSeen = false;
  }

  end(): void {
    this.#isReported = this.#isSeen;
  }
}

const openTree = (
  { facts, kubelet, watch }: CgroupsOptions,
  root: CgroupRoot,
  onUnwatched: (error: unknown, path: readonly string[]) => void,
): { readonly tree: CgroupTree; readonly population: Population } => {
  const kubelets = new Map<string, FoundCgroup>();
  const setKubelet = (): void => {
    const [best] = [...kubelets.values()].toSorted(byRank);
    population.follow(best);
    const fact = best && factOf(best, root);
    facts.set('kubeletCgroup', LOCAL, fact && population.isEmpty ? { ...fact, isEmpty: true } : fact);
  };
  const population = new Population({ folder: root.folder, watch, onChange: setKubelet });
  /** Of a pod that moved between qualities of service there are two for a moment: the last one counts. */
  const pods = new Map<string, FoundCgroup>();
  const tree = new CgroupTree({
    folder: root.folder,
    kubelet: kubelet?.split('/'),
    watch,
    onUnwatched,
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
  return { tree, population };
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
