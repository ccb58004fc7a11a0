/** Sets of peers that rules name, and which pods are in them. A pod that changes its labels changes elements and nothing else. */
import { ipFamily } from '../../../net/ip.ts';
import { databaseId } from '../../model/database-ids.ts';
import { EMPTY_FRAGMENT, type FeatureOver, type MembersOver } from '../../model/fragment.ts';
import { controllerName } from '../../model/names.ts';
import { peerSetName } from '../../model/policies/ids.ts';
import { addressSetKey } from '../../model/row-keys.ts';
import { addressSet } from './address-set.ts';

/** One of each family of the rules that name it. A peer's fact has addresses of these families alone, so no member waits for a set. */
export const peerSets: FeatureOver<'peerSet'> = {
  name: 'policy-peer-sets',
  over: 'peerSet',
  render: ({ set: id }, view) => {
    const set = view.peerSet(id);
    if (set === undefined) return EMPTY_FRAGMENT;
    const rows = set.families.map((family) => {
      const keys = { 'k8s.ovn.org/name': id, 'ip-family': String(family) };
      const { externalIds } = databaseId(controllerName(set.network), 'NetpolPeers', keys);
      return addressSet(peerSetName(id, family), externalIds);
    });
    return { northbound: { rows } };
  },
};

export const policyPeers: MembersOver<'policyPeer'> = {
  name: 'policy-peers',
  over: 'policyPeer',
  members: ({ sets }) =>
    [...sets].flatMap(([set, ips]) =>
      ips.map((ip) => ({
        table: 'Address_Set' as const,
        row: addressSetKey(peerSetName(set, ipFamily(ip))),
        column: 'addresses' as const,
        value: ip,
      })),
    ),
};
