/** Of an agent that knows no network policy. */
import { parseClusterConfig } from '../../../api/cluster-config.ts';
import type { PolicyReportSources } from '../policies/sources.ts';

export const noPolicies: Omit<PolicyReportSources, 'facts' | 'reconcilers'> = {
  node: 'n1',
  cluster: parseClusterConfig({}),
  policyLookup: {
    problems: () => [],
    isRead: () => true,
    policies: () => [],
    describe: () => undefined,
    isolating: () => [],
    attachments: () => [],
    pods: () => [],
    pod: () => undefined,
    policiesOfRule: () => [],
  },
  ownersOver: () => [],
  domainState: () => undefined,
  failureToFollow: () => undefined,
  failureToHear: () => undefined,
};
