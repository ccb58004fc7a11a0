/** A pod's /etc/resolv.conf, as kubelets write it for its `dnsPolicy`. Pure. */
import { CLUSTER_DOMAIN } from '../plan/cluster-settings.ts';
import type { Pod } from './pod-spec.ts';

/** @returns undefined for what the node has: without a DNS server, and for pods that are to resolve as the node does */
export const resolvConf = (
  { metadata: { namespace }, spec: { dnsPolicy, dnsConfig, hostNetwork } }: Pod,
  clusterDns: readonly string[],
): string | undefined => {
  const asksCluster = dnsPolicy === 'ClusterFirst' ? !hostNetwork : dnsPolicy === 'ClusterFirstWithHostNet';
  if (asksCluster && clusterDns.length > 0) {
    const searches = [`${namespace}.svc`, 'svc'].map((name) => `${name}.${CLUSTER_DOMAIN}`);
    return lines(
      [...clusterDns, ...(dnsConfig?.nameservers ?? [])],
      [...searches, CLUSTER_DOMAIN, ...(dnsConfig?.searches ?? [])],
      ['options ndots:5'],
    );
  }
  return dnsPolicy === 'None' ? lines(dnsConfig?.nameservers ?? [], dnsConfig?.searches ?? [], []) : undefined;
};

const lines = (nameservers: readonly string[], searches: readonly string[], more: readonly string[]): string =>
  [
    ...(searches.length === 0 ? [] : [`search ${searches.join(' ')}`]),
    ...nameservers.map((ip) => `nameserver ${ip}`),
    ...more,
    '',
  ].join('\n');
