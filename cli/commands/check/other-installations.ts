/** Whether the cluster has another installation: one works, in one namespace. */
import { DAEMON_SETS, DEPLOYMENTS } from '../../../kube/resources.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { AGENT, CLUSTER_MANAGER } from './expectations.ts';
import { type Finding, failed, findingOf, ok } from './finding.ts';

/** @param namespace of the installation that is meant */
export const checkOtherInstallations = (client: KubeClient, namespace: string): Promise<Finding> =>
  findingOf('installations', async () => {
    const lists = await Promise.all([
      client.list(DEPLOYMENTS, named(CLUSTER_MANAGER)),
      client.list(DAEMON_SETS, named(AGENT)),
    ]);
    const namespaces = new Set(lists.flatMap(({ items }) => items.map(({ metadata }) => metadata.namespace ?? '')));
    namespaces.delete(namespace);
    if (namespaces.size === 0) return ok(`no installation outside of namespace ${namespace}`);
    return failed(
      'installations',
      `another one is in namespace ${[...namespaces].sort().join(', ')}: a cluster has one; upgrade that one in its namespace, or uninstall it first`,
    );
  });

const named = (name: string) => ({ fieldSelector: `metadata.name=${name}` });
