/** Everything that is wrong on this node, each with its cause and what it follows from: `udnctl problems`. */
import type { BackendName, ProblemStatus } from '../../api/agent-status.ts';
import type { ProblemCause } from '../../api/problem-causes.ts';
import type { Reconciler } from '../../base/reconciler.ts';
import type { AttachmentRegistry } from '../cni/attachments/registry.ts';
import type { CniFailureCause } from '../cni/failure-cause.ts';
import { type PodFailure, type PodFailures, podFailureText } from '../cni/pod-failures.ts';
import type { Problem } from '../inputs/problem.ts';
import type { FactStore } from '../model/fact-store.ts';
import type { Diagnostic } from '../model/fragment.ts';
import { withRoots } from './problem-roots.ts';

export interface ProblemSources {
  readonly node: string;
  readonly facts: FactStore;
  readonly registry: AttachmentRegistry;
  /** Of the pods' last calls. */
  readonly podFailures: Pick<PodFailures, 'of' | 'entries'>;
  readonly diagnostics: ReadonlyMap<string, readonly Diagnostic[]>;
  /** Objects of the API that could not be read, or contradict each other, and what the agent watches on the node. */
  readonly inputProblems: () => readonly Problem[];
  readonly reconcilers: ReadonlyMap<BackendName, Reconciler>;
  /** Databases that cannot be reached. */
  readonly unreachable: () => readonly BackendName[];
}

/** @param read what had to be asked for */
export const reportProblems = (sources: ProblemSources): ProblemStatus[] =>
  withRoots(
    eachOnce([
      ...sources
        .unreachable()
        .map((name) => nodeProblem(sources, 'database-unreachable', `database ${name} cannot be reached`)),
      ...sources.inputProblems().map(ofInput),
      ...[...sources.diagnostics.values()].flat().map(ofDiagnostic),
      ...ofPods(sources),
      ...[...sources.reconcilers].flatMap(([backend, reconciler]) => ofReconciler(backend, reconciler, sources)),
    ]),
  );

const ofInput = ({ object, message, severity, cause = 'other' }: Problem): ProblemStatus => ({
  ...{ object, severity: severity ?? 'error', message, cause },
});

const ofDiagnostic = ({ object, severity, message, cause = 'other' }: Diagnostic): ProblemStatus => ({
  ...{ object, severity, message, cause },
});

const nodeProblem = ({ node }: Pick<ProblemSources, 'node'>, cause: ProblemCause, message: string): ProblemStatus => ({
  ...{ object: `Node/${node}`, severity: 'error', message, cause },
});

/** What the reader of an object says, and who has no use for it then, is one problem: as the worst of them says it. */
const eachOnce = (problems: readonly ProblemStatus[]): ProblemStatus[] => {
  const worst = new Map<string, ProblemStatus>();
  for (const one of problems) {
    const key = JSON.stringify([one.object, one.message]);
    const before = worst.get(key);
    if (before === undefined || SEVERITIES.indexOf(one.severity) < SEVERITIES.indexOf(before.severity)) {
      worst.set(key, one);
    }
  }
  return [...worst.values()];
};

const SEVERITIES: readonly ProblemStatus['severity'][] = ['error', 'warning', 'info'];

/** The last call of each pod that failed, or waits. Of a pod that is gone only a DEL is still of interest. */
const ofPods = ({ podFailures, registry }: ProblemSources): ProblemStatus[] =>
  [...podFailures.entries()].flatMap(([key, failure]): ProblemStatus[] => {
    const pod = registry.get(key)?.pod;
    const cause = CNI_CAUSES[failure.cause];
    const isCurrent = pod === undefined ? failure.command === 'DEL' : podFailures.of(pod) !== undefined;
    if (!isCurrent || cause === undefined) return [];
    return [{ object: `Pod/${key}`, severity: severityOf(failure), message: podFailureText(failure), cause }];
  });

const severityOf = ({ isWaiting }: PodFailure): ProblemStatus['severity'] => (isWaiting ? 'warning' : 'error');

/** Those that are absent are never remembered of a pod. */
const CNI_CAUSES: Readonly<Partial<Record<CniFailureCause, ProblemCause>>> = {
  busy: 'cni-busy',
  internal: 'cni-internal',
  kernel: 'cni-kernel',
  nftables: 'cni-nftables',
  ovn: 'cni-ovn',
  ovsdb: 'cni-ovsdb',
  refused: 'cni-refused',
  'waiting-for-network': 'cni-waiting-for-network',
};

/** What is pending is no problem. What this machine cannot have is one of the node, once for all that need it. */
const ofReconciler = (backend: BackendName, reconciler: Reconciler, sources: ProblemSources): ProblemStatus[] => {
  const { failing } = reconciler.queue();
  const isAway = sources.unreachable().includes(backend);
  const root = isAway ? 'database-unreachable' : failing && 'backend-failing';
  const uplink = uplinkReason(sources);
  const own = reconciler.problems().flatMap(({ owner, key, status: { kind, message } }): ProblemStatus[] => {
    if (kind === 'pending' || message === undefined) return [];
    if (kind === 'unsupported') {
      return [{ ...nodeProblem(sources, 'kernel-lacks', message), severity: 'info' }];
    }
    const what = key === undefined ? '' : `${key}: `;
    const because = message === uplink ? 'uplink-off-bridge' : root;
    return [
      {
        object: owner,
        ...(kind === 'failed'
          ? ({ severity: 'error', cause: 'not-programmed' } as const)
          : ({ severity: 'warning', cause: 'waiting-for-another' } as const)),
        message: `${backend}: ${what}${message}`,
        reason: message,
        ...(because !== undefined && { because }),
      },
    ];
  });
  if (failing === undefined || isAway) return own;
  return [nodeProblem(sources, 'backend-failing', `${backend} does not answer: ${failing.message}`), ...own];
};

/** What flows wait for that lead to the uplink, while that is no port of the bridge. */
const uplinkReason = ({ facts, node }: ProblemSources): string | undefined => {
  const gateway = facts.get('gateway', node);
  return gateway?.uplink === undefined ? undefined : `port ${gateway.uplink} is not on bridge ${gateway.bridge} yet`;
};
