/** What was found on the way to an answer, and the answer. */
import type { Snapshot, Unread } from '../cluster/snapshot.ts';

/** Why something is not ready, or not gone; for programs. docs/udnctl.md has a line about each. */
export const CAUSES = [
  'address-missing',
  'addresses-exhausted',
  'annotation-unreadable',
  'being-deleted',
  'condition',
  'containers',
  'endpoints-missing',
  'finalizer',
  'id-missing',
  'label-missing',
  'manager-away',
  'nad-being-deleted',
  'nad-foreign',
  'nad-invalid',
  'nad-missing',
  'namespace-missing',
  'namespace-terminating',
  'no-namespace-selected',
  'no-network',
  'node-failing',
  'node-missing',
  'node-not-ready',
  'node-subnet-missing',
  'node-without-agent',
  'nodes-pending',
  'not-found',
  'not-seen-yet',
  'older-than-network',
  'pods-not-ready',
  'pods-use-it',
  'primary-selected',
  'primary-taken',
  'request-refused',
  'selector-selects-nothing',
  'spec-invalid',
  'subnets-exhausted',
  'unscheduled',
  'unsupported',
] as const;
export type Cause = (typeof CAUSES)[number];

export interface Finding {
  readonly what: string;
  /** `warning`: it works, and otherwise than somebody may think. */
  readonly state: 'ok' | 'warning' | 'blocked' | 'unknown';
  /** What was found, or what is wrong: a message without a full stop that names the object. */
  readonly found: string;
  readonly cause?: Cause;
  /** What to do next, a message without a full stop. */
  readonly next?: string;
}

export interface Diagnosis {
  /** `pod red/web` */
  readonly subject: string;
  readonly isReady: boolean;
  /** The answer, in one message. */
  readonly summary: string;
  /** Of the first thing that blocks. */
  readonly cause?: Cause;
  readonly next?: string;
  /** The whole way. */
  readonly findings: readonly Finding[];
}

export const ok = (what: string, found: string): Finding => ({ what, state: 'ok', found });

export const warning = (what: string, found: string): Finding => ({ what, state: 'warning', found });

export const unknown = (what: string, found: string): Finding => ({ what, state: 'unknown', found });

export const blocked = (what: string, cause: Cause, found: string, next: string): Finding => ({
  what,
  state: 'blocked',
  cause,
  found,
  next,
});

/** The first thing that blocks is the answer: what comes later mostly follows from it. */
export const diagnosisOf = (
  subject: string,
  findings: readonly Finding[],
  ready: string,
  problem: string,
): Diagnosis => {
  const first = findings.find(({ state }) => state === 'blocked');
  if (first?.cause !== undefined) {
    const { cause, found, next } = first;
    const withNext = next === undefined ? {} : { next };
    return { subject, isReady: false, summary: `${subject} ${problem}: ${found}`, cause, ...withNext, findings };
  }
  const doubt = findings.some(({ state }) => state === 'unknown') ? ', as far as could be read' : '';
  return { subject, isReady: true, summary: `${subject} ${ready}${doubt}`, findings };
};

/** Why a kind could not be read; undefined: it was. */
export const unreadOf = ({ unread }: Snapshot, resource: string): Unread | undefined =>
  unread.find((one) => one.resource === resource);

export const unreadText = ({ what, why }: Unread): string => `${what}: ${why}`;

const MAX_NAMED = 10;

/** `a, b and 3 more` */
export const named = (names: readonly string[]): string => {
  const more = names.length - MAX_NAMED;
  return more > 0 ? `${names.slice(0, MAX_NAMED).join(', ')} and ${more} more` : names.join(', ');
};
