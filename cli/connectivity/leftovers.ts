/** Deletes the namespaces of runs, with all that is in them, and waits until they are gone. */
import { messageOf } from '../../base/error-message.ts';
import { isConflict, isNotFound } from '../../kube/errors.ts';
import { NAMESPACES } from '../../kube/resources.ts';
import type { KubeClient } from '../../kube/types.ts';
import { CliError } from '../errors.ts';
import { RUN_LABEL } from './run.ts';
import { untilObjects } from './until.ts';

/** A network is deleted when the last of its pods is; a node that does not answer holds both up. */
const PATIENCE_MS = 180_000;

/**
 * @param id of one run; undefined: of all
 * @returns the names of the namespaces
 * @throws CliError when they are not gone in time, or may not be deleted
 */
export const deleteLeftovers = async (
  client: Pick<KubeClient, 'delete' | 'list' | 'watch'>,
  id: string | undefined,
  patience: AbortSignal = AbortSignal.timeout(PATIENCE_MS),
): Promise<readonly string[]> => {
  const labelSelector = id === undefined ? RUN_LABEL : `${RUN_LABEL}=${id}`;
  const awaited = { resource: NAMESPACES, labelSelector };
  try {
    const { items } = await client.list(NAMESPACES, { labelSelector }, patience);
    const names = items.map(({ metadata }) => metadata.name).sort();
    await Promise.all(names.map((name) => deleteNamespace(client, name, patience)));
    const remaining = new Set(names);
    await untilObjects(client, awaited, (left) => !left.some(({ metadata }) => remaining.has(metadata.name)), patience);
    return names;
  } catch (error) {
    const why = patience.aborted ? 'their deletion takes too long' : messageOf(error);
    throw new CliError(
      `namespaces with label ${labelSelector} may be left: ${why}; udnctl why network lists what holds a network, udnctl connectivity --cleanup deletes them`,
      2,
    );
  }
};

/** 409: it is being deleted already. */
const deleteNamespace = async (
  client: Pick<KubeClient, 'delete'>,
  name: string,
  signal: AbortSignal,
): Promise<void> => {
  try {
    await client.delete(NAMESPACES, { name }, {}, signal);
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
};
