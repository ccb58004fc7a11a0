/** What domain names stand for, as sets of addresses that rules name: an answer that changes is a set that changes, and no ACL. */
import { FAMILIES, ipFamily } from '../../../net/ip.ts';
import { databaseId } from '../../model/database-ids.ts';
import { EMPTY_FRAGMENT, type FeatureOver } from '../../model/fragment.ts';
import { controllerName } from '../../model/names.ts';

import { DOMAIN_SET_TYPE, domainAddressesOn } from '../../model/policies/domain-rows.ts';
import { domainSetName } from '../../model/policies/ids.ts';
import { addressSet } from './address-set.ts';

/** One of each family, whatever the network has and whatever is known: so no rule waits for an answer. */
export const domainSets: FeatureOver<'domainSet'> = {
  name: 'policy-domain-sets',
  over: 'domainSet',
  render: ({ set: id }, view) => {
    const set = view.domainSet(id);
    if (set === undefined) return EMPTY_FRAGMENT;
    const { network, name, isForFirewalls = false } = set;
    const addresses = domainAddressesOn(view.network(network), view.domainAddresses(name));
    const rows = FAMILIES.map((family) => {
      const keys = {
        'k8s.ovn.org/name': name,
        'ip-family': String(family),
        ...(isForFirewalls && { tier: 'firewall' }),
      };
      const { externalIds } = databaseId(controllerName(network), DOMAIN_SET_TYPE, keys);
      return addressSet(
        domainSetName(id, family),
        externalIds,
        addresses.filter((ip) => ipFamily(ip) === family),
      );
    });
    return { northbound: { rows } };
  },
};
