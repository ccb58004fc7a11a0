/** The cluster's DNS server, where it is requested. */
import { unlessAborted } from '../../base/abort.ts';
import type { ApiAccess } from '../api/types.ts';
import { COREDNS_ACCOUNT, COREDNS_RIGHTS, corednsManifests } from '../coredns/manifests.ts';
import { createObjects } from '../objects/objects.ts';
import { dnsAddresses } from '../plan/cluster-settings.ts';
import { partReady } from '../process/parts.ts';
import type { ClusterContext } from './cluster-context.ts';
import { kubeClient } from './kube-client.ts';

/** Resolves when it knows all Services. On the last node: with two, pods have one with it and one without it. */
export const startDns = async (
  context: ClusterContext,
  api: ApiAccess | undefined,
  signal: AbortSignal,
): Promise<void> => {
  const { options, plan, coredns, realKubelet, progress } = context;
  const node = plan.nodes.at(-1)?.name;
  if (coredns === undefined || api === undefined || node === undefined) return;
  const client = await kubeClient(context);
  try {
    const objects = createObjects(client);
    await objects.apply(COREDNS_RIGHTS);
    const kubeconfig = realKubelet === undefined ? await api.podKubeconfig(COREDNS_ACCOUNT) : undefined;
    await objects.apply(corednsManifests({ clusterIps: dnsAddresses(options.ipFamily), node, kubeconfig }));
    const ready = objects.wait('pod', 'kube-system/coredns', 'ready', { timeoutSeconds: options.timeoutSeconds });
    await partReady('the DNS server', undefined, unlessAborted(signal, ready));
    progress('CoreDNS answers');
  } finally {
    client.close();
  }
};
