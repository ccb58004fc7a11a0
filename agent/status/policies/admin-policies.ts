/** Administrators' policies that pods of this node are subjects of. */
import type { AdminPolicyStatus, DomainStatus } from '../../../api/policy-status.ts';
import { worst } from '../../../base/reconciler.ts';
import { FAMILIES } from '../../../net/ip.ts';
import type { Problem } from '../../inputs/problem.ts';
import type { SubjectSetFact } from '../../model/policies/facts.ts';
import { subjectSetName } from '../../model/policies/ids.ts';
import { statusOf } from '../../reconcile/reconcilers.ts';
import { stateOf } from '../programming-state.ts';
import { type AdminRules, adminRulesOf, type KnownAdminRule } from './admin-rules.ts';
import { domainStatuses } from './domains.ts';
import type { PolicyReportSources } from './sources.ts';
import { adminRuleText } from './words.ts';

/** None: all of them, without their rules. */
interface AdminFilter {
  /** `AdminNetworkPolicy/name` */
  readonly policy?: string | undefined;
  /** `namespace/name` */
  readonly pod?: string | undefined;
  /** Names of address sets. */
  readonly sets?: ReadonlySet<string> | undefined;
}

type Subjects = readonly (readonly [id: string, set: SubjectSetFact])[];

export const adminStatuses = (sources: PolicyReportSources, filter: AdminFilter): AdminPolicyStatus[] => {
  const { facts } = sources;
  const all = [...facts.ids('subjectSet')].flatMap((id) => {
    const set = facts.get('subjectSet', id);
    return set === undefined ? [] : [[id, set] as const];
  });
  const asked = policiesOf(sources, all, filter);
  const found = all.filter(([, { policy }]) => asked === undefined || asked.has(policy));
  if (found.length === 0) return [];
  const rules = adminRulesOf(facts);
  const pods = subjectsOf(sources);
  const problems = problemsOf(sources);
  return [...Map.groupBy(found, ([, { policy }]) => policy)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([policy, sets]) => statusOfPolicy(sources, { policy, sets, rules, pods, problems }, filter));
};

/** @returns undefined: all */
const policiesOf = (
  { facts }: PolicyReportSources,
  all: Subjects,
  { policy, pod, sets }: AdminFilter,
): ReadonlySet<string> | undefined => {
  if (policy !== undefined) return new Set([policy]);
  if (pod !== undefined) {
    const own = facts.get('podPolicy', pod)?.subjects ?? [];
    return new Set(own.flatMap((id) => facts.get('subjectSet', id)?.policy ?? []));
  }
  if (sets === undefined) return undefined;
  const named = all.filter(([id]) => FAMILIES.some((family) => sets.has(subjectSetName(id, family))));
  return new Set(named.map(([, set]) => set.policy));
};

/** Pods by the id of a set. */
const subjectsOf = ({ facts }: PolicyReportSources): ReadonlyMap<string, readonly string[]> => {
  const found = new Map<string, string[]>();
  for (const pod of facts.ids('podPolicy')) {
    for (const set of facts.get('podPolicy', pod)?.subjects ?? []) {
      const known = found.get(set);
      if (known === undefined) found.set(set, [pod]);
      else known.push(pod);
    }
  }
  return found;
};

/** What closes something, by the policy. */
const problemsOf = ({ policyLookup }: PolicyReportSources): ReadonlyMap<string, readonly Problem[]> =>
  Map.groupBy(
    policyLookup.problems().filter(({ severity }) => severity === undefined),
    ({ object }) => object,
  );

interface Found {
  readonly policy: string;
  readonly sets: Subjects;
  readonly rules: AdminRules;
  readonly pods: ReadonlyMap<string, readonly string[]>;
  readonly problems: ReadonlyMap<string, readonly Problem[]>;
}

const statusOfPolicy = (
  sources: PolicyReportSources,
  { policy, sets, rules, pods, problems }: Found,
  filter: AdminFilter,
): AdminPolicyStatus => {
  const { facts, reconcilers, ownersOver } = sources;
  const own = sets.flatMap(([id]) => rules.get(id) ?? []);
  const owners = [
    ...sets.flatMap(([id]) => ownersOver('subjectSet', id)),
    ...own.flatMap(({ id }) => ownersOver('adminRule', id)),
    ...domainSetsOf(own).flatMap((id) => ownersOver('domainSet', id)),
  ];
  const domains = domainStatuses(sources, domainSetsOf(own));
  const nameless = namelessText(domains);
  const isAsked = filter.policy !== undefined || filter.sets !== undefined;
  return {
    policy,
    tier: sets[0]?.[1].tier ?? 'admin',
    problems: problems.get(policy)?.map(({ message }) => message) ?? [],
    targets: [...new Set(sets.flatMap(([id]) => pods.get(id) ?? []))].sort(),
    ruleCount: own.length,
    ...stateOf(worst(owners.map((owner) => statusOf(reconcilers, owner)))),
    ...(nameless !== undefined && { nameless }),
    ...(isAsked && { domains }),
    rules: (isAsked ? own : []).map(({ id, rule }) => {
      const { network, direction, family, action, priority, subjects } = rule;
      const subjectSet = subjectSetName(subjects, family);
      return { ...{ id, network, direction, family, action, priority, subjectSet }, text: adminRuleText(rule, facts) };
    }),
  };
};

/** Rules by names that stand for nothing are programmed, and apply to nothing. Wildcards live of what pods ask. */
const namelessText = (domains: readonly DomainStatus[]): string | undefined => {
  const nameless = domains.filter(({ name, addresses }) => addresses.length === 0 && !name.startsWith('*'));
  if (nameless.length === 0) return undefined;
  const more = nameless.length > MAX_NAMED ? ` and ${nameless.length - MAX_NAMED} more` : '';
  const names = nameless.slice(0, MAX_NAMED).map(({ name }) => name);
  return `${names.join(', ')}${more}`;
};

const MAX_NAMED = 3;

const domainSetsOf = (rules: readonly KnownAdminRule[]): readonly string[] => [
  ...new Set(rules.flatMap(({ rule: { peers } }) => (peers.kind === 'domains' ? peers.sets : []))),
];
