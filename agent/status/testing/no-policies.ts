/** Of an agent that knows no network policy. */
import type { PolicyReportSources } from '../policies/sources.ts';

export const noPolicies: Pick<PolicyReportSources, 'policyLookup' | 'ownersOver' | 'serviceSubnets' | 'domainState'> = {
  serviceSubnets: [],
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
};
