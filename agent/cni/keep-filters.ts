import type { Logger } from 'pino';
import { systemClock } from '../../base/clock.ts';
import type { PodInterfaces } from '../../datapath/netlink/pod-interface/types.ts';
import type { AttachmentRegistry } from './attachments/registry.ts';
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

/**
 * Why the kernel takes no filters, so that no pod can be added. It does not change while the agent runs. Where it is
 * unknown, each ADD will report it.
 */
export const findNoFilters = async (
  interfaces: Pick<PodInterfaces, 'whyNoFilters'>,
  log: Pick<Logger, 'error' | 'warn'>,
): Promise<string | undefined> => {
  try {
    const reason = await interfaces.whyNoFilters();
    if (reason !== undefined) log.error({ reason }, 'no pod can be added to this node');
    return reason;
  } catch (error) {
    log.warn({ err: error }, 'unknown whether the kernel supports frame filters');
    return undefined;
  }
};
