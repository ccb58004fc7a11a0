/**
 * Decides which networks a pod of this node is attached to, in the order in which its interfaces are made: the default network, its
 * namespace's primary one, and what it selects. A host-network pod is attached to none, but uses the one of its namespace by the
 * node's own port (features/host-isolation/).
 */
import type { IgnoredRequest } from '../../../api/annotations/ignored-requests.ts';
import {
  DEFAULT_INTERFACE,
  DEFAULT_NETWORK_NAME,
  POD_ANNOTATIONS,
  PRIMARY_INTERFACE,
  PRIMARY_NETWORK_LABEL,
} from '../../../api/names.ts';
import type { ProblemCause } from '../../../api/problem-causes.ts';
import { type HeldNetwork, nadOf, type PodAttachments, type Selection } from '../../model/attachments.ts';
import { type PodFact, podKey } from '../../model/facts.ts';
import { type Diagnostic, EMPTY_FRAGMENT, type FeatureOver, type Fragment } from '../../model/fragment.ts';
import type { View } from '../../model/view.ts';
import { primaryNetworkName } from '../shared/local-network.ts';
import { unreachableGateways } from './gateways.ts';
import { giverOf } from './giver.ts';
import { heldNetworks } from './held.ts';
import { unreadableReasons } from './limits-in-effect.ts';
import { nodeAddressesOf } from './node-addresses.ts';
import { overlapsOf } from './overlaps.ts';
import { samePortNames } from './port-names.ts';
import { type DesiredAttachment, selectedNetworks } from './selected.ts';

export const attachments: FeatureOver<'pod'> = {
  name: 'attachments',
  over: 'pod',
  render: ({ pod: key }, view) => {
    const pod = view.pod(key);
    if (pod === undefined || pod.node !== view.node || pod.finished) return EMPTY_FRAGMENT;
    if (pod.hostNetwork) return { ...usingThatOf(pod.namespace, view), ...ignoredByHostPod(pod, view) };
    return fragmentOf({ ...attachmentsOf(pod, view), held: heldNetworks(pod, view), ...ignoredOf(pod, view) });
  },
};

type Desired = Omit<PodAttachments, 'held' | 'ignored'>;

const usingThatOf = (namespace: string, view: View): Fragment => {
  const network = primaryNetworkName(namespace, view);
  return network === undefined ? EMPTY_FRAGMENT : { usedNetworks: [network] };
};

/** It has the interfaces of its node, and no ADD that could refuse it. */
const ignoredByHostPod = (pod: PodFact, view: View): Fragment => {
  const { selected = [], unreadableSelection, bandwidth, unreadableBandwidth } = pod;
  const isOurs = (one: Selection): boolean => view.multiNetwork === 'native' || view.nadOwner(nadOf(one)) !== 'foreign';
  const ours = selected.filter(isOurs);
  const names = [...new Set(ours.map(nadOf))].join(', ');
  const messages = [
    ...(ours.length === 0 ? [] : [`${POD_ANNOTATIONS.selection}: ${names}: ${HAS_NONE}`]),
    ...(unreadableSelection === undefined ? [] : [unreadableSelection]),
    ...(bandwidth === undefined ? [] : [`${BANDWIDTH}: ${HAS_NONE}`]),
    ...(unreadableBandwidth === undefined ? [] : [unreadableBandwidth]),
    ...requestsOf(pod, view).map(({ message }) => message),
  ];
  const object = `Pod/${podKey(pod)}`;
  const diagnostics = messages.flatMap((message) =>
    diagnosticOf(object, 'pod-refused', message).map((one) => ({ ...one, event: 'RequestIgnored' })),
  );
  return diagnostics.length === 0 ? {} : { diagnostics };
};

const BANDWIDTH = `${POD_ANNOTATIONS.ingressBandwidth}, ${POD_ANNOTATIONS.egressBandwidth}`;
const HAS_NONE = 'has no effect on a host-network pod, which is attached to no network';

