/** What the conditions of a network say. Pure. */
import type { ConditionInput } from '../../api/condition.ts';
import type { NetworkFacts } from '../facts/network-facts.ts';
import type { NodeCounts } from './node-reports.ts';

const CREATED = 'NetworkAttachmentDefinitionCreated';

/** `NetworkCreated` */
export const createdCondition = (
  { kind }: NetworkFacts,
  namespaces: readonly string[],
  messages: readonly string[],
): ConditionInput => {
  if (messages.length > 0) return failedCondition(kind, messages);
  const message =
    kind === 'UserDefinedNetwork'
      ? 'NetworkAttachmentDefinition has been created'
      : `NetworkAttachmentDefinition has been created in following namespaces: [${namespaces.join(', ')}]`;
  return { type: 'NetworkCreated', status: 'True', reason: CREATED, message };
};

/** `NetworkCreated` of a network that is being deleted. */
export const deletingCondition = (
  { kind, metadata }: NetworkFacts,
  namespaces: readonly string[],
  messages: readonly string[],
): ConditionInput => {
  if (messages.length > 0) return failedCondition(kind, messages);
  const nads = namespaces.map((namespace) => `${namespace}/${metadata.name}`).join(', ');
  const message =
    kind === 'UserDefinedNetwork'
      ? 'NetworkAttachmentDefinition is being deleted'
      : `NetworkAttachmentDefinition are being deleted: [${nads}]`;
  return { type: 'NetworkCreated', status: 'False', reason: 'NetworkAttachmentDefinitionDeleted', message };
};

/** The reason of `NetworkCreated` when something is wrong. */
export const errorReason = (kind: NetworkFacts['kind']): string =>
  kind === 'UserDefinedNetwork' ? 'SyncError' : 'NetworkAttachmentDefinitionSyncError';

const failedCondition = (kind: NetworkFacts['kind'], messages: readonly string[]): ConditionInput => ({
  type: 'NetworkCreated',
  status: 'False',
  reason: errorReason(kind),
  message: [...new Set(messages)].join('; '),
});

/** `TransportAccepted`, of networks that ask for another transport than Geneve: there is none yet. */
export const transportCondition = ({ spec }: NetworkFacts): ConditionInput | undefined => {
  if (spec?.transport === undefined) return undefined;
  const message = `transport '${spec.transport}' is not supported yet`;
  return { type: 'TransportAccepted', status: 'False', reason: 'TransportNotSupported', message };
};

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

/** The network got no id. */
export const refusedCondition = (message: string): ConditionInput => ({
  type: 'NetworkAllocationSucceeded',
  status: 'False',
  reason: 'InternalError',
  message,
});

/** `Ready`: what the others come to. The first that is not true is what it says. */
export const readyCondition = (parts: readonly ConditionInput[]): ConditionInput => {
  const broken = parts.find(({ status }) => status !== 'True');
  if (broken !== undefined) return { ...broken, type: 'Ready', status: 'False' };
  return { type: 'Ready', status: 'True', reason: 'NetworkReady', message: 'The network is there for pods.' };
};

/** `Ready` of a network that no namespace has. */
export const unusedCondition: ConditionInput = {
  type: 'Ready',
  status: 'False',
  reason: 'NoNamespaceSelected',
  message: 'spec.namespaceSelector selects no namespace',
};

/**
 * `NodesReady`: what the agents say. A node that has no use of the network is asked nothing.
 * @param total of the nodes @param silent how many of them have no report at all
 */
export const nodesCondition = (
  total: number,
  silent: number,
  { pending, failing, problems = [] }: NodeCounts,
): ConditionInput => {
  const type = 'NodesReady';
  if (failing > 0) {
    const first = problems.slice(0, MAX_REPORTED).map(({ node, message }) => `${node}: ${message}`);
    const message = `${failing} of ${total} nodes cannot make it: ${first.join('; ')}`;
    return { type, status: 'False', reason: 'NodesFailing', message };
  }
  if (pending > 0) {
    return { type, status: 'False', reason: 'NodesPending', message: 'Not all nodes that are to have it have it yet.' };
  }
  if (silent > 0) {
    const message = `The others have it; ${silent} of ${total} nodes say nothing: their agents have not reported yet.`;
    return { type, status: 'Unknown', reason: 'NodesSilent', message };
  }
  return { type, status: 'True', reason: 'NodesReady', message: 'All nodes that are to have it have it.' };
};

const MAX_REPORTED = 3;
