/**
 * `udn-cluster-manager cleanup`: removes the finalizer of ours from all NADs, as no program of ours is there any more to remove it when they are
 * deleted. Idempotent; a cluster without the definition has none.
 */

import { UDN_FINALIZER } from '../../api/names.ts';
import { NETWORK_ATTACHMENT_DEFINITIONS } from '../../api/resources.ts';
import { messageOf } from '../../base/error-message.ts';
import { isAbsentResource } from '../../kube/errors.ts';
import { listAll } from '../../kube/reflector/list-all.ts';
import type { KubeObject } from '../../kube/types.ts';
import { removeFinalizer } from '../controllers/finalizer.ts';
import type { CleanupContext } from './clean-nodes.ts';

/** @throws Error that names the NADs that keep it, and why; the others are released */
export const releaseNads = async ({ client, log }: CleanupContext): Promise<void> => {
  const failures: string[] = [];
  for (const { metadata } of await heldNads(client)) {
    const { namespace = '', name, finalizers = [] } = metadata;
    const nad = `${namespace}/${name}`;
    try {
      await removeFinalizer(client, NETWORK_ATTACHMENT_DEFINITIONS, { namespace, name }, finalizers, UDN_FINALIZER);
      log.info({ object: `NetworkAttachmentDefinition/${nad}` }, 'finalizer removed');
    } catch (error) {
      failures.push(`${nad}: ${messageOf(error)}`);
    }
  }
  if (failures.length > 0) throw new Error(`not everything could be released: ${failures.join('; ')}`);
};

const heldNads = async (client: CleanupContext['client']): Promise<readonly KubeObject[]> => {
  const found = new Map<string, KubeObject>();
  const see = (object: KubeObject): void => {
    const { namespace, name, finalizers } = object.metadata;
    if (finalizers?.includes(UDN_FINALIZER) === true) found.set(`${namespace}/${name}`, object);
  };
  try {
    await listAll(client, NETWORK_ATTACHMENT_DEFINITIONS, { pageSize: 500 }, see, () => found.clear());
  } catch (error) {
    if (!isAbsentResource(error)) throw error;
  }
  return [...found.values()];
};
