/** What a Lease says, and what to do about it. Pure. */
import { recordOr } from '../is-record.ts';
import type { KubeObject, ObjectInput } from '../types.ts';

export interface LeaseRecord {
  /** Empty: nobody leads. */
  readonly holder: string;
  readonly durationMs: number;
  readonly acquireTime: string | undefined;
  readonly renewTime: string | undefined;
  readonly transitions: number;
}

export const readLease = ({ spec }: KubeObject): LeaseRecord => {
  const { holderIdentity, leaseDurationSeconds, acquireTime, renewTime, leaseTransitions } = recordOr(spec);
  return {
    holder: typeof holderIdentity === 'string' ? holderIdentity : '',
    durationMs: typeof leaseDurationSeconds === 'number' ? leaseDurationSeconds * 1000 : 0,
    acquireTime: typeof acquireTime === 'string' ? acquireTime : undefined,
    renewTime: typeof renewTime === 'string' ? renewTime : undefined,
    transitions: typeof leaseTransitions === 'number' ? leaseTransitions : 0,
  };
};

export interface LeaseClaim {
  readonly namespace: string;
  readonly name: string;
  readonly identity: string;
  readonly leaseMs: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Ours from now on. `current` guards the write: it fails when somebody else was faster. */
export const claimedLease = (
  { namespace, name, identity, leaseMs, now }: LeaseClaim,
  current: KubeObject | undefined,
): ObjectInput => {
  const before = current === undefined ? undefined : readLease(current);
  const kept = before?.holder === identity;
  return {
    metadata: current?.metadata ?? { namespace, name },
    spec: {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(leaseMs / 1000),
      acquireTime: kept && before.acquireTime !== undefined ? before.acquireTime : microTime(now),
      renewTime: microTime(now),
      leaseTransitions: (before?.transitions ?? 0) + (kept || before === undefined ? 0 : 1),
    },
  };
};

/** Nobody's: the next candidate need not wait. */
export const releasedLease = (current: KubeObject, now: number): ObjectInput => ({
  metadata: current.metadata,
  spec: {
    holderIdentity: '',
    leaseDurationSeconds: 1,
    acquireTime: microTime(now),
    renewTime: microTime(now),
    leaseTransitions: readLease(current).transitions,
  },
});

/** metav1.MicroTime. */
const microTime = (milliseconds: number): string => new Date(milliseconds).toISOString().replace(/Z$/, '000Z');
