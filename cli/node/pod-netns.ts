/** Looks into the network namespaces of pods, where this process can see them. */
import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { PodStatus } from '../../api/agent-status.ts';
import type { Address } from '../../datapath/netlink/address/types.ts';
import type { Kernel, Netns } from '../../datapath/netlink/kernel/types.ts';
import type { Route } from '../../datapath/netlink/route/types.ts';
import { FAMILIES } from '../../net/ip.ts';

export interface InsideOfPod {
  readonly addresses: readonly Address[];
  /** Of the main table. */
  readonly routes: readonly Route[];
}

export interface PodNetns {
  /** Undefined when no namespace that can be seen is the pod's. */
  read(pod: PodStatus): InsideOfPod | undefined;
  /** Where its network namespace is mounted; undefined as above. */
  pathOf(pod: PodStatus): string | undefined;
}

/** @param paths of network namespaces, see `netnsPaths` */
export const podNetns = (kernel: Kernel, paths: () => Iterable<string>): PodNetns => {
  const find = <Found>(pod: PodStatus, take: (netns: Netns, path: string) => Found): Found | undefined => {
    try {
      for (const path of paths()) {
        const netns = open(kernel, path);
        if (netns !== undefined && isOf(netns, pod)) return take(netns, path);
      }
      return undefined;
    } finally {
      kernel.release();
    }
  };
  return {
    read: (pod) =>
      find(pod, (netns) => ({
        addresses: netns.addresses(),
        routes: FAMILIES.flatMap((family) => netns.routes({ family, table: MAIN_TABLE })),
      })),
    pathOf: (pod) => find(pod, (_, path) => path),
  };
};

const MAIN_TABLE = 254;

const open = (kernel: Kernel, path: string): Netns | undefined => {
  try {
    return kernel.netns(path);
  } catch {
    // It was gone before it could be opened.
    return undefined;
  }
};

/** Tenants may have the same addresses, hence the same MACs: but on the default network nobody has the same. */
const isOf = (netns: Netns, { attachments }: PodStatus): boolean =>
  attachments.length > 0 &&
  attachments.every((one) => one.mac !== undefined && netns.link(one.interface)?.mac === one.mac);

/** Namespaces with a name, and those of processes, each once. */
export function* netnsPaths(): Iterable<string> {
  for (const name of entries('/run/netns')) yield join('/run/netns', name);
  const seen = new Set<string>();
  for (const pid of entries('/proc')) {
    if (!/^[0-9]+$/.test(pid)) continue;
    const path = join('/proc', pid, 'ns/net');
    const id = linkOf(path);
    if (id === undefined || seen.has(id)) continue;
    seen.add(id);
    yield path;
  }
}

const entries = (folder: string): string[] => {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
};

const linkOf = (path: string): string | undefined => {
  try {
    return readlinkSync(path);
  } catch {
    // The process has ended, or is not ours to look at.
    return undefined;
  }
};
