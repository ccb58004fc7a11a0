/**
 * What the agent keeps of a NetworkPolicy. It never throws: a policy that cannot be read isolates the pods that it may be about and
 * allows nothing, and nothing else changes.
 */
import { ApiError } from '../../../api/errors.ts';
import { type NetworkPolicy, parseNetworkPolicy, readPolicyReach } from '../../../api/network-policy.ts';
import { type Problem, readOr } from '../problem.ts';
import { MAX_PREFIXES, templatesOf, weightOf } from './templates.ts';
import type { PolicyProjection } from './types.ts';

/** The parts that every object of the API has; what else is in it may be anything. */
interface PolicyObject {
  readonly metadata: {
    readonly namespace?: string | undefined;
    readonly name: string;
    readonly uid?: string | undefined;
  };
}

export const projectPolicy = (object: PolicyObject): PolicyProjection => {
  const { namespace = '', name, uid = '' } = object.metadata;
  const problems: Problem[] = [];
  const policy = readOr(`NetworkPolicy/${namespace}/${name}`, problems, () => withinBounds(parseNetworkPolicy(object)));
  if (policy !== undefined) return { policy, problems };
  const reach = readPolicyReach('spec' in object ? object.spec : undefined);
  return {
    policy: { namespace, name, uid, ...reach, ingress: [], egress: [], stateless: false },
    problems: problems.map(closed),
  };
};

/** As many rules may one policy make, per family of its network. */
const MAX_RULES = 1024;

/** @throws ApiError */
const withinBounds = (policy: NetworkPolicy): NetworkPolicy => {
  const templates = templatesOf(policy);
  if (templates === undefined)
    throw new ApiError('ERR_API_RULE', `spec: the ipBlocks of one rule make more than ${MAX_PREFIXES} prefixes`);
  const weight = templates.reduce((sum, template) => sum + weightOf(template), 0);
  if (weight > MAX_RULES)
    throw new ApiError('ERR_API_RULE', `spec: peers and ports make ${weight} combinations, more than ${MAX_RULES}`);
  return policy;
};

/** A message goes into events and logs, and names of unknown fields can be of any length. */
const MAX_FINDING = 400;

const closed = ({ message, ...problem }: Problem): Problem => {
  const finding = message.length > MAX_FINDING ? `${message.slice(0, MAX_FINDING)}...` : message;
  return { ...problem, message: `${finding}; the policy isolates its pods and allows nothing` };
};
