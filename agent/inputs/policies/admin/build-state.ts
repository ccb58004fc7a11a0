/** What is held of a policy before it has subjects. */
import type { AdminPolicy } from '../../../../api/admin-policy/types.ts';
import { selectionOf } from '../templates.ts';
import type { AdminState, SiteState } from './admin-state.ts';
import { subjectNames, subjectSetOf } from './compile.ts';
import { partLimit } from './subject-parts.ts';
import { adminTemplates } from './templates.ts';

/**
 * Undefined: nobody can be selected.
 * @param onError its rules could not be worked out; its subjects are known all the same
 */
export const buildAdminState = (
  key: string,
  policy: AdminPolicy,
  onError: (error: unknown) => void,
): AdminState | undefined => {
  const selection = selectionOf(policy.subject, policy.namespace ?? '');
  if (selection === undefined) return undefined;
  let templates: AdminState['templates'] = [];
  try {
    templates = adminTemplates(policy);
  } catch (error) {
    onError(error);
  }
  return {
    ...{
      key,
      policy,
      templates,
      names: subjectNames(templates),
      limit: partLimit(templates),
      selection,
      selector: selection.selector,
    },
    ...{ sites: new Map(), subjects: new Map() },
  };
};

/** Where nobody is a subject yet. */
export const newSite = (state: AdminState, network: string, families: SiteState['families']): SiteState => ({
  ...{ state, network, families, first: undefined, parts: new Map(), excess: new Set() },
  whole: subjectSetOf({ network, policy: state.key }, undefined),
  ...{ sets: new Map(), notes: [], unwatch: [] },
});
