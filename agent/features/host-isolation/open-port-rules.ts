/** What pods of primary networks open of their default interface lets everybody through. */
import type { Family } from '../../../net/ip.ts';
import { setName } from '../../model/registry/nftables.ts';
import { ipWord } from '../shared/nftables/text.ts';

export const openPortRules = (family: Family, verdict: 'accept' | 'return'): string[] => {
  const address = `${ipWord(family)} daddr`;
  return [
    `${address} . meta l4proto . th dport @${setName('openPorts', family)} ${verdict}`,
    `meta l4proto ${family === 4 ? 'icmp' : 'ipv6-icmp'} ${address} @${setName('openIcmp', family)} ${verdict}`,
  ];
};
