/**
 * Decides which networks a pod of this node is attached to: the default network, and its namespace's primary one. A
 * host-network pod is attached to none, but uses the one of its namespace by the node's own port (features/host-isolation/).
 */
import {
  DEFAULT_INTERFACE,
  DEFAULT_NETWORK_NAME,
  PRIMARY_INTERFACE,
  PRIMARY_NETWORK_LABEL,
} from '../../../api/names.ts';
import type { ProblemCause } from '../../../api/problem-causes.ts';
import { type Attachment, type PodAttachments, secondaryUnsupported } from '../../model/attachments.ts';
import { type PodFact, podKey } from '../../model/facts.ts';
import { type Diagnostic, EMPTY_FRAGMENT, type FeatureOver, type Fragment } from '../../model/fragment.ts';
import type { View } from '../../model/view.ts';
import { primaryNetworkName } from '../shared/local-network.ts';

export const attachments: FeatureOver<'pod'> = {
  name: 'attachments',
  over: 'pod',
  render: ({ pod: key }, view) => {
    const pod = view.pod(key);
    if (pod === undefined || pod.node !== view.node || pod.finished) return EMPTY_FRAGMENT;
    if (pod.hostNetwork) return usingThatOf(pod.namespace, view);
    return diagnosticsOf({ ...attachmentsOf(pod, view), ...refusalOf(pod, view), ...ignoredOf(pod, view) });
  },
};

const usingThatOf = (namespace: string, view: View): Fragment => {
  const network = primaryNetworkName(namespace, view);
  return network === undefined ? EMPTY_FRAGMENT : { usedNetworks: [network] };
};

const attachmentsOf = (pod: PodFact, view: View): PodAttachments => {
  const namespace = view.namespace(pod.namespace);
  if (namespace === undefined) return waiting(pod, `namespace ${pod.namespace} is not known yet`);
  if (!namespace.wantsPrimaryNetwork) return onDefault(pod, view, 'primary', []);
  const nad = view.primaryNad(pod.namespace);
  if (nad === undefined) {
    return waiting(pod, `namespace ${pod.namespace} has the label ${PRIMARY_NETWORK_LABEL} and no primary network yet`);
  }
  const network = view.networkOfNad(nad.nad);
  if (network === undefined) return waiting(pod, `network ${nad.network} has no id yet`);
  if (network.topology === 'localnet')
    return waiting(pod, `network ${nad.network} is localnet, which cannot be primary`);
  const primary = { nadKey: nad.nad, network, role: 'primary', interfaceName: PRIMARY_INTERFACE } as const;
  return onDefault(pod, view, 'infrastructure-locked', [primary]);
};

/** Says what CNI answers under Multus, which asks for each network by itself. Networks of other plugins are not ours to refuse. */
const refusalOf = ({ selected = [] }: PodFact, view: View): Pick<PodAttachments, 'refused'> => {
  const ours = selected
    .filter(({ nad }) => view.nadOwner(nad) === 'ours')
    .map(({ nad, interfaceName: as }) => `${nad} as ${as}`);
  const missing = selected.filter(({ nad }) => view.nadOwner(nad) === undefined);
  const reasons = [
    ...(ours.length === 0 ? [] : [secondaryUnsupported(ours.join(', '))]),
    ...missing.map(
      ({ nad, interfaceName }) =>
        `NetworkAttachmentDefinition ${nad} does not exist, or cannot be read: the pod selects it as ${interfaceName}`,
    ),
  ];
  return reasons.length === 0 ? {} : { refused: reasons.join('; ') };
};

/** What another plugin makes of its NAD's keys is its own. */
const ignoredOf = ({ ignored = [] }: PodFact, view: View): Pick<PodAttachments, 'ignored'> => {
  const messages = ignored.flatMap(({ nad, message }) =>
    nad === undefined || view.nadOwner(nad) === 'ours' ? [message] : [],
  );
  return messages.length === 0 ? {} : { ignored: messages };
};

type DesiredAttachment = Pick<Attachment, 'nadKey' | 'network' | 'role' | 'interfaceName'>;

const onDefault = (
  pod: PodFact,
  view: View,
  role: Attachment['role'],
  others: readonly DesiredAttachment[],
): PodAttachments => {
  const network = view.network(DEFAULT_NETWORK_NAME);
  if (network === undefined) return waiting(pod, 'the default network is not known yet');
  const first: DesiredAttachment = { nadKey: DEFAULT_NETWORK_NAME, network, role, interfaceName: DEFAULT_INTERFACE };
  const all = [first, ...others].map((desired) => withGiver(desired, view));
  const lacking = all.find(({ givenBy, subnets }) => givenBy === 'node' && subnets.length === 0);
  if (lacking === undefined) return { pod, attachments: all };
  return waiting(pod, `node ${view.node} has no subnet of network ${lacking.network.name} yet`);
};

const withGiver = (desired: DesiredAttachment, view: View): Attachment =>
  desired.network.topology === 'layer2'
    ? { ...desired, givenBy: 'cluster', subnets: [] }
    : { ...desired, givenBy: 'node', subnets: view.nodeSubnets(view.node, desired.network.name) };

const waiting = (pod: PodFact, waitingFor: string): PodAttachments => ({ pod, attachments: [], waitingFor });

const diagnosticsOf = (result: PodAttachments): Fragment => ({
  attachments: result,
  usedNetworks: result.attachments.flatMap(({ network }) => (network.role === 'default' ? [] : [network.name])),
  ...withDiagnostics(result),
});

const withDiagnostics = ({ pod, waitingFor, refused, ignored = [] }: PodAttachments): Fragment => {
  const object = `Pod/${podKey(pod)}`;
  const { barred } = pod;
  if (barred !== undefined) {
    return {
      diagnostics: [{ object, severity: 'error', cause: 'pod-refused', message: barred, event: 'ErrorAllocatingPod' }],
    };
  }
  const diagnostics = [
    diagnosticOf(object, 'network-awaited', waitingFor),
    diagnosticOf(object, 'pod-refused', refused),
    ...ignored.map((message) => diagnosticOf(object, 'pod-refused', message)),
  ].flat();
  return diagnostics.length === 0 ? {} : { diagnostics };
};

const diagnosticOf = (object: string, cause: ProblemCause, message: string | undefined): Diagnostic[] =>
  message === undefined ? [] : [{ object, severity: 'warning', cause, message }];
