/** On which network the Services of a namespace are: the question that agents ask, and why it has no answer yet. */
import type { EndpointNetwork } from '../../agent/model/services/endpoints.ts';
import { DEFAULT_NETWORK_NAME } from '../../api/names.ts';
import type { Scene } from '../why/allocations.ts';
import { missingPrimary, primaryIn } from '../why/attachments.ts';
import { type Finding, unknown, unreadOf, unreadText } from '../why/finding.ts';
import { idFinding } from '../why/nad-findings.ts';
import type { Unread } from './snapshot.ts';

/** Instead of a network a finding: `blocked` where it is waited for, `unknown` where it may not be seen. */
export type ServiceNetwork =
  | { readonly network: EndpointNetwork }
  | { readonly network?: never; readonly why: Finding };

export const serviceNetwork = (name: string, scene: Scene): ServiceNetwork => {
  const namespace = scene.namespaces.get(name);
  const hiddenNamespace = unreadOf(scene, 'namespaces');
  if (namespace === undefined || hiddenNamespace !== undefined) return notKnown(name, hiddenNamespace);
  const found = primaryIn(namespace, scene);
  if (found.kind === 'default') return { network: DEFAULT };
  const hiddenNads = unreadOf(scene, 'network-attachment-definitions');
  if (hiddenNads !== undefined) return notKnown(name, hiddenNads);
  if (found.kind === 'missing') return { why: missingPrimary(name, scene) };
  const id = idFinding(found.nad, scene);
  return id.state === 'ok' ? { network: found.nad.conf } : { why: id };
};

const notKnown = (namespace: string, hidden: Unread | undefined): ServiceNetwork => {
  const found = hidden === undefined ? `namespace ${namespace} does not exist` : unreadText(hidden);
  return { why: unknown(`network of ${namespace}`, found) };
};

/** Its endpoints may be anywhere: nobody asks for its subnets. */
const DEFAULT: EndpointNetwork = { name: DEFAULT_NETWORK_NAME, role: 'default', subnets: [] };