const attachmentsOf = (pod: PodFact, view: View): Desired => {
  const own = ownNetworks(pod, view);
  const selected = selectedNetworks(pod, view);
  const desired = typeof own === 'string' ? [] : [...own, ...selected.networks];
  const reasons = [
    ...unreadableReasons(pod),
    ...selected.refused,
    ...requestsOf(pod, view).flatMap(({ refuses, message }) => (refuses === true ? [message] : [])),
    ...overlapsOf(desired),
    ...nodeAddressesOf(pod, desired, view),
    ...unreachableGateways(pod, desired, view),
    ...samePortNames(pod, desired),
  ];
  const refused = reasons.length === 0 ? {} : { refused: reasons.join('; ') };
  if (typeof own === 'string') return { ...waiting(pod, own), ...refused };
  const [waitsFor] = selected.waitingFor;
  // What it has been given stays as it is, for the pod that runs already.
  if (reasons.length > 0)
    return { ...withGivers(pod, [...own, ...selected.networks.filter(isGiven(pod))], view), ...refused };
  if (waitsFor !== undefined) return waiting(pod, waitsFor);
  const { foreign } = selected;
  return { ...withGivers(pod, desired, view), ...(foreign.length > 0 && { foreign }) };
};

const isGiven =
  ({ networks }: PodFact) =>
  ({ nadKey }: DesiredAttachment): boolean =>
    networks.has(nadKey);

/** The default network, and the primary one of the namespace. A text: what the pod waits for. */
const ownNetworks = (pod: PodFact, view: View): DesiredAttachment[] | string => {
  const namespace = view.namespace(pod.namespace);
  if (namespace === undefined) return `namespace ${pod.namespace} is not known yet`;
  const primary = namespace.wantsPrimaryNetwork ? primaryOf(pod.namespace, view) : undefined;
  if (typeof primary === 'string') return primary;
  const network = view.network(DEFAULT_NETWORK_NAME);
  if (network === undefined) return 'the default network is not known yet';
  const role = primary === undefined ? 'primary' : 'infrastructure-locked';
  const first: DesiredAttachment = { nadKey: DEFAULT_NETWORK_NAME, network, role, interfaceName: DEFAULT_INTERFACE };
  return primary === undefined ? [first] : [first, primary];
};

const primaryOf = (namespace: string, view: View): DesiredAttachment | string => {
  const nad = view.primaryNad(namespace);
  if (nad === undefined)
    return `namespace ${namespace} has the label ${PRIMARY_NETWORK_LABEL} and no primary network yet`;
  const network = view.networkOfNad(nad.nad);
  if (network === undefined) return view.nadProblem(nad.nad)?.message ?? `network ${nad.network} has no id yet`;
  if (network.topology === 'localnet') return `network ${nad.network} is localnet, which cannot be primary`;
  return { nadKey: nad.nad, network, role: 'primary', interfaceName: PRIMARY_INTERFACE };
};

const withGivers = (pod: PodFact, desired: readonly DesiredAttachment[], view: View): Desired => {
  const first = desired.filter(({ selection }) => selection === undefined).length;
  const all = desired.map((one, position) => ({
    ...one,
    ...giverOf(one.network, view),
    index: one.selection === undefined ? position : first + positionOf(one.selection, pod),
  }));
  const lacking = all.find(({ givenBy, subnets }) => givenBy === 'node' && subnets.length === 0);
  if (lacking === undefined) return { pod, attachments: all };
  return waiting(pod, `node ${view.node} has no subnet of network ${lacking.network.name} yet`);
};

/** In the annotation, whatever becomes of the others: names of links follow from it. */
const positionOf = (selection: Selection, { selected = [] }: PodFact): number => selected.indexOf(selection);

const waiting = (pod: PodFact, waitingFor: string): Desired => ({ pod, attachments: [], waitingFor });

/** What another plugin makes of its NAD's keys is its own; of keys that nobody knows it is not told. */
const requestsOf = ({ ignored = [] }: PodFact, view: View): readonly IgnoredRequest[] =>
  ignored.filter(({ nad, isUnknown = false }) => {
    const owner = nad === undefined ? 'ours' : view.nadOwner(nad);
    return owner === 'ours' || (owner === 'foreign' && isUnknown && view.multiNetwork === 'native');
  });

const ignoredOf = (pod: PodFact, view: View): Pick<PodAttachments, 'ignored'> => {
  const messages = requestsOf(pod, view).flatMap(({ refuses, message }) => (refuses === true ? [] : [message]));
  return messages.length === 0 ? {} : { ignored: messages };
};

const fragmentOf = (result: PodAttachments): Fragment => ({
  attachments: result,
  usedNetworks: [...usesOf(result).values()],
  ...withDiagnostics(result),
});

/** By NAD key: what it has of a network more than once is more than one use of it. */
const usesOf = ({ attachments: own, held }: PodAttachments): ReadonlyMap<string, string> =>
  new Map([...own, ...held].flatMap(usedBy));

const usedBy = ({ nadKey, network }: HeldNetwork): [string, string][] =>
  network.role === 'default' ? [] : [[nadKey, network.name]];

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
