/** Whether an address is one of those that a rule is about. */
import { cidrContainsIp } from '../../../net/cidr.ts';
import { type Ip, isIp } from '../../../net/ip.ts';
import { domainAddressesOn } from '../../model/policies/domain-rows.ts';
import type { AdminPeers } from '../../model/policies/facts.ts';
import type { PolicyReportSources } from './sources.ts';

/** @param peer whose address it is, `namespace/name` or `attachmentId`, or the address itself */
export const hasPeer = (facts: PolicyReportSources['facts'], peers: AdminPeers, peer: string, ip: Ip): boolean => {
  switch (peers.kind) {
    case 'any':
      return true;
    case 'blocks':
      return peers.blocks.some((block) => cidrContainsIp(block, ip));
    case 'nodes':
      return peers.addresses.includes(ip);
    case 'domains':
      return peers.sets.some((set) => domainAddresses(facts, set).includes(ip));
    case 'set': {
      const candidates = isIp(peer) ? facts.ids('policyPeer') : [peer];
      for (const key of candidates) if (facts.get('policyPeer', key)?.sets.get(peers.set)?.includes(ip)) return true;
      return false;
    }
  }
};

const domainAddresses = (facts: PolicyReportSources['facts'], id: string): readonly Ip[] => {
  const set = facts.get('domainSet', id);
  if (set === undefined) return [];
  return domainAddressesOn(facts.get('network', set.network), facts.get('domainAddresses', set.name) ?? []);
};
