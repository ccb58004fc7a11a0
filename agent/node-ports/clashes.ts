/** Which claims of Services meet a process that listens itself. */
import { type Cidr, cidrContainsIp, parseCidr } from '../../net/cidr.ts';
import { type Ip, ipFamily } from '../../net/ip.ts';
import type { PortClaim } from '../model/node-ports.ts';
import type { Listener } from './listeners.ts';

/** @returns finds who listens where a claim is */
export const clashFinder = (listeners: readonly Listener[]): ((claim: PortClaim) => Listener | undefined) => {
  const byPort = Map.groupBy(listeners, ({ protocol, port }) => `${protocol} ${port}`);
  return (claim) => byPort.get(`${claim.protocol} ${claim.port}`)?.find(({ ip }) => isMet(claim, ip));
};

/** @param at where a process listens, on the claim's port */
const isMet = ({ ip, families }: PortClaim, at: Ip): boolean => {
  // A socket on it has IPv4 as well, unless its owner says otherwise, which the kernel does not report here.
  if (at === '::') return true;
  if (at === '0.0.0.0') return families.includes(4);
  if (ip !== undefined) return at === ip;
  return families.includes(ipFamily(at)) && !ONLY_HERE.some((range) => cidrContainsIp(range, at));
};

/** Nobody reaches a node port by these: of the host alone, and of a link. */
const ONLY_HERE: readonly Cidr[] = ['127.0.0.0/8', '169.254.0.0/16', '::1/128', 'fe80::/10'].map(parseCidr);
