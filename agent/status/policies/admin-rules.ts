/** Rules of administrators' policies by the pods that they are about. */
import type { EndAdminRuleStatus } from '../../../api/policy-status.ts';
import type { AdminRuleFact, PodPolicyFact } from '../../model/policies/facts.ts';
import type { PolicyReportSources } from './sources.ts';
import { adminRuleText } from './words.ts';

export interface KnownAdminRule {
  readonly id: string;
  readonly rule: AdminRuleFact;
}

/** By id of the subject set. */
export type AdminRules = ReadonlyMap<string, readonly KnownAdminRule[]>;

/** It looks at all of them: for a question, or for all questions of a matrix. */
export const adminRulesOf = (
  facts: PolicyReportSources['facts'],
  isAsked: (rule: AdminRuleFact) => boolean = () => true,
): AdminRules => {
  const found = new Map<string, KnownAdminRule[]>();
  for (const id of facts.ids('adminRule')) {
    const rule = facts.get('adminRule', id);
    if (rule === undefined || !isAsked(rule)) continue;
    const known = found.get(rule.subjects);
    if (known === undefined) found.set(rule.subjects, [{ id, rule }]);
    else known.push({ id, rule });
  }
  return found;
};

export const rulesAbout = (rules: AdminRules, pod: PodPolicyFact | undefined): readonly KnownAdminRule[] =>
  (pod?.subjects ?? []).flatMap((set) => rules.get(set) ?? []);

export const endAdminRule = ({ facts }: PolicyReportSources, { id, rule }: KnownAdminRule): EndAdminRuleStatus => {
  const { policy, tier, action } = rule;
  return { id, text: adminRuleText(rule, facts), policy, tier, action };
};
