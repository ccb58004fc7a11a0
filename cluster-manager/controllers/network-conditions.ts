/** What the conditions of a network say. Pure. */
import type { ConditionInput } from '../../api/condition.ts';
import { NODE_LABELS } from '../../api/names.ts';
import type { NetworkFacts } from '../facts/network-facts.ts';
import type { NodeTally } from './node-reports.ts';

const CREATED = 'NetworkAttachmentDefinitionCreated';

/** `NetworkCreated` */
export const createdCondition = (
  { kind }: NetworkFacts,
  namespaces: readonly string[],
  messages: readonly string[],
  failed: readonly string[] = [],
): ConditionInput => {
  if (messages.length > 0) {
    const isShared = kind === 'ClusterUserDefinedNetwork' && failed.length > 0 && namespaces.length > 0;
    const where = `the network works in namespaces [${firstOf(namespaces)}] and not in [${firstOf(failed)}]`;
    return failedCondition(kind, isShared ? [...messages, where] : messages);
  }
  const message =
    kind === 'UserDefinedNetwork'
      ? 'NetworkAttachmentDefinition has been created'
      : `NetworkAttachmentDefinition has been created in following namespaces: [${namespaces.join(', ')}]`;
  return { type: 'NetworkCreated', status: 'True', reason: CREATED, message };
};

const firstOf = (namespaces: readonly string[]): string => {
  const more = namespaces.length - MAX_NAMESPACES;
  return more > 0 ? `${namespaces.slice(0, MAX_NAMESPACES).join(', ')} and ${more} more` : namespaces.join(', ');
};

const MAX_NAMESPACES = 20;

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

/** `Ready`: the first part that is false, else the first that is unknown, speaks for all. */
export const readyCondition = (parts: readonly ConditionInput[]): ConditionInput => {
  const broken = parts.find(({ status }) => status === 'False') ?? parts.find(({ status }) => status !== 'True');
  if (broken !== undefined) return { ...broken, type: 'Ready' };
  return {
    type: 'Ready',
    status: 'True',
    reason: 'NetworkReady',
    message: 'Pods can use the network on all nodes that need it.',
  };
};

/** @param rivals keys of NADs that ask for another primary network where this one is */
export const withRivals = (ready: ConditionInput, rivals: readonly string[]): ConditionInput => {
  if (rivals.length === 0) return ready;
  const more = rivals.length > MAX_REPORTED ? ` and ${rivals.length - MAX_REPORTED} more` : '';
  const names = `[${rivals.slice(0, MAX_REPORTED).join(' ')}]${more}`;
  const message = `${ready.message} NetworkAttachmentDefinitions ${names} define a second primary network and are rejected: delete them.`;
  return { ...ready, message };
};

/** What the nodes contribute to `Ready`: their condition as it is published, so that the two never contradict each other. */
export const nodesPart = (published: readonly ConditionInput[]): ConditionInput =>
  published.find(({ type }) => type === 'NodesReady') ?? {
    type: 'NodesReady',
    status: 'False',
    reason: 'NodesPending',
    message: 'Waiting for the first reports of the nodes.',
  };

/** `Ready` of a network that no namespace has. */
export const unusedCondition: ConditionInput = {
  type: 'Ready',
  status: 'False',
  reason: 'NoNamespaceSelected',
  message: 'spec.namespaceSelector selects no namespace',
};

/** `NodesReady`: what the agents report. A node that has no use of the network counts for nothing. */
export const nodesCondition = ({ total, ready, pending, failing, unreported, stale }: NodeTally): ConditionInput => {
  const say = (status: ConditionInput['status'], reason: string, message: string): ConditionInput => ({
    ...{ type: 'NodesReady', status, reason, message },
  });
  if (total === 0) return say('Unknown', 'NoNodes', 'The cluster has no nodes.');
  if (failing.length > 0) {
    const first = failing.slice(0, MAX_REPORTED).map(({ node, message }) => `${node}: ${message}`);
    return say(
      'False',
      'NodesFailing',
      `${failing.length} of ${total} nodes cannot program the network: ${first.join('; ')}`,
    );
  }
  if (unreported.length === total) {
    const message = `None of the ${total} nodes has reported: check that udn-agent runs on them (kubectl get nodenetworkreports).`;
    return say('Unknown', 'NodesSilent', message);
  }
  if (pending.length > 0) {
    const message = `${pending.length} of ${total} nodes have not programmed the network yet: ${named(pending)}`;
    return say('False', 'NodesPending', message);
  }
  if (unreported.length + stale.length > 0) return say('Unknown', 'NodesSilent', silence(total, unreported, stale));
  const message =
    ready === 0
      ? 'No node needs the network yet: each programs it when one of its pods does.'
      : `All ${ready} nodes that need the network have programmed it.`;
  return say('True', 'NodesReady', message);
};

const silence = (total: number, unreported: readonly string[], stale: readonly string[]): string => {
  const parts = [
    unreported.length > 0 ? `${unreported.length} of ${total} nodes have not reported: ${named(unreported)}` : [],
    stale.length > 0 ? `${stale.length} of ${total} nodes have stopped reporting: ${named(stale)}` : [],
  ].flat();
  const advice = unreported.length > 0 ? `, and label nodes that run none ${NODE_LABELS.excluded}=` : '';
  return `${parts.join('; ')}. Check udn-agent there${advice}.`;
};

const named = (nodes: readonly string[]): string => {
  const more = nodes.length - MAX_REPORTED;
  return more > 0 ? `${nodes.slice(0, MAX_REPORTED).join(', ')} and ${more} more` : nodes.join(', ');
};

const MAX_REPORTED = 3;
