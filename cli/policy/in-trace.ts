/** Says of a trace which network policies its ACLs are of: those name sets of addresses and groups of ports. Pure. */
import type { AdminPolicyStatus, PoliciesStatus, PolicyRuleStatus } from '../../api/policy-status.ts';
import type { TextOutput } from '../output/format.ts';
import { ACL_OFFSET } from '../trace/logical-result.ts';

/** The ends of what is traced, as far as they are pods of this node. */
export interface TracedPods {
  /** `namespace/name` */
  readonly from: string | undefined;
  /** Addresses of the pods of this node, by `namespace/name`. */
  readonly addresses: ReadonlyMap<string, readonly string[]>;
}

export const withPolicies = <Traced extends TextOutput>(
  output: Traced,
  status: PoliciesStatus,
  pods: TracedPods,
): Traced => {
  const explain = explainerOf(status, pods, output.lines);
  const found = new Set<string>();
  const lines = output.lines.flatMap((line) => {
    const texts = explain(line);
    for (const text of texts) found.add(text);
    const indent = ' '.repeat(line.length - line.trimStart().length);
    return [line, ...texts.map((text) => `${indent}→ ${text}`)];
  });
  if (found.size === 0) return output;
  return { ...output, data: { ...(output.data as object), policies: [...found] }, lines };
};

const explainerOf = (
  { rules, pods, admin = [] }: PoliciesStatus,
  { from, addresses }: TracedPods,
  lines: readonly string[],
): ((line: string) => readonly string[]) => {
  const byTargets = new Map(rules.map((rule) => [rule.targetSet, rule]));
  const bySubjects = Map.groupBy(
    admin.flatMap(({ policy, rules: own }) => own.map((rule) => ({ ...rule, policy }))),
    ({ subjectSet }) => subjectSet,
  );
  const groups = Map.groupBy(
    pods.flatMap(({ pod, directions }) =>
      directions.flatMap(({ denyGroup, logGroup, ...one }) =>
        [denyGroup, logGroup].flatMap((group) => (group === undefined ? [] : { pod, group, ...one })),
      ),
    ),
    ({ group }) => group,
  );
  const all = lines.join('\n');
  const isTraced = (pod: string, direction: string): boolean =>
    direction === 'Egress'
      ? pod === from
      : pod !== from && (addresses.get(pod) ?? []).some((ip) => hasAddress(all, ip));
  return (line) =>
    [...new Set(line.match(NAMES) ?? [])].flatMap((name) => {
      const rule = byTargets.get(name.slice(1));
      if (rule !== undefined) return [ruleText(rule)];
      const ofAdmin = bySubjects.get(name.slice(1));
      if (ofAdmin !== undefined) return adminTexts(ofAdmin, line);
      return (groups.get(name.slice(1)) ?? [])
        .filter(({ pod, direction }) => isTraced(pod, direction))
        .map(({ pod, direction, policies }) => `${pod} is isolated for ${direction} by ${policiesText(policies)}`);
    });
};

/** Of address sets and port groups, as matches of OVN have them (ovn-sb(5), Logical_Flow). More than a group: what is let through all the same. */
const NAMES = /\$a[0-9a-f]{32}\b|@a[0-9a-f]{32}\b(?! && )/g;

/** `10.0.0.1` is not in `10.0.0.10`. */
const hasAddress = (text: string, ip: string): boolean =>
  text.split(/[^0-9a-f.:]/).some((word) => word === ip || word.replace(/:[0-9]+$/, '') === ip);

/** Of all that could be a policy's. */
export const namesIn = (lines: readonly string[]): readonly string[] => [
  ...new Set(lines.flatMap((line) => (line.match(NAMES) ?? []).map((name) => name.slice(1)))),
];

const ruleText = ({ direction, peers, ports, policies }: PolicyRuleStatus): string =>
  `allowed ${direction === 'Ingress' ? 'from' : 'to'} ${peers}, ${ports}, by ${policiesText(policies)}`;

/** Those of a network are of one kind, which MultiNetworkPolicies name. */
const policiesText = (policies: readonly string[]): string =>
  `${policies.some((one) => one.startsWith('MultiNetworkPolicy/')) ? '' : 'NetworkPolicy '}${policies.join(', ')}`;

type AdminRule = AdminPolicyStatus['rules'][number] & Pick<AdminPolicyStatus, 'policy'>;

/** Rules of a policy have one set of subjects: which of them it is, the priority of the ACL says. */
const adminTexts = (rules: readonly AdminRule[], line: string): readonly string[] => {
  const [, ofAcl, ofFlow] = /ACL[^(]*\(priority ([0-9]+)|\(priority ([0-9]+)\)$/.exec(line) ?? [];
  const priority = ofAcl === undefined ? Number(ofFlow) - ACL_OFFSET : Number(ofAcl);
  const own = rules.filter((rule) => rule.priority === priority && isOfWay(rule, line));
  if (own.length === 0)
    return [...new Set(rules.map(({ policy }) => `of the subjects of ${policy}, none of its rules`))];
  return [
    ...new Set(
      own.map(
        ({ action, text, policy }) => `${ACTION_WORDS[action]}: ${own.length > 1 ? 'a rule' : text}, by ${policy}`,
      ),
    ),
  ];
};

const isOfWay = ({ direction, subjectSet }: AdminRule, line: string): boolean =>
  line.includes(`.${direction === 'Ingress' ? 'dst' : 'src'} == $${subjectSet}`);

const ACTION_WORDS = { allow: 'allowed', deny: 'denied', pass: 'passed on to the next tier' } as const;
