/** What every cluster has: made when it is not there. */
import type { ServerContext } from './context.ts';
import { BUILTIN } from './definitions/builtin.ts';
import type { ResourceDefinition } from './definitions/types.ts';
import type { EmbeddedClusterOptions } from './types.ts';
import { createObject } from './verbs/create.ts';

const NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

export const seedCluster = (context: ServerContext, { apiServerEndpoint }: EmbeddedClusterOptions): void => {
  for (const name of NAMESPACES) create(context, 'Namespace', '', { metadata: { name } });
  // The first address of the range, as on every cluster.
  create(context, 'Service', 'default', {
    metadata: { name: 'kubernetes', labels: { component: 'apiserver', provider: 'kubernetes' } },
    spec: { ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: apiServerEndpoint?.port ?? 6443 }] },
  });
  if (apiServerEndpoint === undefined) return;
  const { addresses, port } = apiServerEndpoint;
  for (const addressType of ['IPv4', 'IPv6']) {
    const own = addresses.filter((address) => address.includes(':') === (addressType === 'IPv6'));
    if (own.length === 0) continue;
    create(context, 'EndpointSlice', 'default', {
      metadata: {
        name: addressType === 'IPv4' ? 'kubernetes' : 'kubernetes-ipv6',
        labels: { 'kubernetes.io/service-name': 'kubernetes' },
      },
      addressType,
      endpoints: [{ addresses: own, conditions: { ready: true } }],
      ports: [{ name: 'https', port, protocol: 'TCP' }],
    });
  }
};

const create = (
  context: ServerContext,
  kind: string,
  namespace: string,
  object: {
    readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
    readonly [field: string]: unknown;
  },
): void => {
  const definition = BUILTIN.find((own): own is ResourceDefinition => own.kind === kind);
  if (definition === undefined) throw new TypeError(`no built-in kind ${kind}`);
  const key = namespace === '' ? object.metadata.name : `${namespace}/${object.metadata.name}`;
  if (context.store.collection(definition.collection).get(key) !== undefined) return;
  const apiVersion = definition.group === '' ? 'v1' : `${definition.group}/v1`;
  const options = { dryRun: false, manager: 'kube-apiserver', force: false, fieldValidation: 'Ignore' } as const;
  createObject(context, { definition, namespace, object: { apiVersion, kind, ...object }, options });
};
