/**
 * The network policies of this node: what each isolates here, its rules, and how far these are programmed. Rules may be many, as tenants
 * write them: all of them are never sent at once, only those of what is asked about.
 */
import type { PoliciesStatus, PolicyStatus } from '../../../api/policy-status.ts';
import { type Status, worst } from '../../../base/reconciler.ts';
import type { PolicyDescription } from '../../inputs/policies/describe.ts';
import { podOfId } from '../../model/facts.ts';
import { targetSetName } from '../../model/policies/ids.ts';
import { statusOf } from '../../reconcile/reconcilers.ts';
import { stateOf } from '../programming-state.ts';
import { adminStatuses } from './admin-policies.ts';
import { groupNames, podStatuses } from './isolated-pods.ts';
import { ruleStatuses } from './rules.ts';
import type { PolicyReportSources } from './sources.ts';

/** One of them; none: all policies, without their rules. */
export interface PolicyFilter {
  /** `namespace/name`, or `AdminNetworkPolicy/name`: it, its rules, its pods. */
  readonly policy?: string | undefined;
  /** `namespace/name`: the policies that select it, and how it is isolated. */
  readonly pod?: string | undefined;
  /** Names of address sets and port groups that ACLs name: the rules and pods behind them. */
  readonly sets?: readonly string[] | undefined;
}

export const reportPolicies = (sources: PolicyReportSources, filter: PolicyFilter = {}): PoliciesStatus => {
  const doubt = sources.failureToFollow() ?? sources.failureToHear();
  return { ...asWritten(sources, filter), ...(doubt !== undefined && { doubt }) };
};

const asWritten = (sources: PolicyReportSources, { policy, pod, sets }: PolicyFilter): PoliciesStatus => {
  const { policyLookup } = sources;
  const isRead = policyLookup.isRead();
  const admin = adminStatuses(sources, { policy, pod, sets: sets && new Set(sets) });
  if (sets !== undefined) return { isRead, policies: [], ...behindSets(sources, new Set(sets)), admin };
  const keys =
    policy !== undefined
      ? [policy]
      : pod !== undefined
        ? [
            ...new Set(
              idsOf(pod, policyLookup)
                .flatMap(policyLookup.isolating)
                .map((one) => one.policy),
            ),
          ]
        : [...policyLookup.policies()];
  const found = keys.sort().flatMap((key) => policyLookup.describe(key) ?? []);
  const stateOfOwner = withMemory((owner) => statusOf(sources.reconcilers, owner));
  const policies = found.map((one) => policyStatus(sources, one, stateOfOwner));
  if (policy === undefined)
    return {
      ...{ isRead, policies, rules: [] },
      pods: podStatuses(sources, pod === undefined ? closedPods(sources) : idsOf(pod, policyLookup)),
      admin,
    };
  const rules = found.flatMap((one) => one.rules.map(({ id }) => id));
  const targets = found.flatMap((one) => one.targets);
  return { isRead, policies, rules: ruleStatuses(sources, rules), pods: podStatuses(sources, targets), admin };
};

const closedPods = ({ facts }: PolicyReportSources): readonly string[] =>
  [...facts.ids('podPolicy')].filter((pod) => facts.get('podPolicy', pod)?.isClosed === true);

/** Of a pod itself, and of its attachments. */
const idsOf = (pod: string, { attachments }: PolicyReportSources['policyLookup']): readonly string[] => [
  pod,
  ...attachments(pod),
];

const behindSets = (
  sources: PolicyReportSources,
  sets: ReadonlySet<string>,
): Pick<PoliciesStatus, 'rules' | 'pods'> => {
  const { facts } = sources;
  const pods = [...facts.ids('podPolicy')].filter((pod) => {
    const fact = facts.get('podPolicy', pod);
    return fact?.isolated.some((direction) =>
      Object.values(groupNames(fact, direction)).some((name) => sets.has(name)),
    );
  });
  const rules = [...facts.ids('policyRule')].filter((rule) => sets.has(targetSetName(rule)));
  return { rules: ruleStatuses(sources, rules), pods: podStatuses(sources, pods) };
};

const policyStatus = (
  { facts, ownersOver }: PolicyReportSources,
  { kind, network, policy, targets, rules, problems }: PolicyDescription,
  stateOfOwner: (owner: string) => Status,
): PolicyStatus => {
  const texts = (isNote: boolean): string[] =>
    problems.filter(({ severity }) => (severity === 'warning') === isNote).map(({ message }) => message);
  const owners = [
    ...rules.flatMap(({ id }) => ownersOver('policyRule', id)),
    ...targets.flatMap((id) => ownersOver('pod', podOfId(id))),
  ];
  const waiting = targets.find((pod) => facts.get('podPolicy', pod) === undefined);
  const states: Status[] = waiting === undefined ? [] : [{ kind: 'waiting', message: `${waiting} has no network yet` }];
  return {
    ...(kind !== undefined && { kind, networks: network ?? '' }),
    namespace: policy.namespace,
    name: policy.name,
    types: [...policy.types],
    problems: texts(false),
    notes: texts(true),
    targets: [...targets],
    ruleCount: rules.length,
    peerPods: rules.reduce((most, { peers }) => Math.max(most, peers?.pods ?? 0), 0),
    ...stateOf(worst([...states, ...owners.map(stateOfOwner)])),
  };
};

/** Policies share rules and pods. */
const withMemory = (read: (owner: string) => Status): ((owner: string) => Status) => {
  const known = new Map<string, Status>();
  return (owner) => {
    const found = known.get(owner) ?? read(owner);
    known.set(owner, found);
    return found;
  };
};
