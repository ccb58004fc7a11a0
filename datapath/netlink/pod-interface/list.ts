import type { Kernel } from '../kernel/types.ts';
import { isOurs } from './marks.ts';
import type { HostEnd } from './types.ts';

/** The node's ends that are ours, sorted by name; with `aliasPrefix` those whose alias begins with it. */
export const listHostEnds = (kernel: Kernel, aliasPrefix?: string): HostEnd[] =>
  kernel
    .netns()
    .links()
    .filter((link) => isOurs(link) && (aliasPrefix === undefined || (link.alias?.startsWith(aliasPrefix) ?? false)))
    .map(({ name, index, alias }) => ({ hostName: name, index, alias }))
    .sort((a, b) => (a.hostName < b.hostName ? -1 : 1));
