import { hasCode, PodInterfaceError } from '../errors.ts';
import type { Kernel, Netns } from '../kernel/types.ts';

/** True when there is no namespace at the path: no file, or one that a namespace was mounted on once. */
export const isNoNetns = (error: unknown): boolean => hasCode(error, 'ENOENT', 'EINVAL', 'ENOTDIR');

/** @throws PodInterfaceError ERR_POD_NETNS */
export const requireNetns = (kernel: Kernel, path: string): Netns => {
  try {
    return kernel.netns(path);
  } catch (error) {
    if (!isNoNetns(error)) throw error;
    throw new PodInterfaceError('ERR_POD_NETNS', `${path} is not a network namespace (any more)`, error);
  }
};
