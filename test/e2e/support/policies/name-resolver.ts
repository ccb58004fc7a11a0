/**
 * DNSNameResolvers with the status that the plugin `ocp_dnsnameresolver` of CoreDNS writes (updateResolvedNamesSuccess in its handler.go): the
 * plugin itself is in no registry that tests can build it from.
 */
import { dnsNameResolverName } from '../../../../api/dns-name-resolver.ts';
import { DNS_NAME_RESOLVERS } from '../../../../api/resources.ts';
import { definitionOf } from '../../../../kube/testing/definition-of.ts';
import { parseWildcardName } from '../../../../net/domain-name.ts';
import type { Sandbox } from '../../../../sandbox/index.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';

const NAMESPACE = 'ovn-udn';

/** For both programs. */
export const RESOLVER_SETTING: Readonly<Record<string, string>> = { UDN_DNS_NAME_RESOLVER: NAMESPACE };

/** Their definition, as somebody installs it with the plugin. */
export const serveResolvers = async (sandbox: Sandbox): Promise<void> => {
  const objects = await sandbox.objects();
  await objects.apply([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
    { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', ...definitionOf(DNS_NAME_RESOLVERS) },
  ]);
};

/** As if pods had been told so. @param wildcard of an object that the cluster manager has made, or makes soon */
export const tellOf = async (
  sandbox: Sandbox,
  wildcard: string,
  dnsName: string,
  ips: readonly string[],
  secondsAgo = 0,
): Promise<void> => {
  const objects = await sandbox.objects();
  const name = dnsNameResolverName(parseWildcardName(wildcard));
  await eventually(() => objects.get('DNSNameResolver', `${NAMESPACE}/${name}`), 30_000);
  const at = new Date(Date.now() - secondsAgo * 1000).toISOString().replace(/\.\d+Z$/, 'Z');
  const condition = { type: 'Degraded', status: 'False', reason: 'NOERROR', message: 'No Error' };
  const resolved = {
    conditions: [{ ...condition, lastTransitionTime: at }],
    dnsName,
    resolvedAddresses: ips.map((ip) => ({ ip, ttlSeconds: 30, lastLookupTime: at })),
  };
  await objects.apply([
    {
      ...{ apiVersion: 'network.openshift.io/v1alpha1', kind: 'DNSNameResolver' },
      ...{ metadata: { namespace: NAMESPACE, name }, spec: { name: parseWildcardName(wildcard) } },
      status: { resolvedNames: [resolved] },
    },
  ]);
};

/** Names of them. */
export const resolversIn = async (sandbox: Sandbox): Promise<readonly unknown[]> =>
  (await (await sandbox.objects()).list('DNSNameResolver')).map(({ spec }) => (spec as { name: string }).name);
