/**
 * Says of each policy that nobody can read it, to whoever wrote it: an event. Nothing is allocated by policies,
 * so they are no part of what is read before the start, and a cluster manager that may not read them works all the same.
 */
import { ADMIN_POLICIES, parseAdminPolicy } from '../../api/admin-network-policy.ts';
import { ApiError, describeFinding } from '../../api/errors.ts';
import { POLICY_FOR_ANNOTATION, readPolicyFor } from '../../api/multi-network-policy.ts';
import { parseNetworkPolicy } from '../../api/network-policy.ts';
import { type NameReading, wildcardsOf } from '../../api/policy-names.ts';
import { EGRESS_FIREWALLS, MULTI_NETWORK_POLICIES } from '../../api/resources.ts';
import type { InvolvedObject } from '../../kube/events/types.ts';
import { createReflector } from '../../kube/reflector/reflector.ts';
import type { Reflector, ReflectorOptions } from '../../kube/reflector/types.ts';
import { NETWORK_POLICIES } from '../../kube/resources.ts';
import type { KubeObject, ResourceType } from '../../kube/types.ts';
import type { DomainName } from '../../net/domain-name.ts';
import { type FirewallFacts, firewallFacts } from '../facts/firewall-facts.ts';
import type { WildcardUses } from '../state/wildcard-uses.ts';
import type { MirrorObservation } from './caches.ts';
import type { ProblemReporter } from './problem-reporter.ts';

type Common = Pick<ReflectorOptions<unknown>, 'client' | 'outage' | 'clock' | 'random'>;

export interface PolicyWarningsOptions extends Common {
  readonly problems: ProblemReporter;
  readonly observe: (observation: MirrorObservation) => void;
  /** Told which wildcards of domain names policies follow; absent: they follow none. */
  readonly uses?: WildcardUses | undefined;
}

/** What its writer is told; no messages where all is well. */
interface PolicyWarning {
  readonly regarding: InvolvedObject;
  readonly reason: 'PolicyUnreadable';
  readonly messages: readonly string[];
  /** Those of domain names that it follows. */
  readonly wildcards: readonly DomainName[];
}

/** Not run yet. */
export const createPolicyWarnings = (
  options: PolicyWarningsOptions,
): Pick<Reflector<unknown>, 'run' | 'whenSynced'> => {
  const names = { followsWildcards: options.uses !== undefined };
  const admin = ADMIN_POLICIES.map((resource) =>
    followed(options, resource, (object) => adminReadingOf(resource, object, names)),
  );
  const reflectors = [
    ...[followed(options, NETWORK_POLICIES, readingOf), ...admin],
    followed(options, MULTI_NETWORK_POLICIES, multiReadingOf),
  ];
  return {
    run: async (signal) => {
      await Promise.all(reflectors.map((reflector) => reflector.run(signal)));
    },
    // Others have no names.
    whenSynced: async (signal) => {
      await Promise.all(admin.map((reflector) => reflector.whenSynced(signal)));
    },
  };
};

const followed = (
  { problems, observe, uses, ...common }: PolicyWarningsOptions,
  resource: ResourceType,
  project: (object: KubeObject) => PolicyWarning,
): Reflector<PolicyWarning> => {
  const reflector = createReflector<PolicyWarning>({
    ...common,
    resource,
    optional: true,
    project,
    // That a kind is not installed is nothing that an operator should change.
    observe: (about) => about.kind !== 'absent' && observe({ ...about, resource: resource.plural }),
  });
  reflector.subscribe(({ key, before, after }) => {
    const { regarding, reason } = after ?? before;
    problems.report(regarding, reason, after?.messages ?? []);
    uses?.set(`${resource.kind}/${key}`, after && { ...after, isTenant: false });
  });
  return reflector;
};

const readingOf = (object: KubeObject): PolicyWarning =>
  reading(
    NETWORK_POLICIES,
    object,
    () => {
      parseNetworkPolicy(object);
      return { messages: [] };
    },
    CLOSED,
  );

const CLOSED = 'the policy isolates its pods and allows nothing';

const multiReadingOf = (object: KubeObject): PolicyWarning => {
  const { namespace = '', annotations } = object.metadata;
  const { nads, problem } = readPolicyFor(annotations?.[POLICY_FOR_ANNOTATION] ?? '', namespace);
  const messages = (): string[] => {
    parseNetworkPolicy(object, 'MultiNetworkPolicy');
    if (problem !== undefined) return [`${problem}; ${CLOSED}`];
    return nads.length > 0 ? [] : [`it is for no network: no annotation ${POLICY_FOR_ANNOTATION} names one`];
  };
  return reading(MULTI_NETWORK_POLICIES, object, () => ({ messages: messages() }), CLOSED);
};

const adminReadingOf = (
  resource: (typeof ADMIN_POLICIES)[number],
  object: KubeObject,
  names: NameReading,
): PolicyWarning =>
  reading(
    resource,
    object,
    () => {
      const policy = parseAdminPolicy(resource.kind, object, names);
      return { messages: policy.findings, wildcards: wildcardsOf(policy) };
    },
    'its subjects or its place in the order are unknown, and it is not enforced',
  );

/** Not run yet. What it keeps of each is also what its status is written from. */
export const createFirewalls = ({
  problems,
  observe,
  uses,
  ...common
}: PolicyWarningsOptions): Reflector<FirewallFacts> => {
  const names = { followsWildcards: uses !== undefined };
  const resource = EGRESS_FIREWALLS;
  const reflector = createReflector<FirewallFacts>({
    ...{ ...common, resource, optional: true, project: (object) => firewallFacts(object, names) },
    observe: (about) => about.kind !== 'absent' && observe({ ...about, resource: resource.plural }),
  });
  const apiVersion = `${resource.group}/${resource.version}`;
  reflector.subscribe(({ key, before, after }) => {
    const { namespace, name, uid } = after ?? before;
    const regarding = { apiVersion, kind: resource.kind, namespace, name, uid };
    problems.report(regarding, 'PolicyUnreadable', after?.findings ?? []);
    uses?.set(`${resource.kind}/${key}`, after && { regarding, isTenant: true, wildcards: after.wildcards });
  });
  return reflector;
};

/** @param read what of it cannot be followed; throws where it is the whole @param consequence then */
const reading = (
  { group, version, kind }: ResourceType,
  { metadata: { namespace, name, uid } }: KubeObject,
  read: () => Pick<PolicyWarning, 'messages'> & Partial<PolicyWarning>,
  consequence: string,
): PolicyWarning => {
  const regarding = { apiVersion: `${group}/${version}`, kind, namespace, name, uid };
  try {
    return { regarding, reason: 'PolicyUnreadable', wildcards: [], ...read() };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return {
      regarding,
      reason: 'PolicyUnreadable',
      wildcards: [],
      messages: [`${describeFinding(error)}; ${consequence}`],
    };
  }
};
