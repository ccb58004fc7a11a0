/**
 * Says of each policy that nothing enforces it, to whoever wrote it: an event. Nothing is allocated by policies, so they
 * are no part of what is read before the start, and a cluster manager that may not read them works all the same.
 */
import { type PolicyFacts, policyFacts, UNENFORCED_POLICIES } from '../../api/policy.ts';
import { createReflector } from '../../kube/reflector/reflector.ts';
import type { ReflectorOptions } from '../../kube/reflector/types.ts';
import type { MirrorObservation } from './caches.ts';
import type { ProblemReporter } from './problem-reporter.ts';

type Common = Pick<ReflectorOptions<PolicyFacts>, 'client' | 'outage' | 'clock' | 'random'>;

export interface PolicyWarningsOptions extends Common {
  readonly problems: ProblemReporter;
  readonly observe: (observation: MirrorObservation) => void;
}

/** Works until `signal` aborts. */
export const warnOfPolicies = async (
  { problems, observe, ...common }: PolicyWarningsOptions,
  signal: AbortSignal,
): Promise<void> => {
  const reflectors = UNENFORCED_POLICIES.map((resource) => {
    const reflector = createReflector<PolicyFacts>({
      ...common,
      resource,
      optional: true,
      project: (object) => policyFacts(object, resource),
      // That a kind is not installed is nothing that an operator should change.
      observe: (about) => about.kind !== 'absent' && observe({ ...about, resource: resource.plural }),
    });
    reflector.subscribe(({ before, after }) => {
      const policy = after ?? before;
      if (policy === undefined) return;
      const { podSelector: _, ...regarding } = policy;
      problems.report(regarding, NOT_ENFORCED, after === undefined ? [] : [messageOf(after)]);
    });
    return reflector;
  });
  await Promise.all(reflectors.map((reflector) => reflector.run(signal)));
};

const NOT_ENFORCED = 'PolicyNotEnforced';

const messageOf = ({ kind }: PolicyFacts): string =>
  `ovn-udn does not enforce a ${kind}: traffic that it denies is allowed`;
