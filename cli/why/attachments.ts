/** Which networks a pod should be on, and where that is not so plain, why. Pure. */
import { ignoredRequests } from '../../api/annotations/ignored-requests.ts';
import { attachmentsOf, parseNetworkSelections } from '../../api/annotations/network-selection.ts';
import { ApiError, describeApiError } from '../../api/errors.ts';
import { DEFAULT_INTERFACE, DEFAULT_NETWORK_NAME, PRIMARY_INTERFACE, PRIMARY_NETWORK_LABEL } from '../../api/names.ts';
import type { NetConf } from '../../api/net-conf.ts';
import { type PrimaryNetwork, primaryNetworkOf } from '../../api/primary-network.ts';
import type { NadFacts } from '../../cluster-manager/facts/nad-facts.ts';
import type { NamespaceFacts } from '../../cluster-manager/facts/namespace-facts.ts';
import type { PodState } from '../cluster/pod-state.ts';
import type { Scene } from './allocations.ts';
import { nameOf, primariesDesiredIn, unreadableIn } from './desired.ts';
import { blocked, type Finding, ok, unknown, unreadOf, unreadText, warning } from './finding.ts';
import { waitsForManager } from './manager.ts';
import { confText, goingFinding, idFinding, primaryRefusal, takenFinding } from './nad-findings.ts';
import { missingIn } from './network.ts';

/** A network that a pod should have an address of. */
export interface DesiredAttachment {
  /** Key in the pod's annotation. */
  readonly nadKey: string;
  readonly network: string;
  readonly interface: string;
  readonly role: 'default' | 'primary' | 'secondary';
  readonly topology: NetConf['topology'];
}

export interface DesiredAttachments {
  readonly attachments: readonly DesiredAttachment[];
  readonly findings: readonly Finding[];
}

const DEFAULT: DesiredAttachment = {
  nadKey: DEFAULT_NETWORK_NAME,
  network: DEFAULT_NETWORK_NAME,
  interface: DEFAULT_INTERFACE,
  role: 'default',
  topology: 'layer3',
};

export const desiredAttachments = (pod: PodState, scene: Scene): DesiredAttachments => {
  const parts = [primary(pod, scene), ...secondaries(pod, scene), only(...ignoredIn(pod, scene))];
  return {
    attachments: [...parts.flatMap(({ attachments }) => attachments), DEFAULT],
    findings: parts.flatMap(({ findings }) => findings),
  };
};

const only = (...findings: readonly Finding[]): DesiredAttachments => ({ attachments: [], findings });

const primary = ({ namespace: name }: PodState, scene: Scene): DesiredAttachments => {
  const what = `namespace ${name}`;
  const namespace = scene.namespaces.get(name);
  const hidden = unreadOf(scene, 'network-attachment-definitions') ?? unreadOf(scene, 'namespaces');
  if (namespace === undefined || hidden !== undefined) {
    return only(unknown(what, hidden === undefined ? `namespace ${name} does not exist` : unreadText(hidden)));
  }
  const found = primaryIn(namespace, scene);
  if (found.kind === 'network') {
    const label = ok(what, `has the label ${PRIMARY_NETWORK_LABEL}; its network is ${found.nad.conf.name}`);
    const { nad } = found;
    const attachment = attachmentOf(nad.conf, nad.key, PRIMARY_INTERFACE, 'primary');
    const state = nad.metadata.deletionTimestamp == null ? idFinding(nad, scene) : goingFinding(nad, scene);
    return { attachments: [attachment], findings: [label, state] };
  }
  if (namespace.isTerminating && found.kind === 'missing') {
    const message = `namespace ${name} is being deleted and gets no network`;
    return only(blocked(what, 'namespace-terminating', message, 'create the pod in another namespace'));
  }
  if (found.kind === 'missing') return only(missingPrimary(name, scene));
  const [unserved] = [...primariesDesiredIn(name, scene).map(nameOf), ...primaryNads(configuredNads(name, scene))];
  if (unserved === undefined) return only(ok(what, 'its pods are on the default network'));
  const refusal = primaryRefusal(namespace, '', undefined, scene);
  return only(
    refusal === undefined ? ok(what, 'exists') : { ...refusal, found: `${refusal.found}: ${unserved} has no effect` },
  );
};

/** A NAD of a network of ours. */
export type ConfiguredNad = NadFacts & { readonly conf: NetConf };

export const primaryIn = ({ name, labels }: NamespaceFacts, scene: Scene): PrimaryNetwork<ConfiguredNad> =>
  primaryNetworkOf(name, labels, configuredNads(name, scene));

const configuredNads = (namespace: string, scene: Scene): readonly ConfiguredNad[] =>
  scene.nadsIn(namespace).flatMap((nad) => (nad.conf === undefined ? [] : [{ ...nad, conf: nad.conf }]));

