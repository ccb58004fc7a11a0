/** Who may reach whom in a namespace, as far as the policies of pods of this node decide. */
import type { PolicyMatrixStatus } from '../../../api/policy-status.ts';
import type { PolicyPod } from '../../inputs/policies/types.ts';
import { adminRulesOf, rulesAbout } from './admin-rules.ts';
import { idOn } from './end-id.ts';
import { isAttached } from './peer-end.ts';
import { NOT_READ, podEnd } from './pod-end.ts';
import type { PolicyReportSources } from './sources.ts';

/** Nobody reads more, and it is a question for each pair. */
const MAX_PODS = 64;
/** Rules are looked at for each pair, and the agent does nothing else meanwhile. */
const MAX_LOOKS = 500_000;
/** Each takes its ports from what those before it have left: 40 µs, where hundreds have ports of their own. */
const LOOKS_OF_ADMIN_RULE = 5;

/** @param network a secondary one; undefined: the pods' own */
export const reportPolicyMatrix = (
  given: PolicyReportSources,
  namespace: string,
  network?: string,
): PolicyMatrixStatus => {
  const about = network === undefined ? {} : { network };
  const refuse = (message: string): PolicyMatrixStatus => ({ pods: [], ends: [], message, ...about });
  if (!given.policyLookup.isRead()) return refuse(NOT_READ);
  if (given.facts.get('namespace', namespace) === undefined)
    return refuse(`namespace ${namespace} is not known here: there is no such namespace`);
  if (network !== undefined && given.facts.get('network', network)?.role !== 'secondary')
    return refuse(`${network} is not a secondary network here: ask without it`);
  const found = podsOf(given, namespace, network);
  const pods = found.map(([key]) => key).sort();
  if (pods.length > MAX_PODS) return refuse(`namespace ${namespace} has ${pods.length} pods, more than ${MAX_PODS}`);
  const sources = withMemory(given);
  const local = found.filter(([, pod]) => pod.isLocal).map(([key]) => key);
  const { facts } = sources;
  // No firewall is about what pods of one network send to each other.
  const adminRules = adminRulesOf(facts, ({ tier }) => tier !== 'firewall');
  const ofPolicies = local.reduce(
    (sum, pod) => sum + (facts.get('podPolicy', idOn(pod, network))?.rules.length ?? 0),
    0,
  );
  const ofAdmin = local.reduce(
    (sum, pod) => sum + rulesAbout(adminRules, facts.get('podPolicy', idOn(pod, network))).length,
    0,
  );
  if ((ofPolicies + ofAdmin * LOOKS_OF_ADMIN_RULE) * pods.length > MAX_LOOKS)
    return refuse(`pods of namespace ${namespace} have ${ofPolicies + ofAdmin} rules here, too many for a matrix`);
  const ends = local
    .sort()
    .flatMap((pod) =>
      pods
        .filter((peer) => peer !== pod)
        .flatMap((peer) => [
          podEnd(sources, { pod, direction: 'Egress', peer, network }, adminRules),
          podEnd(sources, { pod, direction: 'Ingress', peer, network }, adminRules),
        ]),
    );
  return { pods, ends: ends.map(withoutOthers), ...about };
};

/** Those that policies can be about. */
const podsOf = (
  { facts, policyLookup }: PolicyReportSources,
  namespace: string,
  network: string | undefined,
): (readonly [string, PolicyPod])[] =>
  [...policyLookup.pods()].filter(
    ([, pod]) =>
      pod.namespace === namespace &&
      !pod.finished &&
      pod.isHost !== true &&
      (network === undefined || isAttached(facts, pod, network)),
  );

/** The same rules come again and again. */
const withMemory = (sources: PolicyReportSources): PolicyReportSources => {
  const { policyLookup } = sources;
  const known = new Map<string, readonly string[]>();
  const policiesOfRule = (rule: string): readonly string[] => {
    const found = known.get(rule) ?? policyLookup.policiesOfRule(rule);
    known.set(rule, found);
    return found;
  };
  return { ...sources, policyLookup: { ...policyLookup, policiesOfRule } };
};

const withoutOthers = (end: PolicyMatrixStatus['ends'][number]): PolicyMatrixStatus['ends'][number] => ({
  ...end,
  families: end.families.map((one) => ({ ...one, rules: one.rules.filter(({ lacks }) => lacks === undefined) })),
});
