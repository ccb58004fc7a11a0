/** Conditions and events of networks. */
import { type ConditionInput, hasCondition, nextCondition } from '../../api/condition.ts';
import { UDN_API_VERSION } from '../../api/names.ts';
import { CLUSTER_USER_DEFINED_NETWORKS, USER_DEFINED_NETWORKS } from '../../api/resources.ts';
import { isNotFound, isReplaced } from '../../kube/errors.ts';
import type { InvolvedObject } from '../../kube/events/types.ts';
import type { ObjectInput, ObjectRef, ResourceType } from '../../kube/types.ts';
import type { Writer } from '../../kube/writer/types.ts';
import type { NetworkFacts } from '../facts/network-facts.ts';
import type { ControllerContext } from './types.ts';

/** Field managers: each owns one condition, so that writing one never takes the other away. */
export const NETWORK_MANAGER = 'user-defined-network-controller';
export const ALLOCATION_MANAGER = 'NetworkClusterController';

export const resourceOf = ({ kind }: Pick<NetworkFacts, 'kind'>): ResourceType =>
  kind === 'UserDefinedNetwork' ? USER_DEFINED_NETWORKS : CLUSTER_USER_DEFINED_NETWORKS;

export const refOf = ({ metadata: { namespace, name } }: NetworkFacts): ObjectRef => ({ namespace, name });

/**
 * Server-side apply to a network that exists, of fields that one field manager owns. With the uid it never makes an object
 * anew that was deleted a moment ago, nor writes to one that took its name.
 */
export const applyToNetwork = async (
  writer: Pick<Writer, 'apply'>,
  facts: NetworkFacts,
  fieldManager: string,
  fields: { readonly finalizers?: readonly string[]; readonly status?: unknown },
  signal: AbortSignal,
): Promise<void> => {
  const { namespace, name, uid = '' } = facts.metadata;
  const { finalizers, status } = fields;
  const body: ObjectInput = {
    metadata: {
      ...(namespace === undefined ? {} : { namespace }),
      name,
      uid,
      ...(finalizers === undefined ? {} : { finalizers }),
    },
    ...(status === undefined ? {} : { status }),
  };
  const subresource = status === undefined ? undefined : 'status';
  try {
    await writer.apply(resourceOf(facts), body, { subresource, fieldManager }, signal);
  } catch (error) {
    if (!isNotFound(error) && !isReplaced(error)) throw error;
  }
};

export const regarding = ({ kind, metadata: { namespace, name, uid } }: NetworkFacts): InvolvedObject => ({
  apiVersion: UDN_API_VERSION,
  kind,
  name,
  namespace,
  uid,
});

/** Writes the condition unless the object has it already; an object that is gone needs none. */
export const writeCondition = async (
  { writer, clock }: Pick<ControllerContext, 'writer' | 'clock'>,
  facts: NetworkFacts,
  fieldManager: string,
  input: ConditionInput,
  signal: AbortSignal,
): Promise<void> => {
  const condition = { ...input, message: shortened(input.message) };
  if (hasCondition(facts.conditions, condition)) return;
  const now = new Date(clock.wall()).toISOString().replace(/\.[0-9]+Z$/, 'Z');
  const status = { conditions: [nextCondition(condition, facts.conditions, now)] };
  await applyToNetwork(writer, facts, fieldManager, { status }, signal);
};

/** `NetworkCreated` */
export const createdCondition = (status: 'True' | 'False', reason: string, message: string): ConditionInput => ({
  type: 'NetworkCreated',
  status,
  reason,
  message,
});

/** `NetworkAllocationSucceeded` @param failures node → why */
export const allocationCondition = (failures: ReadonlyMap<string, string>): ConditionInput => {
  const type = 'NetworkAllocationSucceeded';
  const [node] = [...failures.keys()].sort();
  if (node === undefined) {
    const message = 'Network allocation succeeded for all synced nodes.';
    return { type, status: 'True', reason: 'NetworkAllocationSucceeded', message };
  }
  const message = `Network allocation failed for at least one node: ${node}, check UDN events for more info.`;
  return { type, status: 'False', reason: 'InternalError', message };
};

/** The API server takes 32,768 characters. */
const MAX_MESSAGE = 32_000;

const shortened = (message: string): string =>
  message.length <= MAX_MESSAGE ? message : `${message.slice(0, MAX_MESSAGE - 4)} ...`;
