/**
 * Keeps a leader that stood still, stopped or asleep with its machine, from writing when it goes on: another may lead by then, and
 * timers and watches tell it only later. A virtual machine whose clocks stand still with it cannot know; there only the versions
 * help that guarded writes carry.
 */
import { KubeError } from '../errors.ts';
import type { KubeClient } from '../types.ts';

/**
 * The same client, but what changes something throws ERR_KUBE_NOT_LEADING unless `isHeld` is true at that moment. What was sent
 * before the process stood still may arrive late: the time between the deadline of a renewal and the end of the lease is for
 * that.
 */
export const fencedClient = (client: KubeClient, isHeld: () => boolean): KubeClient => {
  const write = async <T>(what: string, send: () => Promise<T>): Promise<T> => {
    if (isHeld()) return await send();
    throw new KubeError('ERR_KUBE_NOT_LEADING', `${what}: the lease may have passed to another`);
  };
  return {
    get: (...args) => client.get(...args),
    list: (...args) => client.list(...args),
    watch: (...args) => client.watch(...args),
    create: (...args) => write(`create ${args[0].plural}`, () => client.create(...args)),
    update: (...args) => write(`update ${args[0].plural}`, () => client.update(...args)),
    patch: (...args) => write(`patch ${args[0].plural}`, () => client.patch(...args)),
    delete: (...args) => write(`delete ${args[0].plural}`, () => client.delete(...args)),
    request: (request, signal) => {
      if (request.method === 'GET') return client.request(request, signal);
      return write(`${request.method} ${request.path}`, () => client.request(request, signal));
    },
    close: () => client.close(),
  };
};
