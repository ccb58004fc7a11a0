/** A controller's update of an object, with the same rules as a client's. */
import type { JsonRecord } from '../../is-record.ts';
import type { ServerContext } from '../context.ts';
import { updateObject } from '../verbs/update.ts';
import type { ObjectAddress } from './owners.ts';

/** Absent is success. */
export const rewrite = (
  context: ServerContext,
  { collection, key }: ObjectAddress,
  change: (object: JsonRecord) => JsonRecord,
  subresource?: 'status',
): void => {
  const definition = context.registry.ofCollection(collection);
  const stored = context.store.collection(collection).get(key);
  if (definition === undefined || stored === undefined) return;
  const { namespace, name } = stored;
  const options = { dryRun: false, manager: 'controller', force: false, fieldValidation: 'Ignore' } as const;
  updateObject(context, { definition, namespace, name, subresource, options, change });
};
