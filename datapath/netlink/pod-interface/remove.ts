import { DYING_LINK_GROUP } from '../../../api/pod-links.ts';
import { PodInterfaceError } from '../errors.ts';
import type { Kernel, Netns } from '../kernel/types.ts';
import type { Link } from '../link/types.ts';
import { isOurs } from './marks.ts';
import { arePaired } from './paired.ts';
import { isNoNetns } from './require-netns.ts';
import type { PodInterfaceEnd } from './types.ts';

/**
 * Deletes pairs. The kernel takes about 16 ms for a link however few or many there are, so they are first only marked,
 * then all that are marked go at once, in the background: whoever makes links meanwhile does not wait.
 * @throws PodInterfaceError ERR_POD_LINK_FOREIGN when one is not ours; the others are gone then
 */
export const removePodInterfaces = async (kernel: Kernel, ends: readonly PodInterfaceEnd[]): Promise<void> => {
  const foreign: string[] = [];
  const hostNames: string[] = [];
  for (const end of ends) {
    const found = find(kernel, end);
    if (found === 'foreign') foreign.push('hostName' in end ? end.hostName : `${end.name} in ${end.netns}`);
    else if (found !== undefined) hostNames.push(found.hostName);
  }
  if (hostNames.length > 0) {
    mark(kernel, hostNames);
    await kernel.deleteGroup(DYING_LINK_GROUP);
    deleteFilters(kernel, hostNames);
  }
  if (foreign.length > 0) {
    throw new PodInterfaceError('ERR_POD_LINK_FOREIGN', `not deleted, because foreign: ${foreign.join(', ')}`);
  }
};

/**
 * Until Linux 6.15 they go with their link; from 6.16 on they wait for another one of its name. If that is there already,
 * its filter is its own.
 */
const deleteFilters = (kernel: Kernel, hostNames: readonly string[]): void => {
  const node = kernel.netns();
  const gone = hostNames.filter((link) => node.link(link) === undefined);
  const [failure] = node.apply(gone.map((link) => ({ op: 'filter.delete', link })));
  if (failure !== undefined) throw failure.error;
};

type Found = { readonly hostName: string } | 'foreign' | undefined;

const find = (kernel: Kernel, end: PodInterfaceEnd): Found =>
  'hostName' in end ? ours(kernel.netns().link(end.hostName)) : findByPodEnd(kernel, end);

const findByPodEnd = (kernel: Kernel, { netns, name }: { netns: string; name: string }): Found => {
  const pod = openPod(kernel, netns)?.link(name);
  if (pod === undefined) return undefined;
  const node = kernel.netns();
  const host = pod.peer === undefined ? undefined : node.linkByIndex(pod.peer.index);
  return arePaired(host, pod, () => node.netnsid(netns)) ? ours(host) : 'foreign';
};

const ours = (host: Link | undefined): Found => {
  if (host === undefined) return undefined;
  return isOurs(host) ? { hostName: host.name } : 'foreign';
};

const openPod = (kernel: Kernel, path: string): Netns | undefined => {
  try {
    return kernel.netns(path);
  } catch (error) {
    if (isNoNetns(error)) return undefined;
    throw error;
  }
};

/** @throws NetlinkError, but not when the link is gone already */
const mark = (kernel: Kernel, hostNames: readonly string[]): void => {
  const failures = kernel
    .netns()
    .apply(hostNames.map((name) => ({ op: 'link.set', name, change: { group: DYING_LINK_GROUP } })));
  const failure = failures.find(({ error }) => error.code !== 'ENODEV');
  if (failure !== undefined) throw failure.error;
};
