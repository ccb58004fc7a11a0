/** What the cluster manager does, as JSON lines. */
import type { Logger } from 'pino';
import { isForbidden, isMoot } from '../kube/errors.ts';
import type { ManagerObservation } from './controllers/manager.ts';

/** One line per thing that an operator may want to know; what goes well again and again is for debugging. */
export const createObservationLog = (log: Logger): ((observation: ManagerObservation) => void) => {
  const modules = new Map<string, Logger>();
  // Once each: there are thousands of observations in a second.
  const moduleLog = (module: string, resource?: string): Logger => {
    const key = resource === undefined ? module : `${module} ${resource}`;
    const known = modules.get(key) ?? log.child({ module, ...(resource !== undefined && { resource }) });
    modules.set(key, known);
    return known;
  };
  return (observation) => logObservation(log, moduleLog, observation);
};

const logObservation = (
  log: Logger,
  moduleLog: (module: string, resource?: string) => Logger,
  observation: ManagerObservation,
): void => {
  switch (observation.source) {
    case 'recovered':
      log.info({ problems: observation.problems.length }, 'recovered allocations');
      for (const { object, message } of observation.problems) log.warn({ object, reason: message }, 'conflict found');
      return;
    case 'caught-up':
      log.info('synced with the API server');
      return;
    case 'mirror':
      logMirror(moduleLog('mirror', observation.about.resource), observation.about);
      return;
    case 'writer':
      logWriter(moduleLog('writer'), observation.about);
      return;
    case 'ids':
      logIds(moduleLog('ids'), observation.about);
      return;
    case 'queue':
      logQueue(moduleLog(observation.controller), observation.about);
  }
};

type About<Source extends ManagerObservation['source']> = Extract<
  ManagerObservation,
  { source: Source; about: unknown }
>['about'];

/** Nothing is given out before everything has been read: this program waits, and says for what. */
const NOT_ALLOWED =
  'not allowed to read this resource, nothing is allocated until then: apply daemonset/cluster-manager-rbac.yaml of this version';

const logIds = (log: Logger, about: About<'ids'>): void => {
  if (about.kind === 'freed')
    log.info({ ids: about.ids }, 'ids of deleted networks released: every node has reported their removal');
  else if (about.kind === 'absent') {
    log.warn('NetworkIdPool is not served: ids of deleted networks are reused immediately; apply daemonset/crds/');
  } else if (about.kind === 'lost') {
    log.error({ err: about.error }, 'NetworkIdPool is lost: unassigned ids are released when every node has reported');
  } else log.warn({ err: about.error }, 'NetworkIdPool cannot be read or written: networks without an id wait');
};

const logMirror = (log: Logger, about: About<'mirror'>): void => {
  if (about.kind === 'failed' && isForbidden(about.error)) {
    log.error({ err: about.error, phase: about.phase, retryInMs: about.retryInMs }, NOT_ALLOWED);
  } else if (about.kind === 'absent') {
    log.warn('not served: its CRD is not installed; apply daemonset/crds/');
  } else if (about.kind === 'failed') {
    log.warn({ err: about.error, phase: about.phase, retryInMs: about.retryInMs }, 'list or watch failed');
  } else if (about.kind === 'bad') log.warn({ key: about.key, reason: about.reason.message }, 'invalid object');
  else if (about.kind === 'handler-failed') log.error({ key: about.key, err: about.error }, 'event handler failed');
  else if (about.kind === 'listed') log.info({ items: about.items, milliseconds: about.milliseconds }, 'listed');
  else if (about.kind === 'relist') log.info({ reason: about.reason }, 'relisting');
};

const logWriter = (log: Logger, about: About<'writer'>): void => {
  const object = { resource: about.resource.plural, key: about.key };
  if (about.kind === 'retrying')
    log.warn({ ...object, err: about.error, retryInMs: about.retryInMs }, 'write failed, retrying');
  else if (about.kind === 'failed' && !isMoot(about.error)) log.error({ ...object, err: about.error }, 'write failed');
  else log.debug(object, about.kind);
};

const logQueue = (log: Logger, about: About<'queue'>): void => {
  if (about.kind === 'failed')
    log.error({ key: about.key, err: about.error, retryInMs: about.retryInMs }, 'reconcile failed');
  else log.debug({ key: about.key, milliseconds: about.milliseconds }, 'reconciled');
};
