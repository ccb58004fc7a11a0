import type { Logger } from 'pino';
import { systemClock } from '../../base/clock.ts';
import type { AgentMetrics } from '../metrics/metrics.ts';
import type { DriftWatch } from '../status/drift-watch.ts';
import type { CniHandler } from './handler.ts';
import { LinkKeeper, type LinkKeeperOptions } from './link-keeper.ts';

export interface LinkSite extends Pick<LinkKeeperOptions, 'ports' | 'netlink'> {
  readonly handler: Pick<CniHandler, 'isBusy'>;
  readonly metrics: Pick<AgentMetrics, 'repaired'>;
  readonly drift: Pick<DriftWatch, 'repaired'>;
  readonly log: Logger;
}

/** Of pods that are plugged already, and from now on. @returns what ends it */
export const keepLinks = async ({ ports, netlink, handler, metrics, drift, log }: LinkSite): Promise<Disposable> => {
  const keeper = new LinkKeeper({
    ports,
    netlink,
    isBusy: (sandbox) => handler.isBusy(sandbox),
    clock: systemClock,
    onRaised: (links) => {
      log.warn({ interfaces: links }, 'links of pods were down: set up again');
      metrics.repaired('host');
      drift.repaired('host');
    },
    onError: (error) => log.error({ err: error }, 'links of pods not set up again'),
  });
  await keeper.start();
  return keeper;
};
