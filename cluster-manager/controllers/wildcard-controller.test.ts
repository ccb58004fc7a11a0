import { afterEach, expect, it, vi } from 'vitest';
import { ADMIN_POLICIES } from '../../api/admin-network-policy.ts';
import { dnsNameResolverName, RESOLVER_LABEL } from '../../api/dns-name-resolver.ts';
import { DNS_NAME_RESOLVERS } from '../../api/resources.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../kube/resources.ts';
import { definitionOf } from '../../kube/testing/definition-of.ts';
import { parseWildcardName } from '../../net/domain-name.ts';
import { createTestCluster, type TestCluster } from '../testing/harness.ts';
import { namespace } from '../testing/objects.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

const NAMESPACE = 'ovn-udn';
const open = async (isServed = true, follows = true): Promise<void> => {
  cluster = await createTestCluster(follows ? { dnsNameResolver: NAMESPACE } : {});
  for (const resource of ADMIN_POLICIES)
    await cluster.client.create(CUSTOM_RESOURCE_DEFINITIONS, definitionOf(resource));
  if (isServed) await serve();
  await cluster.create(namespace(NAMESPACE), namespace('red'), namespace('blue'));
};
const serve = async (): Promise<void> => {
  await cluster.client.create(CUSTOM_RESOURCE_DEFINITIONS, definitionOf(DNS_NAME_RESOLVERS));
  await vi.waitFor(() => cluster.client.list(DNS_NAME_RESOLVERS));
};
const firewall = (ns: string, ...names: string[]) => ({
  ...{ apiVersion: 'k8s.ovn.org/v1', kind: 'EgressFirewall', metadata: { namespace: ns, name: 'default' } },
  spec: { egress: names.map((dnsName) => ({ type: 'Allow', to: { dnsName } })) },
});
const nameOf = (text: string): string => dnsNameResolverName(parseWildcardName(text));
const shown = async (): Promise<string[]> =>
  (await cluster.list('DNSNameResolver'))
    .map(({ metadata, ...object }) => `${metadata.namespace}/${metadata.name} ${JSON.stringify(object['spec'])}`)
    .sort();
const expected = (...texts: string[]): string[] =>
  texts.map((text) => `${NAMESPACE}/${nameOf(text)} {"name":"${parseWildcardName(text)}"}`).sort();
const shows = (...texts: string[]) =>
  vi.waitFor(async () => expect(await shown()).toEqual(expected(...texts)), { timeout: 5_000, interval: 5 });
const told = (reason: string) => cluster.events.filter((event) => event.reason === reason);

it('makes one of each wildcard, whoever names it, and removes it with the last who does', async () => {
  await open();
  cluster.start();
  await cluster.create(
    firewall('red', '*.example.com', 'www.example.net'),
    firewall('blue', '*.Example.com.', '*.example.org'),
  );
  await shows('*.example.com', '*.example.org');
  const [policies] = ADMIN_POLICIES;
  await cluster.client.create(policies, {
    metadata: { name: 'updates' },
    spec: {
      ...{ priority: 1, subject: { namespaces: {} } },
      egress: [{ action: 'Allow', to: [{ domainNames: ['*.example.org', '*.updates.example'] }] }],
    },
  });
  await shows('*.example.com', '*.example.org', '*.updates.example');
  await cluster.delete('EgressFirewall', 'blue/default');
  await cluster.patch('EgressFirewall', 'red/default', firewall('red'));
  await shows('*.example.org', '*.updates.example');
  await cluster.client.delete(policies, { name: 'updates' });
  await shows();
  expect([told('WildcardNotFollowed'), told('PolicyUnreadable')]).toEqual([[], []]);
});

it('makes again what somebody deletes, and removes what it has left itself before a restart, but nothing of others', async () => {
  await open();
  const foreign = { metadata: { namespace: NAMESPACE, name: 'dns-theirs' }, spec: { name: '*.theirs.example.' } };
  await cluster.client.create(DNS_NAME_RESOLVERS, foreign);
  await cluster.create(firewall('red', '*.example.com'));
  cluster.start();
  const theirs = `${NAMESPACE}/dns-theirs {"name":"*.theirs.example."}`;
  const both = (...texts: string[]) =>
    vi.waitFor(async () => expect(await shown()).toEqual([...expected(...texts), theirs].sort()));
  await both('*.example.com');
  await cluster.delete('DNSNameResolver', `${NAMESPACE}/${nameOf('*.example.com')}`);
  await both('*.example.com');
  await cluster.stop();
  await cluster.patch('EgressFirewall', 'red/default', firewall('red', '*.example.org'));
  cluster.start();
  await both('*.example.org');
});

it('leaves alone what has the name and not the label, and says so', async () => {
  await open();
  const name = nameOf('*.example.com');
  await cluster.client.create(DNS_NAME_RESOLVERS, {
    metadata: { namespace: NAMESPACE, name },
    spec: { name: '*.theirs.example.' },
  });
  await cluster.create(firewall('red', '*.example.com'));
  cluster.start();
  await vi.waitFor(() => expect(told('WildcardNotFollowed')).toHaveLength(1));
  expect(told('WildcardNotFollowed')).toMatchObject([
    {
      regarding: { kind: 'EgressFirewall', namespace: 'red' },
      message: `*.example.com: there is a DNSNameResolver ${NAMESPACE}/${name} that is not of ovn-udn; rules with it allow nothing by it`,
    },
  ]);
  expect(await shown()).toEqual([`${NAMESPACE}/${name} {"name":"*.theirs.example."}`]);
});

it('makes another where one with the label has another wildcard', async () => {
  await open();
  await cluster.client.create(DNS_NAME_RESOLVERS, {
    metadata: { namespace: NAMESPACE, name: nameOf('*.example.com'), labels: { [RESOLVER_LABEL]: '' } },
    spec: { name: '*.theirs.example.' },
  });
  await cluster.create(firewall('red', '*.example.com'));
  cluster.start();
  await shows('*.example.com');
});

it('says that the kind is not served, and makes them when it is', { timeout: 20_000 }, async () => {
  await open(false);
  await cluster.create(firewall('red', '*.example.com'));
  cluster.start();
  await vi.waitFor(() => expect(told('WildcardNotFollowed')).toHaveLength(1), { timeout: 10_000 });
  expect(told('WildcardNotFollowed')[0]?.message).toBe(
    '*.example.com: the API server has no DNSNameResolver (network.openshift.io/v1alpha1); rules with it allow nothing by it',
  );
  const status = (text: string) =>
    vi.waitFor(
      async () => expect((await cluster.get('EgressFirewall', 'red/default'))?.['status']).toEqual({ status: text }),
      { timeout: 10_000, interval: 5 },
    );
  await status(
    'EgressFirewall Rules not correctly applied: *.example.com: the API server has no DNSNameResolver (network.openshift.io/v1alpha1); rules with it allow nothing by it',
  );
  await serve();
  await shows('*.example.com');
  await status('EgressFirewall Rules applied');
});

it('without the option makes none, and the firewall says what would follow it', async () => {
  await open(true, false);
  await cluster.create(firewall('red', '*.example.com'));
  cluster.start();
  await vi.waitFor(() => expect(told('PolicyUnreadable')).toHaveLength(1));
  expect(told('PolicyUnreadable')[0]?.message).toBe(
    'spec.egress[0].to.dnsName: "*.example.com" is a wildcard, and no server can be asked which names it stands for: name each of them, or follow DNSNameResolvers by --dns-name-resolver; the rule allows nothing',
  );
  expect(await shown()).toEqual([]);
});
