/** Who may reach whom in a namespace, as far as the policies of pods of this node decide. */
import type { PolicyMatrixStatus } from '../../../api/policy-status.ts';
import { podEnd } from './pod-end.ts';
import type { PolicyReportSources } from './sources.ts';

/** Nobody reads more, and it is a question for each pair. */
const MAX_PODS = 64;

export const reportPolicyMatrix = (sources: PolicyReportSources, namespace: string): PolicyMatrixStatus => {
  const found = [...sources.policyLookup.pods()].filter(([, pod]) => pod.namespace === namespace && !pod.finished);
  const pods = found.map(([key]) => key).sort();
  if (pods.length > MAX_PODS)
    return { pods: [], ends: [], message: `namespace ${namespace} has ${pods.length} pods, more than ${MAX_PODS}` };
  const local = found.filter(([, pod]) => pod.isLocal).map(([key]) => key);
  const ends = local
    .sort()
    .flatMap((pod) =>
      pods
        .filter((peer) => peer !== pod)
        .flatMap((peer) => [
          podEnd(sources, { pod, direction: 'Egress', peer }),
          podEnd(sources, { pod, direction: 'Ingress', peer }),
        ]),
    );
  return { pods, ends: ends.map(withoutOthers) };
};

const withoutOthers = (end: PolicyMatrixStatus['ends'][number]): PolicyMatrixStatus['ends'][number] => ({
  ...end,
  families: end.families.map((one) => ({ ...one, rules: one.rules.filter(({ lacks }) => lacks === undefined) })),
});
