/** Where cgroup v2 is mounted, and how nft names what is in it. */

export interface CgroupRoot {
  /** The mount point: `/sys/fs/cgroup`, or `/sys/fs/cgroup/unified` beside v1. */
  readonly folder: string;
  /** What nft's names begin with: it looks for every path below /sys/fs/cgroup (nft(8), "socket cgroupv2"). */
  readonly prefix: string;
}

const NFT_FOLDER = '/sys/fs/cgroup';

/**
 * @param mountinfo proc_pid_mountinfo(5)
 * @returns undefined when there is none that nft finds, for example because there is only cgroup v1
 */
export const cgroupRoot = (mountinfo: string): CgroupRoot | undefined => {
  const roots = mountinfo.split('\n').flatMap((line): CgroupRoot[] => {
    const [fields = '', type = ''] = line.split(' - ');
    const [, , , root, folder = ''] = fields.split(' ');
    // Another root than `/` is a part of the tree that somebody mounted: levels would be counted wrong.
    if (!type.startsWith('cgroup2 ') || root !== '/') return [];
    if (folder !== NFT_FOLDER && !folder.startsWith(`${NFT_FOLDER}/`)) return [];
    return [{ folder, prefix: folder.slice(NFT_FOLDER.length + 1) }];
  });
  return roots.toSorted((a, b) => a.folder.length - b.folder.length)[0];
};
