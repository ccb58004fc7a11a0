/** MultiNetworkPolicies in words, for people. Pure. */
import { POLICY_FOR_ANNOTATION } from '../../../api/multi-network-policy.ts';
import type { FactStore } from '../../model/fact-store.ts';
import { attachmentId } from '../../model/facts.ts';
import type { Problem } from '../problem.ts';
import type { PolicyDescription } from './describe.ts';
import type { MultiProjection } from './multi-projection.ts';

/** @param key `namespace/name` */
export const multiKey = (key: string): string => `MultiNetworkPolicy/${key}`;

/** `namespace/name` of what `multiKey` has made; undefined: it is of another kind. */
export const keyOfMulti = (key: string): string | undefined =>
  key.startsWith(multiKey('')) ? key.slice(multiKey('').length) : undefined;

/** @param lanes by the networks that it is for */
export const mergedDescription = (
  { policy, problems }: MultiProjection,
  lanes: readonly { readonly network: string; readonly found: PolicyDescription }[],
  notes: readonly Problem[],
): PolicyDescription => ({
  ...{ kind: 'MultiNetworkPolicy', policy: policy.policy },
  ...(lanes.length > 0 && { network: lanes.map(({ network }) => network).join(', ') }),
  targets: lanes.flatMap(({ network, found }) => found.targets.map((pod) => attachmentId(pod, network))),
  rules: lanes.flatMap(({ found }) => found.rules),
  problems: [...problems, ...notes, ...lanes.flatMap(({ found }) => found.problems)],
});

/**
 * What it names in vain: also networks of other plugins, on which other programs may enforce it.
 * @param isSecondary whether a NAD is of a secondary network that is known
 */
export const notesOfNads = (
  key: string,
  nads: readonly string[],
  isSecondary: (nad: string) => boolean,
  facts: Pick<FactStore, 'get'>,
): Problem[] =>
  nads
    .filter((nad) => !isSecondary(nad))
    .map((nad) => ({ object: multiKey(key), severity: 'warning', message: noteOf(nad, facts) }));

const noteOf = (nad: string, facts: Pick<FactStore, 'get'>): string => {
  const named = `${POLICY_FOR_ANNOTATION}: NetworkAttachmentDefinition ${nad}`;
  if (facts.get('foreignNad', nad) !== undefined)
    return `${named} is of another plugin: ovn-udn does not enforce the policy there`;
  const isNetwork = facts.get('nad', nad) !== undefined;
  const why = isNetwork
    ? 'is of a primary network, whose pods are for NetworkPolicies'
    : 'does not exist, or its network has no id yet';
  return `${named} ${why}: the policy is not in effect there`;
};
