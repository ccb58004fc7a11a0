/** The result of an ADD that has made attachments of several kinds. Pure. */
import type { CniInterface, CniIp, CniResult } from '../../../api/cni/result.ts';

/** Ours first: what runtimes take for the pod's addresses are those of `eth0`. Routes and names are the pod's already. */
export const mergedResult = (own: CniResult, others: readonly CniResult[]): CniResult => {
  const interfaces: CniInterface[] = [...own.interfaces];
  const ips: CniIp[] = [...own.ips];
  for (const other of others) {
    const first = interfaces.length;
    // One without an interface would be taken for an address of `eth0`.
    const known = other.ips.flatMap((ip) =>
      ip.interface === undefined ? [] : [{ ...ip, interface: first + ip.interface }],
    );
    ips.push(...known);
    interfaces.push(...other.interfaces);
  }
  return { ...own, interfaces, ips };
};
