import { cidrContainsIp } from '../../../net/cidr.ts';
import { type Ip, ipFamily } from '../../../net/ip.ts';
import { firewallExempts } from '../../model/policies/firewall-exempts.ts';
import type { PolicyReportSources } from './sources.ts';

/** Firewalls are not about the cluster's own addresses. */
export const isExempt = ({ facts, cluster }: PolicyReportSources, network: string, ip: Ip): boolean => {
  const known = facts.get('network', network);
  return (
    known !== undefined && firewallExempts(known, cluster, ipFamily(ip)).some((subnet) => cidrContainsIp(subnet, ip))
  );
};
