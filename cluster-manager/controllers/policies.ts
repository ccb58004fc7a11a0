/** Policies as far as this program has to do with them: it says what of them nobody can read, and follows what they need of the cluster. */
import type { FirewallContext } from './firewall-controller.ts';
import { createFirewalls, createPolicyWarnings } from './policy-warnings.ts';
import { createWildcards, type Wildcards, type WildcardsOptions } from './wildcard-controller.ts';

export interface Policies {
  readonly firewalls: FirewallContext['firewalls'];
  /** Absent: none are followed. */
  readonly wildcards: Wildcards | undefined;
  /** All that may have wildcards has been read. */
  whenSynced(signal: AbortSignal): Promise<unknown>;
}

/** Not run yet. @param namespace of DNSNameResolvers */
export const createPolicies = (
  options: Omit<WildcardsOptions, 'namespace'>,
  namespace: string | undefined,
): Policies & { run(signal: AbortSignal): Promise<unknown> } => {
  const wildcards = namespace === undefined ? undefined : createWildcards({ ...options, namespace });
  const { writer: _, ...common } = { ...options, uses: wildcards?.uses };
  const [firewalls, warnings] = [createFirewalls(common), createPolicyWarnings(common)];
  const all = [firewalls, warnings, ...(wildcards === undefined ? [] : [wildcards])];
  return {
    ...{ firewalls, wildcards },
    run: (signal) => Promise.all(all.map((one) => one.run(signal))),
    whenSynced: (signal) => Promise.all(all.map((one) => one.whenSynced(signal))),
  };
};
