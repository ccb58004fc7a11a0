/** What is held of a policy before it has subjects. */
import type { AdminPolicy } from '../../../../api/admin-policy/types.ts';
import { selectionOf } from '../templates.ts';
import type { AdminState, SiteState } from './admin-state.ts';
import { subjectNames, subjectSetOf } from './compile.ts';
import { nodeSelectors } from './node-peers.ts';
import { partLimit } from './subject-parts.ts';
import { type AdminTemplate, adminTemplates } from './templates.ts';

/**
 * Undefined: nobody can be selected. Its rules are worked out when they are asked for first: most nodes have no pod that it is about.
 * @param onError its rules could not be worked out; its subjects are known all the same
 */
export const buildAdminState = (
  key: string,
  policy: AdminPolicy,
  onError: (error: unknown) => void,
): AdminState | undefined => {
  const selection = selectionOf(policy.subject, policy.namespace ?? '');
  if (selection === undefined) return undefined;
  let rules: AdminState['rules'] | undefined;
  return {
    ...{ key, policy, selection, selector: selection.selector, sites: new Map(), subjects: new Map() },
    get rules() {
      rules ??= rulesOf(policy, onError);
      return rules;
    },
  };
};

const rulesOf = (policy: AdminPolicy, onError: (error: unknown) => void): AdminState['rules'] => {
  let templates: readonly AdminTemplate[] = [];
  try {
    templates = adminTemplates(policy);
  } catch (error) {
    onError(error);
  }
  const names = subjectNames(templates);
  return { templates, names, limit: partLimit(templates), nodes: nodeSelectors(templates) };
};

/** Where nobody is a subject yet. */
export const newSite = (state: AdminState, network: string, families: SiteState['families']): SiteState => ({
  ...{ state, network, families, first: undefined, parts: new Map(), excess: new Set(), excessOfNode: undefined },
  whole: subjectSetOf({ network, policy: state.key }, undefined),
  ...{ sets: new Map(), notes: [], unwatch: [] },
});
