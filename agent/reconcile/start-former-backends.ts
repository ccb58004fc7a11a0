import type { Logger } from 'pino';
import { systemClock } from '../../base/clock.ts';
import type { Conntrack } from '../../datapath/conntrack/conntrack.ts';
import type { TranslationReader } from '../../datapath/conntrack/translations.ts';
import { whenInstalled } from '../cleanup/when-installed.ts';
import type { Databases } from '../databases/databases.ts';
import { FormerBackends } from './former-backends.ts';

interface Parts {
  readonly databases: Pick<Databases, 'northbound'>;
  readonly conntrack: Conntrack & TranslationReader;
  readonly log: Logger;
}

/** While ovn-controller is away it is asked again: it does not know afterwards what it would have to forget. */
const INSTALLED_MS = 20_000;

export const startFormerBackends = (
  { databases: { northbound }, conntrack, log }: Parts,
  resources: AsyncDisposableStack,
): void => {
  const { session, replica } = northbound;
  const former = new FormerBackends({
    conntrack,
    whenInstalled: (signal) => whenInstalled(session, INSTALLED_MS, signal),
    clock: systemClock,
    onError: (error) => log.warn({ err: error }, 'connections to removed endpoints of Services are not deleted yet'),
  });
  let isKnown = replica.synced;
  resources.defer(
    replica.onUpdate(({ kind, changes }) => {
      // VIPs that were there before this agent are nothing new.
      if (isKnown || kind === 'changed') former.changed(changes);
      isKnown = true;
    }),
  );
  resources.defer(() => former.stop());
};
