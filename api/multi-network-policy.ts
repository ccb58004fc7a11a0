/**
 * MultiNetworkPolicy (k8s.cni.cncf.io/v1beta1, github.com/k8snetworkplumbingwg/multi-networkpolicy): a NetworkPolicy for the networks that an
 * annotation names by their NetworkAttachmentDefinitions. Its specification is that of a NetworkPolicy.
 */
import { SHORT_FORM } from './annotations/selection-element.ts';
import { commaList } from './scalars.ts';

export const POLICY_FOR_ANNOTATION = 'k8s.v1.cni.cncf.io/policy-for';

/** As many networks as a pod can have besides its primary one. */
const MAX_NADS = 32;
/** What has more is closed, on all that it names: as many are read, more than a namespace has. */
const MAX_READ = 1024;

export interface PolicyFor {
  /** `namespace/name` of each NetworkAttachmentDefinition that can be read, once. */
  readonly nads: readonly string[];
  /** Why not all of it can be read. */
  readonly problem?: string | undefined;
}

/** @param namespace of the policy: that of NetworkAttachmentDefinitions without one */
export const readPolicyFor = (text: string, namespace: string): PolicyFor => {
  const items = commaList(text);
  const read = items.slice(0, MAX_READ).map((item) => nadOf(item, namespace));
  const nads = [...new Set(read.flatMap((nad) => nad ?? []))];
  const wrong = read.indexOf(undefined);
  if (wrong >= 0)
    return { nads, problem: `${FIELD}: [${wrong}]: ${shown(items[wrong])} is not NAME or NAMESPACE/NAME of a NAD` };
  if (items.length <= MAX_NADS) return { nads };
  const unread = items.length > MAX_READ ? `, and is for none of those after the first ${MAX_READ}` : '';
  return { nads, problem: `${FIELD}: must have at most ${MAX_NADS} items, has ${items.length}${unread}` };
};

const FIELD = `metadata.annotations["${POLICY_FOR_ANNOTATION}"]`;

const nadOf = (text: string, ownNamespace: string): string | undefined => {
  const [, namespace = ownNamespace, name, interfaceName] = SHORT_FORM.exec(text) ?? [];
  return name === undefined || interfaceName !== undefined ? undefined : `${namespace}/${name}`;
};

const shown = (text = ''): string => JSON.stringify(text.slice(0, 100));
