/** One thing that has to be there, and whether it is. */
import type { TextOutput } from '../output/format.ts';

export interface Check {
  readonly what: string;
  /** `unknown`: it cannot be inspected from here. */
  readonly state: 'ok' | 'missing' | 'unknown';
  /** What was found, or what is wrong. */
  readonly found: string;
  /** What to do next, a message without a full stop. */
  readonly next?: string;
}

export interface Explanation {
  readonly subject: string;
  readonly checks: readonly Check[];
}

export interface ExplainOutput extends TextOutput {
  /** 1: something is missing. */
  readonly exitStatus: 0 | 1;
}

export const ok = (what: string, found: string): Check => ({ what, state: 'ok', found });

export const missing = (what: string, found: string, next: string): Check => ({ what, state: 'missing', found, next });

export const unknown = (what: string, found: string): Check => ({ what, state: 'unknown', found });

export const explainOutput = ({ subject, checks }: Explanation): ExplainOutput => {
  const isWhole = checks.every(({ state }) => state !== 'missing');
  const width = Math.max(...checks.map(({ what }) => what.length));
  return {
    data: { subject, ok: isWhole, checks },
    lines: [
      `${subject}: ${isWhole ? wholeText(checks) : firstMissing(checks)}`,
      ...checks.flatMap(({ what, state, found, next }) => [
        `  ${SIGNS[state]}  ${what.padEnd(width)}  ${found}`,
        ...(next === undefined ? [] : [`${' '.repeat(SIGN_WIDTH + width)}→ ${next}`]),
      ]),
    ],
    exitStatus: isWhole ? 0 : 1,
  };
};

const SIGNS = { ok: 'ok     ', missing: 'MISSING', unknown: '?      ' } as const;
/** Up to what was found: the sign and the spaces around it. */
const SIGN_WIDTH = 13;

const wholeText = (checks: readonly Check[]): string =>
  checks.some(({ state }) => state === 'unknown')
    ? 'nothing is missing, but the lines with a ? could not be checked or are not supported'
    : 'everything is in place';

const firstMissing = (checks: readonly Check[]): string => {
  const first = checks.find(({ state }) => state === 'missing');
  return `${first?.what}: ${first?.found}`;
};
