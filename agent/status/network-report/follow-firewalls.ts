/** What the agent knows of the EgressFirewalls of its node, as the reporter asks for it, and what may change that. */
import { adminPolicyKey } from '../../../api/admin-network-policy.ts';
import { firewallVersion } from '../../../api/firewall-version.ts';
import { systemClock } from '../../../base/clock.ts';
import type { ObjectCache } from '../../../kube/reflector/types.ts';
import type { Domains } from '../../dns/start.ts';
import { failureToFollow } from '../../health/component.ts';
import type { NodeHealth } from '../../health/start.ts';
import type { AdminProjection } from '../../inputs/policies/admin/admin-projection.ts';
import type { Problem } from '../../inputs/problem.ts';
import { DATABASE_NAMES } from '../../reconcile/reconcilers.ts';
import type { PolicyReportSources } from '../policies/sources.ts';
import { NodeFirewalls } from './firewalls.ts';
import { type NodeNetworks, ownerState } from './node-networks.ts';

export interface FirewallParts extends Pick<NodeNetworks, 'databases'> {
  readonly core: Pick<NodeNetworks['core'], 'facts' | 'onRendered'>;
  readonly sources: Pick<NodeNetworks['sources'], 'reconcilers' | 'diagnostics'> &
    Pick<PolicyReportSources, 'policyLookup' | 'ownersOver'>;
  readonly health: Pick<NodeHealth, 'components' | 'inEffectUntil' | 'onChange'>;
  readonly domains: Pick<Domains, 'problemsOfFirewalls' | 'firewallsAwaitingNames' | 'onNamesChange'>;
  /** Undefined: policies are not read. */
  readonly firewalls: ObjectCache<AdminProjection> | undefined;
}

/** @param onTouched something else may have to be reported @returns with what ends it */
export const followFirewalls = (
  { core, databases, sources, health, domains, firewalls }: FirewallParts,
  onTouched: () => void,
): { readonly report: NodeFirewalls['report']; readonly stop: () => void } => {
  const node = new NodeFirewalls({
    ...{ facts: core.facts, ownersOver: sources.ownersOver, onTouched },
    statusOf: (owner) => ownerState(sources, owner),
    versionOf: (policy) => versionOf(firewalls?.get(policy.slice(PREFIX.length))),
    problems: () => firewallProblems(sources.policyLookup.problems()),
    names: () => ({
      unresolved: new Map(domains.problemsOfFirewalls(core.facts).map(({ object, message }) => [object, message])),
      awaiting: domains.firewallsAwaitingNames(core.facts),
    }),
    clock: systemClock,
    unfollowed: () => {
      const message = failureToFollow(health.components());
      return message === undefined ? undefined : { message, inEffectUntil: health.inEffectUntil() };
    },
  });
  const ends = [
    core.facts.listen(node.follow),
    core.onRendered((owners) => {
      for (const owner of owners) node.touchOwner(owner);
    }),
    ...DATABASE_NAMES.map((name) => databases[name].reconciler.onStatus(({ owner }) => node.touchOwner(owner))),
    health.onChange(() => node.touchAll()),
    domains.onNamesChange(() => node.touchAll()),
    firewalls?.subscribe(({ key }) => node.touchFirewall(`${PREFIX}${key}`)),
  ];
  return {
    report: () => node.report(),
    stop: () => {
      for (const end of ends) end?.();
    },
  };
};

const PREFIX = adminPolicyKey({ kind: 'EgressFirewall', name: '' });

const versionOf = (projection: AdminProjection | undefined): string | undefined => {
  if (projection === undefined) return undefined;
  const { uid = '', generation = 0 } = projection.policy;
  return firewallVersion(uid, generation);
};

/** What nobody can read is the cluster manager's to report, once for all nodes. */
const firewallProblems = (problems: readonly Problem[]): ReadonlyMap<string, string> =>
  new Map(
    problems
      .filter(({ severity, cause }) => severity === undefined && cause !== 'object-unreadable')
      .flatMap(({ object, message }) => (object.startsWith(PREFIX) ? [[object, message] as const] : [])),
  );
