/** Deletes the namespaces of runs, with all that is in them, and waits until they no longer exist. */
import { messageOf } from '../../base/error-message.ts';
import { isConflict, isNotFound } from '../../kube/errors.ts';
import { NAMESPACES } from '../../kube/resources.ts';
import type { KubeClient, KubeObject } from '../../kube/types.ts';
import { CliError } from '../errors.ts';
import { namespaceName, RUN_ID, RUN_LABEL, type Run, TENANTS } from './run.ts';
import { untilObjects } from './until.ts';

type Client = Pick<KubeClient, 'delete' | 'list' | 'watch'>;

/** A network is deleted when the last of its pods is; a node that does not answer holds both up. */
const PATIENCE_MS = 180_000;

/** No run takes so long, unless --timeout is long: a younger namespace may be in use. */
const RUN_MS = 15 * 60_000;

/**
 * At the end of a run. A request that timed out may have been accepted, and is executed after the first deletion: what appears with
 * the label of the run is deleted, too.
 * @throws CliError when they are not deleted in time, or may not be
 */
export const deleteRun = async (
  client: Client,
  run: Pick<Run, 'id'>,
  patience: AbortSignal = AbortSignal.timeout(PATIENCE_MS),
): Promise<void> => {
  const labelSelector = `${RUN_LABEL}=${run.id}`;
  const asked = new Set<string | undefined>();
  const isNew = ({ metadata }: KubeObject): boolean => !asked.has(metadata.uid);
  const isDone = (left: readonly KubeObject[]): boolean => left.length === 0 || left.some(isNew);
  await explained(labelSelector, patience, async () => {
    await Promise.all(
      TENANTS.map((tenant) => deleteNamespace(client, namespaceName(run, tenant), undefined, patience)),
    );
    for (;;) {
      const left = await untilObjects(client, { resource: NAMESPACES, labelSelector }, isDone, patience);
      if (left.length === 0) return;
      const fresh = left.filter(isNew);
      await Promise.all(fresh.map(({ metadata: { name, uid } }) => deleteNamespace(client, name, uid, patience)));
      for (const { metadata } of fresh) asked.add(metadata.uid);
    }
  });
};

/** Names of namespaces. */
export interface Cleanup {
  readonly deleted: readonly string[];
  /** Perhaps of a run in progress. */
  readonly recent: readonly string[];
  /** With the label, and a name that no run gives. */
  readonly foreign: readonly string[];
}

export interface CleanupOptions {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Recent ones, too. */
  readonly force: boolean;
}

/**
 * What earlier runs have left. The label alone proves nothing: whoever may change a namespace may set it on any, and would have it
 * deleted with the rights of somebody else.
 * @throws CliError when they are not deleted in time, or may not be
 */
export const deleteLeftovers = async (
  client: Client,
  { now, force }: CleanupOptions,
  patience: AbortSignal = AbortSignal.timeout(PATIENCE_MS),
): Promise<Cleanup> =>
  await explained(RUN_LABEL, patience, async () => {
    const { items } = await client.list(NAMESPACES, { labelSelector: RUN_LABEL }, patience);
    const [own, foreign] = split(items, isOfRun);
    const [old, recent] = split(own, (object) => force || isOld(object, now));
    await Promise.all(old.map(({ metadata: { name, uid } }) => deleteNamespace(client, name, uid, patience)));
    const uids = new Set(old.map(({ metadata }) => metadata.uid));
    const isDone = (left: readonly KubeObject[]): boolean => !left.some(({ metadata }) => uids.has(metadata.uid));
    await untilObjects(client, { resource: NAMESPACES, labelSelector: RUN_LABEL }, isDone, patience);
    return { deleted: namesOf(old), recent: namesOf(recent), foreign: namesOf(foreign) };
  });

const split = <T>(items: readonly T[], isFirst: (item: T) => boolean): readonly [readonly T[], readonly T[]] => [
  items.filter(isFirst),
  items.filter((item) => !isFirst(item)),
];

const isOfRun = ({ metadata: { name, labels } }: KubeObject): boolean => {
  const id = labels?.[RUN_LABEL] ?? '';
  return RUN_ID.test(id) && TENANTS.some((tenant) => name === namespaceName({ id }, tenant));
};

/** A missing time is not old. */
const isOld = ({ metadata: { creationTimestamp } }: KubeObject, now: number): boolean =>
  now - Date.parse(creationTimestamp ?? '') >= RUN_MS;

const namesOf = (objects: readonly KubeObject[]): readonly string[] =>
  objects.map(({ metadata }) => metadata.name).sort();

/** @throws CliError with what is left and what helps */
const explained = async <T>(labelSelector: string, patience: AbortSignal, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    const why = patience.aborted ? 'their deletion takes too long' : messageOf(error);
    throw new CliError(
      `namespaces with label ${labelSelector} may be left: ${why}; udnctl why network lists what holds a network, udnctl connectivity --cleanup deletes them after 15 minutes, with --force at once`,
      2,
    );
  }
};

/** 409: it is being deleted already, or another one has its name now. */
const deleteNamespace = async (
  client: Pick<KubeClient, 'delete'>,
  name: string,
  uid: string | undefined,
  signal: AbortSignal,
): Promise<void> => {
  try {
    await client.delete(NAMESPACES, { name }, uid === undefined ? {} : { preconditions: { uid } }, signal);
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
};
