import { hasSystemCode } from '../errors.ts';

/** The last sandbox that ends removes the folder that all share: one that starts at that moment makes it again. */
export const retryAbsent = async <T>(work: () => Promise<T>, tries = 10): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (tries <= 1 || !hasSystemCode(error, 'ENOENT')) throw error;
    return await retryAbsent(work, tries - 1);
  }
};
