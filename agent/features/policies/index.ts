/** Network policies: groups of isolated pods, rules, sets of peers. A pod's own memberships are of `pods`, with its port. */
import type { Feature } from '../../model/fragment.ts';
import { adminRules } from './admin-rule.ts';
import { adminSubjects } from './admin-subjects.ts';
import { denyGroups } from './deny-group.ts';
import { domainSets } from './domains.ts';
import { peerSets, policyPeers } from './peers.ts';
import { policyRules } from './rule.ts';

export const POLICIES: readonly Feature[] = [
  denyGroups,
  adminSubjects,
  adminRules,
  policyRules,
  peerSets,
  domainSets,
  policyPeers,
];
