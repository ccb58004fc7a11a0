import type { Netlink } from '../netlink.ts';
import { netlinkService } from '../worker/service.ts';
import { FakeKernel } from './fake-kernel.ts';

/**
 * `Netlink` on a kernel in memory, for tests of whoever uses it.
 * @param kernel keeps the state; give it namespaces with `addNetns`, faults with `failOnce`
 */
export const fakeNetlink = (kernel: FakeKernel = new FakeKernel()): Netlink => {
  const service = netlinkService(kernel);
  return {
    read: async (query) => service.read(query),
    apply: async ({ netns, ops }) => kernel.netns(netns).apply(ops),
    watch: (listener) => kernel.watch(listener),
    pods: {
      ensure: async (pod, _signal, onLinked) => service.ensurePod(pod, onLinked),
      raise: async (hostNames) => service.raiseHostEnds(hostNames),
      check: async (pod) => service.checkPod(pod),
      remove: (ends) => service.removePodInterfaces(ends),
      keepFilters: async (filters, needless) => service.keepFilters(filters, needless),
      whyNoFilters: async () => service.whyNoFilters(),
      list: async (aliasPrefix) => service.listHostEnds(aliasPrefix),
    },
    oldestCallAge: () => undefined,
  };
};
