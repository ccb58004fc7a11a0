import type { Logger } from 'pino';
import type { PodInterfaces } from '../../datapath/netlink/pod-interface/types.ts';
import { systemClock } from '../../kube/clock.ts';
import type { AttachmentRegistry } from '../attachments/registry.ts';
import { FilterKeeper } from './filter-keeper.ts';
import type { OvsPorts } from './ovs-ports.ts';

/** What hears of changes in nftables; nobody before the pods of the node are known. */
export interface FilterWatch {
  keeper?: FilterKeeper;
}

export interface FilterSite {
  readonly registry: Pick<AttachmentRegistry, 'values'>;
  readonly ports: Pick<OvsPorts, 'all'>;
  readonly interfaces: Pick<PodInterfaces, 'keepFilters'>;
  readonly log: Logger;
}

/** Of pods that are plugged already, and from now on. @returns what ends it */
export const keepFilters = async (watch: FilterWatch, site: FilterSite): Promise<Disposable> => {
  const { registry, ports, interfaces, log } = site;
  const keeper = new FilterKeeper({
    pods: () => registry.values(),
    ports,
    interfaces,
    clock: systemClock,
    onRepaired: (links) => log.info({ interfaces: links }, 'frame filters repaired'),
    onError: (error) => log.error({ err: error }, 'frame filters not repaired'),
  });
  watch.keeper = keeper;
  await keeper.keepAll();
  return keeper;
};
