/** `udnctl policy why`: whether policies let a pod connect to another one, and which. Pure. */
import { z } from 'zod';
import {
  type EndFamilyStatus,
  type EndRuleStatus,
  type PolicyEndStatus,
  type PolicyVerdict,
  policyEndSchema,
} from '../../api/policy-status.ts';
import type { TextOutput } from '../output/format.ts';
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
  /** 1: denied, or allowed in part; 2: one of both ends could not be asked. */
  readonly exitStatus: 0 | 1 | 2;
}

export const whyOutput = ({ egress, ingress }: Ends, packet: AskedPacket | undefined): WhyPolicyOutput => {
  const ends = ingress === undefined ? [egress] : [egress, ingress];
  const verdict = verdictOf(ends);
  return {
    data: { verdict, egress, ...(ingress !== undefined && { ingress }) },
    lines: [
      sentenceOf(verdict, egress, packet, ends),
      ...ends.flatMap((end) => endLines(end)),
      ...(ingress === undefined ? [`  ${egress.peer} is an address: who answers there decides for itself`] : []),
    ],
    exitStatus: EXIT_STATUS[verdict],
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
  return others.length === 0 ? first : 'partly';
};

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
      return `${what}: allowed in part`;
    case 'denied':
      return `${what}: denied: ${cause ?? 'not by the same family at both ends'}`;
    case 'unknown':
      return `${what}: not known: ${cause}`;
  }
};

const endLines = (end: PolicyEndStatus): readonly string[] => {
  const { direction, pod, verdict, message, isolatedBy, families } = end;
  return [
    `  ${direction === 'Egress' ? 'egress of' : 'ingress of'} ${pod}: ${verdict}: ${message}`,
    ...(isolatedBy.length === 0 ? [] : [`    isolated by ${isolatedBy.join(', ')}`]),
    ...families.flatMap(({ family, rules }) => rulesLines(family, rules)),
  ];
};

/** Of many rules that do not fit, nobody reads all. */
const MAX_OTHERS = 10;

const rulesLines = (family: number, rules: readonly EndRuleStatus[]): readonly string[] => {
  const letting = rules.filter(({ lacks }) => lacks === undefined);
  const others = letting.length > 0 ? [] : rules;
  const more = others.length - MAX_OTHERS;
  return [
    ...letting.map((rule) => `    IPv${family}: by the rule ${textOf(rule)}`),
    ...others.slice(0, MAX_OTHERS).map((rule) => `    IPv${family}: not by ${textOf(rule)}: ${rule.lacks}`),
    ...(more > 0 ? [`    IPv${family}: nor by ${more} more`] : []),
    ...(rules.length === 0 ? [`    IPv${family}: there is no rule`] : []),
  ];
};

const textOf = ({ text, policies }: EndRuleStatus): string => `"${text}" of ${policies.join(', ')}`;
