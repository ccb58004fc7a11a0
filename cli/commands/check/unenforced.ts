/** Policies that the API has and nothing enforces. */
import { policyName } from '../../../api/policy.ts';
import { messageOf } from '../../../base/error-message.ts';
import { readPolicies } from '../../../kube/read-policies.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { named } from '../../why/finding.ts';
import { type Finding, warning } from './finding.ts';

export const checkUnenforced = async (client: Pick<KubeClient, 'list'>): Promise<Finding[]> => {
  const what = 'network policies';
  try {
    const policies = await readPolicies(client);
    if (policies.length === 0) return [];
    const message = `ovn-udn does not enforce them: traffic that they deny is allowed: ${named(policies.map(policyName))}`;
    return [warning(`${what}, ${policies.length} of them`, message)];
  } catch (error) {
    return [{ result: 'unknown', what, message: messageOf(error) }];
  }
};
