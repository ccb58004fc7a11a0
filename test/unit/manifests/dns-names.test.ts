/** The component `with-dns-names` allows what following wildcards asks for, and nothing else. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { createWildcardInput } from '../../../agent/inputs/wildcard-input.ts';
import { ADMIN_POLICIES } from '../../../api/admin-network-policy.ts';
import { parseClusterConfig } from '../../../api/cluster-config.ts';
import { dnsNameResolverName } from '../../../api/dns-name-resolver.ts';
import { DNS_NAME_RESOLVERS, EGRESS_FIREWALLS, MULTI_NETWORK_POLICIES } from '../../../api/resources.ts';
import { DEFINITIONS } from '../../../api/testing/definitions.ts';
import { createManager } from '../../../cluster-manager/controllers/manager.ts';
import { createEmbeddedCluster } from '../../../kube/embedded/cluster.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES } from '../../../kube/resources.ts';
import { definitionOf } from '../../../kube/testing/definition-of.ts';
import { parseWildcardName } from '../../../net/domain-name.ts';
import { bindingSchema, FOLDER, permission, readKustomization, roleSchema } from './load.ts';
import { recordingClient } from './recording-client.ts';

const NAMESPACE = 'ovn-udn';
const DOCUMENTS: unknown[] = parseAllDocuments(readFileSync(join(FOLDER, 'with-dns-names', 'rbac.yaml'), 'utf8')).map(
  (document) => document.toJS() as unknown,
);

const permissionsOf = (account: string): string[] => {
  const bound = DOCUMENTS.flatMap((one) => bindingSchema.safeParse(one).data ?? []).filter(({ subjects }) =>
    subjects.some(({ name, namespace }) => name === account && namespace === NAMESPACE),
  );
  const names = bound.map(({ roleRef }) => roleRef.name);
  const roles = DOCUMENTS.flatMap((one) => roleSchema.safeParse(one).data ?? []);
  return roles
    .filter(({ metadata }) => names.includes(metadata.name))
    .flatMap(({ rules }) =>
      rules.flatMap(({ apiGroups: [group = ''], resources: [resource = ''], verbs }) =>
        verbs.map((verb) => permission(group, resource, verb)),
      ),
    )
    .sort();
};

it('allows in its own namespace what both programs do with DNSNameResolvers', { timeout: 20_000 }, async () => {
  const server = createEmbeddedCluster();
  const admin = server.client('test');
  for (const definition of DEFINITIONS) await admin.create(CUSTOM_RESOURCE_DEFINITIONS, definition);
  for (const resource of [DNS_NAME_RESOLVERS, ...ADMIN_POLICIES, MULTI_NETWORK_POLICIES])
    await admin.create(CUSTOM_RESOURCE_DEFINITIONS, definitionOf(resource));
  await server.settled();
  for (const name of [NAMESPACE, 'red']) await admin.create(NAMESPACES, { metadata: { name } });
  // Its name is taken: whose it is has to be read.
  const taken = { namespace: NAMESPACE, name: dnsNameResolverName(parseWildcardName('*.example.org')) };
  await admin.create(DNS_NAME_RESOLVERS, { metadata: taken, spec: { name: '*.example.org.' } });
  const egress = ['*.example.com', '*.example.org'].map((dnsName) => ({ type: 'Allow', to: { dnsName } }));
  await admin.create(EGRESS_FIREWALLS, { metadata: { namespace: 'red', name: 'default' }, spec: { egress } });
  const stop = new AbortController();
  const [manager, agent] = [recordingClient(admin, []), recordingClient(admin, [])];
  const events = { record: () => undefined, flush: () => Promise.resolve() };
  const running = createManager({
    ...{ client: manager.client, events, cluster: parseClusterConfig(), dnsNameResolver: NAMESPACE },
  }).run(stop.signal);
  const input = createWildcardInput(NAMESPACE, (resource) => ({ client: agent.client, resource }));
  const mirroring = input.reflector.run(stop.signal);
  const count = async (expected: number) =>
    vi.waitFor(
      async () => {
        expect((await admin.list(DNS_NAME_RESOLVERS)).items).toHaveLength(expected);
        expect(input.reflector.size).toBe(expected);
      },
      { timeout: 10_000 },
    );
  await count(2);
  await admin.delete(EGRESS_FIREWALLS, { namespace: 'red', name: 'default' });
  await count(1);
  stop.abort();
  await Promise.all([running, mirroring]);
  server.close();
  const used = (one: ReadonlySet<string>) =>
    [...one].filter((text) => text.startsWith(`${DNS_NAME_RESOLVERS.group}/`)).sort();
  expect(used(manager.used)).toEqual(permissionsOf('udn-cluster-manager'));
  expect(used(agent.used)).toEqual(permissionsOf('udn-agent'));
});

it('is of roles of that namespace, and of the setting that names it', () => {
  const kinds = DOCUMENTS.map((one) => [Reflect.get(one as object, 'kind'), Reflect.get(one as object, 'metadata')]);
  expect(kinds.map(([kind, metadata]) => [kind, Reflect.get(metadata as object, 'namespace')])).toEqual(
    ['Role', 'RoleBinding', 'Role', 'RoleBinding'].map((kind) => [kind, NAMESPACE]),
  );
  const component: unknown = parse(readFileSync(join(FOLDER, 'with-dns-names', 'kustomization.yaml'), 'utf8'));
  expect(readKustomization().namespace).toBe(NAMESPACE);
  expect(component).toMatchObject({
    resources: ['rbac.yaml'],
    configMapGenerator: [{ behavior: 'merge', literals: [`UDN_DNS_NAME_RESOLVER=${NAMESPACE}`] }],
  });
});
