/** What the agent does, as JSON lines: one per thing that an operator may want to know. */
import type { Logger } from 'pino';
import { isMoot } from '../kube/errors.ts';
import type { ReflectorObservation } from '../kube/reflector/types.ts';
import type { WriterObservation } from '../kube/writer/types.ts';
import type { DatabaseName, DatabaseObservation } from './databases/database.ts';
import type { DatapathBackend } from './reconcile/node-datapath.ts';
import type { LoopObservation } from './reconcile/reconcile-loop.ts';

export const logDatabase = (log: Logger, database: DatabaseName, observation: DatabaseObservation): void => {
  const child = log.child({ module: 'ovsdb', database });
  if (observation.kind === 'unsupported') {
    const { table, column } = observation.what;
    child.warn({ table, column }, 'not in the schema of the server, skipped');
  } else if (observation.kind === 'state') logState(child, observation.state);
  else logReconciler(child, observation.event);
};

type State = Extract<DatabaseObservation, { kind: 'state' }>['state'];
type ReconcilerEvent = Extract<DatabaseObservation, { kind: 'reconciler' }>['event'];

const logState = (log: Logger, state: State): void => {
  if (state.kind === 'connected') log.info({ remote: state.remote, schema: state.schemaVersion }, 'connected');
  else if (state.kind === 'waiting')
    log.warn({ reason: state.error.message, retryInMs: state.retryInMs }, 'not connected');
};

const logReconciler = (log: Logger, event: ReconcilerEvent): void => {
  switch (event.kind) {
    case 'committed':
      log.debug({ operations: event.operations, owners: event.owners, milliseconds: event.durationMs }, 'committed');
      return;
    case 'failed':
      log.warn({ reason: event.error.message, owners: event.blamed }, 'transaction failed');
      return;
    case 'drift':
      log.info({ unit: event.unit, owners: event.owners }, 'drift found');
      return;
    case 'conflict':
      log.warn({ unit: event.unit, owners: event.owners, reason: event.message }, 'foreign row conflicts');
  }
};

export const logDatapath = (log: Logger, backend: DatapathBackend, observation: LoopObservation): void => {
  const child = log.child({ module: 'datapath', backend });
  if (observation.kind === 'retried') child.debug({ keys: observation.keys }, 'retrying');
  else if (observation.kind === 'failed') child.warn({ err: observation.error }, 'backend does not answer');
  else if (observation.kind === 'drift') {
    const keys = observation.keys === 'all' ? 'all' : [...observation.keys].slice(0, MAX_LOGGED_KEYS);
    child.info({ keys, ...(observation.count !== undefined && { written: observation.count }) }, 'drift found');
  } else if (observation.failed > 0) child.warn(logged(observation), 'some items could not be written');
  else if (observation.written > 0) child.debug(logged(observation), 'written');
};

const MAX_LOGGED_KEYS = 5;

const logged = ({ keys, written, failed, waiting, ms }: Extract<LoopObservation, { kind: 'reconciled' }>) => ({
  keys,
  written,
  failed,
  waiting,
  milliseconds: ms,
});

export const logReflector = (log: Logger, resource: string, observation: ReflectorObservation): void => {
  const child = log.child({ module: 'mirror', resource });
  switch (observation.kind) {
    case 'listed':
      child.info({ items: observation.items, milliseconds: observation.milliseconds }, 'listed');
      return;
    case 'failed':
      child.warn(
        { err: observation.error, phase: observation.phase, retryInMs: observation.retryInMs },
        'list or watch failed',
      );
      return;
    case 'bad':
      child.warn({ key: observation.key, reason: observation.reason.message }, 'invalid object');
      return;
    case 'handler-failed':
      child.error({ key: observation.key, err: observation.error }, 'event handler failed');
      return;
    case 'relist':
      child.info({ reason: observation.reason }, 'relisting');
      return;
    default:
      return;
  }
};

/** As the mirror does where a policy was not held. */
export const logHeldPolicy = (log: Logger, key: string, error: unknown): void =>
  log.child({ module: 'policies' }).error({ key, err: error }, 'event handler failed');

export const logWriter = (log: Logger, observation: WriterObservation): void => {
  const child = log.child({ module: 'writer', resource: observation.resource.plural, key: observation.key });
  if (observation.kind === 'retrying')
    child.warn({ err: observation.error, retryInMs: observation.retryInMs }, 'write failed, retrying');
  else if (observation.kind === 'failed' && !isMoot(observation.error))
    child.error({ err: observation.error }, 'write failed');
};
