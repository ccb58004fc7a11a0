/** `udnctl policy why`: whether policies let a pod connect to another one, and which. Pure. */
import { z } from 'zod';
import {
  type EndAdminRuleStatus,
  type EndFamilyStatus,
  type EndRuleStatus,
  type PolicyEndStatus,
  type PolicyVerdict,
  policyEndSchema,
} from '../../api/policy-status.ts';
import { both, EVERYTHING, type Ports } from '../../net/port-regions.ts';
import type { TextOutput } from '../output/format.ts';
import { lets, portsText } from './let-through.ts';
import { type AskedPacket, packetText } from './packet.ts';

export interface Ends {
  readonly egress: PolicyEndStatus;
  /** Absent: the destination is an address, and no pod's. */
  readonly ingress?: PolicyEndStatus | undefined;
}

/** What `-o json` prints, and other nodes answer. */
export const whySchema = z.object({
  verdict: z.string(),
  egress: policyEndSchema,
  ingress: policyEndSchema.optional(),
});

export interface WhyPolicyOutput extends TextOutput {
  /** 1: denied, or allowed in part; 2: an end could not be asked, or not all of the answer is programmed. */
  readonly exitStatus: 0 | 1 | 2;
}

export const whyOutput = ({ egress, ingress }: Ends, packet: AskedPacket | undefined): WhyPolicyOutput => {
  const ends = ingress === undefined ? [egress] : [egress, ingress];
  const verdict = verdictOf(ends);
  const lacking = ends.flatMap(({ pod, notProgrammed }) =>
    notProgrammed === undefined ? [] : `${pod}: ${notProgrammed}`,
  );
  return {
    data: { verdict, egress, ...(ingress !== undefined && { ingress }) },
    lines: [
      sentenceOf(verdict, egress, packet, ends),
      ...lacking.map((text) => `  not programmed yet, so packets may fare differently: ${text}`),
      ...ends.flatMap((end) => endLines(end)),
      ...(ingress === undefined ? [`  ${egress.peer} is an address: who answers there decides for itself`] : []),
    ],
    exitStatus: lacking.length > 0 ? 2 : EXIT_STATUS[verdict],
  };
};

const EXIT_STATUS = { open: 0, allowed: 0, partly: 1, denied: 1, unknown: 2 } as const satisfies Record<
  PolicyVerdict,
  number
>;

/** Both have to let it through; what one of them denies is denied, whatever the other one would say. */
export const verdictOf = (ends: readonly PolicyEndStatus[]): PolicyVerdict => {
  if (ends.some(({ verdict }) => verdict === 'denied')) return 'denied';
  if (ends.some(({ verdict }) => verdict === 'unknown')) return 'unknown';
  if (ends.every(({ verdict }) => verdict === 'open')) return 'open';
  const families = new Set(ends.flatMap((end) => end.families.map(({ family }) => family)));
  const verdicts = new Set([...families].map((family) => worstOf(ends.map((end) => verdictFor(end, family)))));
  const [first = 'allowed', ...others] = verdicts;
  if (others.length === 0 && first !== 'partly') return first;
  // Each lets something through, and both together nothing.
  return [...families].every((family) => portsOfBoth(ends, family).length === 0) ? 'denied' : 'partly';
};

const portsOfBoth = (ends: readonly PolicyEndStatus[], family: EndFamilyStatus['family']): readonly Ports[] =>
  ends.map((end) => lets(end, family) ?? []).reduce(both, [EVERYTHING]);

const verdictFor = ({ verdict, families }: PolicyEndStatus, family: EndFamilyStatus['family']): PolicyVerdict =>
  families.length === 0 ? verdict : (families.find((one) => one.family === family)?.verdict ?? 'denied');

const worstOf = (verdicts: readonly PolicyVerdict[]): PolicyVerdict => {
  if (verdicts.includes('denied')) return 'denied';
  return verdicts.includes('partly') ? 'partly' : 'allowed';
};

const sentenceOf = (
  verdict: PolicyVerdict,
  { pod, peer }: PolicyEndStatus,
  packet: AskedPacket | undefined,
  ends: readonly PolicyEndStatus[],
): string => {
  const what = `${pod} to ${peer}${packet === undefined ? '' : `, ${packetText(packet)}`}`;
  const cause = ends.find((end) => end.verdict === verdict)?.message;
  switch (verdict) {
    case 'open':
      return `${what}: allowed, no policy isolates ${ends.length > 1 ? 'either of them' : pod}`;
    case 'allowed':
      return `${what}: allowed`;
    case 'partly':
      return `${what}: allowed in part: ${partText(ends)}`;
    case 'denied':
      return `${what}: denied: ${cause ?? 'no family and port is let through at both ends'}`;
    case 'unknown':
      return `${what}: not known: ${cause}`;
  }
};

/** By family, where these differ. */
const partText = (ends: readonly PolicyEndStatus[]): string => {
  const families = [...new Set(ends.flatMap((end) => end.families.map(({ family }) => family)))].sort();
  const texts = families.map((family) => ({ family, text: portsText(portsOfBoth(ends, family)) }));
  return new Set(texts.map(({ text }) => text)).size === 1
    ? (texts[0]?.text ?? '')
    : texts.map(({ family, text }) => `IPv${family} ${text === '-' ? 'nothing' : text}`).join(', ');
};

const endLines = (end: PolicyEndStatus): readonly string[] => {
  const { direction, pod, verdict, message, isolatedBy, families, notFollowed = [] } = end;
  return [
    `  ${direction === 'Egress' ? 'egress of' : 'ingress of'} ${pod}: ${verdict}: ${message}`,
    ...(isolatedBy.length === 0 ? [] : [`    isolated by ${isolatedBy.join(', ')}`]),
    ...rulesLines(families).map((line) => `    ${line}`),
    ...notFollowed.map((text) => `    cannot be followed: ${text}`),
  ];
};

/** Of many rules that do not fit, nobody reads all. */
const MAX_OTHERS = 10;

const rulesLines = (families: readonly EndFamilyStatus[]): readonly string[] => {
  const lines = families.flatMap(({ family, rules, admin = [] }) => {
    const letting = rules.filter(({ lacks }) => lacks === undefined);
    const shown = letting.length > 0 ? letting : rules;
    const texts = shown.length === 0 && admin.length === 0 ? ['there is no rule'] : shown.map(lineOf);
    return [...admin.map(adminLineOf), ...texts].map((text) => ({ family, text }));
  });
  const byText = [...Map.groupBy(lines, ({ text }) => text)].map(([text, same]) => {
    const all = [...new Set(same.map(({ family }) => family))].sort();
    return `${all.map((family) => `IPv${family}`).join(', ')}: ${text}`;
  });
  const more = byText.length - MAX_OTHERS;
  return more > 0 ? [...byText.slice(0, MAX_OTHERS), `and ${more} more`] : byText;
};

const adminLineOf = ({ action, text, policy, tier }: EndAdminRuleStatus): string =>
  `${ACTION_WORDS[action]} by the rule "${text}" of ${policy}${PLACES[tier]}`;

const PLACES = {
  admin: '',
  baseline: ', after network policies',
  firewall: ', out of the cluster',
} as const;

const ACTION_WORDS = { allow: 'allowed', deny: 'denied', pass: 'passed on' } as const;

const lineOf = (rule: EndRuleStatus): string =>
  rule.lacks === undefined ? `by the rule ${textOf(rule)}` : `not by ${textOf(rule)}: ${rule.lacks}`;

const textOf = ({ text, policies }: EndRuleStatus): string => `"${text}" of ${policies.join(', ')}`;