const primaryNads = (nads: readonly ConfiguredNad[]): string[] =>
  nads.filter(({ conf }) => conf.role === 'primary').map(({ key }) => `NetworkAttachmentDefinition ${key}`);

/** The namespace asked for a primary network: whoever should be it says why it is not. */
export const missingPrimary = (namespace: string, scene: Scene): Finding => {
  const what = `network of ${namespace}`;
  const waits = `namespace ${namespace} requires a primary network, but none exists`;
  const candidates = [...primariesDesiredIn(namespace, scene), ...unreadableIn(namespace, scene)];
  const [reason] = candidates.flatMap((facts) => missingIn(facts, namespace, scene) ?? []);
  if (reason !== undefined) return { ...reason, what, found: `${waits}; ${reason.found}` };
  const [next] = candidates.map(nameOf);
  if (next !== undefined) return waitsForManager(scene, what, 'no-network', `${waits}; ${next} is not processed yet`);
  const hidden = unreadOf(scene, 'userdefinednetworks') ?? unreadOf(scene, 'clusteruserdefinednetworks');
  const also = hidden === undefined ? '' : ` (${unreadText(hidden)})`;
  const found = `${waits}: it has no UserDefinedNetwork, and no ClusterUserDefinedNetwork selects it${also}`;
  return blocked(what, 'no-network', found, 'create one: the pods wait for it');
};

const secondaries = (pod: PodState, scene: Scene): readonly DesiredAttachments[] => {
  try {
    const selections = parseNetworkSelections(pod.annotations.selection ?? '', pod.key);
    return attachmentsOf(selections).map(({ namespace, name, nadKey, interfaceName }) =>
      secondary(`${namespace}/${name}`, nadKey, interfaceName, scene),
    );
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const next = 'recreate the pod with a valid annotation';
    return [only(blocked('requested networks', 'annotation-unreadable', describeApiError(error), next))];
  }
};

const secondary = (key: string, nadKey: string, interfaceName: string, scene: Scene): DesiredAttachments => {
  const what = `NAD ${key}`;
  const nad = scene.nads.get(key);
  const namespace = key.split('/')[0] ?? '';
  const hidden = unreadOf(scene, 'network-attachment-definitions');
  if (nad === undefined) {
    if (hidden !== undefined) return only(unknown(what, unreadText(hidden)));
    if (scene.namespace !== undefined && scene.namespace !== namespace) {
      return only(unknown(what, `namespace ${namespace} was not read`));
    }
    const next = 'create it, or recreate the pod without it';
    return only(
      blocked(what, 'nad-missing', `the pod requests NetworkAttachmentDefinition ${key}, which does not exist`, next),
    );
  }
  const { conf } = nad;
  if (conf === undefined) {
    // Somebody else's plugin is somebody else's business.
    if (nad.confError === undefined) return only(ok(what, 'uses another CNI plugin'));
    const found = `NetworkAttachmentDefinition ${key} is invalid: ${confText(nad)}`;
    return only(blocked(what, 'nad-invalid', found, 'fix it'));
  }
  if (conf.role === 'primary') {
    const found = `the pod requests NetworkAttachmentDefinition ${key}, which is a primary network: primary networks cannot be requested`;
    return only(blocked(what, 'primary-selected', found, 'recreate the pod without it in k8s.v1.cni.cncf.io/networks'));
  }
  return {
    attachments: [attachmentOf(conf, nadKey, interfaceName, 'secondary')],
    findings: [idFinding(nad, scene)],
  };
};

/** Keys of a NAD that is not ours are the other plugin's. */
const ignoredIn = (pod: PodState, scene: Scene): readonly Finding[] =>
  ignoredRequests(pod.annotations, pod.key).flatMap(({ nad, message, refuses = false }) => {
    if (nad !== undefined && scene.nads.get(nad)?.conf === undefined) return [];
    if (!refuses) return [warning('request', message)];
    return [blocked('request', 'request-refused', message, 'recreate the pod without it')];
  });

const attachmentOf = (
  { name, topology }: NetConf,
  nadKey: string,
  interfaceName: string,
  role: 'primary' | 'secondary',
): DesiredAttachment => ({ nadKey, network: name, interface: interfaceName, role, topology });

/** A primary NAD that an older one keeps from being the namespace's network. */
export const laterPrimary = (nad: NadFacts, scene: Scene): Finding | undefined => {
  const { namespace } = nad.metadata;
  const facts = scene.namespaces.get(namespace);
  const found = facts && primaryIn(facts, scene);
  if (found?.kind !== 'network' || !found.ignored.some(({ key }) => key === nad.key)) return undefined;
  return takenFinding(`namespace ${namespace}`, namespace, found.nad);
};
