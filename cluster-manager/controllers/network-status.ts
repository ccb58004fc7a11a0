/**
 * Writes the status of networks by server-side apply. Each field manager owns some conditions and some fields, so that
 * writing one part never takes another away; nothing is sent when the object says it already.
 */
import { canonicalJson } from '../../api/canonical-json.ts';
import { type ConditionInput, hasCondition, nextCondition } from '../../api/condition.ts';
import { UDN_API_VERSION } from '../../api/names.ts';
import type { NetworkStatusFields } from '../../api/network-status.ts';
import { CLUSTER_USER_DEFINED_NETWORKS, USER_DEFINED_NETWORKS } from '../../api/resources.ts';
import { isMoot } from '../../kube/errors.ts';
import type { InvolvedObject } from '../../kube/events/types.ts';
import type { KubeObject, ObjectInput, ObjectRef, ResourceType } from '../../kube/types.ts';
import type { Writer } from '../../kube/writer/types.ts';
import type { NetworkFacts } from '../facts/network-facts.ts';
import { networkKey } from './network-key.ts';
import type { ControllerContext } from './types.ts';

export const NETWORK_MANAGER = 'user-defined-network-controller';
/** Of what changes with every pod and node: written seldom, see `network-usage.ts`. */
export const USAGE_MANAGER = 'udn-network-usage';
/** Before, and in ovn-kubernetes, what a network got had a field manager of its own. */
const FORMER_MANAGER = 'NetworkClusterController';

interface Owned {
  readonly conditions: readonly string[];
  readonly fields: readonly (keyof NetworkStatusFields)[];
}

const OWNED = {
  [NETWORK_MANAGER]: {
    conditions: ['NetworkCreated', 'TransportAccepted', 'NetworkAllocationSucceeded', 'Ready'],
    fields: ['blockedBy', 'networkName', 'networkID', 'vrf', 'subnets', 'subnetSummary'],
  },
  [USAGE_MANAGER]: { conditions: ['NodesReady'], fields: ['nodes', 'pods', 'usage'] },
} as const satisfies Readonly<Record<string, Owned>>;

/** All that a field manager says of a network: what it leaves out goes. */
export interface StatusPart {
  readonly conditions?: readonly ConditionInput[];
  readonly fields?: NetworkStatusFields;
}

export const resourceOf = ({ kind }: Pick<NetworkFacts, 'kind'>): ResourceType =>
  kind === 'UserDefinedNetwork' ? USER_DEFINED_NETWORKS : CLUSTER_USER_DEFINED_NETWORKS;

export const refOf = ({ metadata: { namespace, name } }: NetworkFacts): ObjectRef => ({ namespace, name });

/**
 * Server-side apply to a network that exists, of fields that one field manager owns. With the uid it never makes an object
 * again that was deleted a moment ago, nor writes to one that took its name: then it gives nothing. No status at all: the
 * field manager takes back what it has said.
 */
export const applyToNetwork = async (
  writer: Pick<Writer, 'apply'>,
  facts: NetworkFacts,
  fieldManager: string,
  fields: { readonly finalizers: readonly string[] } | { readonly status: unknown },
  signal: AbortSignal,
): Promise<KubeObject | undefined> => {
  const { namespace, name, uid = '' } = facts.metadata;
  const isStatus = 'status' in fields;
  const body: ObjectInput = {
    metadata: { ...(namespace === undefined ? {} : { namespace }), name, uid, ...(isStatus ? {} : fields) },
    ...(isStatus && fields.status !== undefined && { status: fields.status }),
  };
  const subresource = isStatus ? 'status' : undefined;
  try {
    return await writer.apply(resourceOf(facts), body, { subresource, fieldManager }, signal);
  } catch (error) {
    if (!isMoot(error)) throw error;
    return undefined;
  }
};

export const regarding = ({ kind, metadata: { namespace, name, uid } }: NetworkFacts): InvolvedObject => ({
  apiVersion: UDN_API_VERSION,
  kind,
  name,
  namespace,
  uid,
});

/** Writes the part unless the object has it already, or is about to; an object that is gone needs none. */
export const writeStatus = async (
  { writer, clock, ownWrites }: Pick<ControllerContext, 'writer' | 'clock' | 'ownWrites'>,
  facts: NetworkFacts,
  fieldManager: keyof typeof OWNED,
  { conditions = [], fields = {} }: StatusPart,
  signal: AbortSignal,
): Promise<void> => {
  const desired = conditions.map((input) => ({
    ...input,
    message: shortened(input.message),
    observedGeneration: facts.metadata.generation,
  }));
  const { resourceVersion = '', uid } = facts.metadata;
  const key = networkKey(facts);
  const underWay = ownWrites.underWay(key, fieldManager, resourceVersion);
  const text = canonicalJson({ uid, desired, fields });
  // What is under way counts, and not what a mirror that lags still shows.
  if (underWay === undefined ? isReported(facts, OWNED[fieldManager], desired, fields) : text === underWay) return;
  const now = new Date(clock.wall()).toISOString().replace(/\.[0-9]+Z$/, 'Z');
  const list = desired.map((input) => nextCondition(input, facts.conditions, now));
  const status = { ...(list.length > 0 && { conditions: list }), ...fields };
  let written = await applyToNetwork(writer, facts, fieldManager, { status }, signal);
  if (fieldManager === NETWORK_MANAGER && isOwnedByFormer(written)) {
    written = await applyToNetwork(writer, facts, FORMER_MANAGER, { status: undefined }, signal);
  }
  if (written !== undefined) ownWrites.note(key, fieldManager, text, written.metadata.resourceVersion);
};

/** What a manager has once said stays as long as it does not take it back, whoever else says so, too. */
const isOwnedByFormer = (network: KubeObject | undefined): boolean =>
  network?.metadata.managedFields?.some(
    ({ manager, operation, subresource }) =>
      manager === FORMER_MANAGER && operation === 'Apply' && subresource === 'status',
  ) === true;

const isReported = (
  { conditions, status }: NetworkFacts,
  owned: Owned,
  desired: readonly ConditionInput[],
  fields: NetworkStatusFields,
): boolean => {
  const surplus = conditions.some(
    ({ type }) => owned.conditions.includes(type) && !desired.some((one) => one.type === type),
  );
  return (
    !surplus &&
    desired.every((one) => hasCondition(conditions, one)) &&
    owned.fields.every((field) => canonicalJson(fields[field]) === canonicalJson(status[field]))
  );
};

/** The API server takes 32,768 characters. */
const MAX_MESSAGE = 32_000;

const shortened = (message: string): string =>
  message.length <= MAX_MESSAGE ? message : `${message.slice(0, MAX_MESSAGE - 4)} ...`;
