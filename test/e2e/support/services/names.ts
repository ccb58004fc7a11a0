/** Services by their names: tenants of layer 3 and layer 2, and the default network, ask CoreDNS and go where it says. */
import { beforeAll, describe, expect, it } from 'vitest';
import { FAMILIES, ipFamily, parseIp } from '../../../../net/ip.ts';
import type { ManifestObject, Sandbox } from '../../../../sandbox/index.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';
import { ask, type Target } from '../../../oracles/reachability/service-clients.ts';
import { applyAndWait } from '../cluster/cluster.ts';
import { layer2, layer3, namespace, plainNamespace } from '../cluster/manifests.ts';
import { type DnsQuestion, query, resolve } from '../kubelet/dns.ts';
import { fromHost, fromPod } from './entry-points.ts';
import { backend, clusterIps, SERVED, service } from './services.ts';

const TENANTS = ['red', 'green'] as const;
const NAMESPACES = [...TENANTS, 'plain'] as const;
type Name = (typeof NAMESPACES)[number];
const NODES = ['node-1', 'node-2'] as const;
const DNS = 'kube-system/kube-dns';

export interface Resolvers {
  /** Where tenants ask; undefined: at the ClusterIPs that the kubelet writes down, which takes VRFs. */
  readonly ofTenants?: readonly string[];
  /** Nodes whose pods of tenants ask. Those of the default network do on both. */
  readonly tenantsOn: readonly string[];
}

const webOn = (name: Name, node: string): string => `${name}-web-${node}`;
const webPods = (name: Name): string[] => NODES.map((node) => webOn(name, node));
const fullName = (name: string, of = 'web'): string => `${of}.${name}.svc.cluster.local`;
const searches = (name: string): string[] => [`${name}.svc.cluster.local`, 'svc.cluster.local', 'cluster.local'];

/** The cluster has `dns: 'coredns'`. Call it where tests are declared. */
export const serviceNames = (cluster: () => Sandbox, { ofTenants, tenantsOn }: Resolvers): void => {
  beforeAll(
    () =>
      applyAndWait(cluster(), [
        ...TENANTS.map((name) => namespace(name)),
        plainNamespace('plain'),
        layer3('red', 'net', ['10.86.0.0/16/24', 'fd00:86::/48/64']),
        layer2('green', 'net', ['10.87.0.0/16', 'fd00:87::/64']),
        ...NAMESPACES.flatMap((name) => [
          service(name, 'web', { app: 'web' }),
          ...NODES.map((node) => webPod(name, node, name === 'plain' ? undefined : ofTenants)),
        ]),
      ]),
    400_000,
  );

  const addressesOf = async (): Promise<Record<Name, readonly string[]>> => {
    const found = NAMESPACES.map(async (name) => [name, await clusterIps(cluster(), `${name}/web`)] as const);
    return Object.fromEntries(await Promise.all(found)) as Record<Name, readonly string[]>;
  };

  const expectFound = async (asker: string, expected: Readonly<Record<string, readonly string[]>>): Promise<void> => {
    const sorted = Object.fromEntries(Object.entries(expected).map(([name, ips]) => [name, [...ips].sort()]));
    await eventually(async () => {
      for (const overTcp of [false, true]) {
        expect(await resolve(cluster(), asker, Object.keys(expected), { overTcp })).toEqual(sorted);
      }
    }, PATIENCE_MS);
  };

  /** At its own by its pods in turn, and at the same time at the others by nobody. */
  const expectAnswers = async (
    asker: string,
    names: readonly string[],
    ips: readonly string[],
    others: readonly string[],
  ) => {
    const own = targetsAt(ips, OFTEN);
    const wrong = new Set<string>();
    await eventually(async () => {
      const attempts = await ask(cluster(), asker, [...own, ...targetsAt(others, 1)]);
      for (const { outcome, text } of attempts.slice(own.length)) if (outcome === 'answered') wrong.add(text);
      const ofOwn = attempts.slice(0, own.length);
      expect(ofOwn.filter(({ outcome }) => outcome !== 'answered')).toEqual([]);
      expect([...new Set(ofOwn.map(({ text }) => text))].sort()).toEqual(names);
    }, PATIENCE_MS);
    expect([...wrong]).toEqual([]);
  };

  const askers = NAMESPACES.flatMap((name) =>
    (name === 'plain' ? NODES : tenantsOn).map((node) => [name, node, `${name}/${webOn(name, node)}`] as const),
  );

  describe.each(askers)('a pod of %s on %s', (name, _node, asker) => {
    it('has the resolver that its kubelet wrote', async () => {
      const { stdout } = await cluster().exec(asker, ['cat', '/etc/resolv.conf']);
      const servers = name === 'plain' ? undefined : ofTenants;
      const lines = stdout.split('\n').filter((line) => line !== '');
      expect(lines.filter((line) => line.startsWith('nameserver'))).toEqual(
        (servers ?? (await clusterIps(cluster(), DNS))).map((ip) => `nameserver ${ip}`),
      );
      expect(lines).toContain(`search ${searches(name).join(' ')}`);
    });

    it('finds its own Service by the short name and all by the full one, and none that is not there', async () => {
      const addresses = await addressesOf();
      for (const ips of Object.values(addresses))
        expect(ips.map((ip) => ipFamily(parseIp(ip))).sort()).toEqual(FAMILIES);
      const all = NAMESPACES.map((one) => [fullName(one), addresses[one]]);
      await expectFound(asker, {
        ...{ web: addresses[name], [fullName(name, 'nothing')]: [] },
        ...Object.fromEntries(all),
      });
    });

    it('is answered there by its own pods, and by nobody at the addresses of other networks', async () => {
      const addresses = await addressesOf();
      const others = NAMESPACES.filter((one) => one !== name).flatMap((one) => addresses[one]);
      await expectAnswers(asker, webPods(name), addresses[name], others);
    });
  });

  it.each(NAMESPACES)('a pod of %s finds a Service as soon as it is there', async (name) => {
    const asker = askers.find(([one]) => one === name)?.[2] ?? '';
    await applyAndWait(cluster(), [service(name, 'late', { app: 'web' })]);
    const addresses = await clusterIps(cluster(), `${name}/late`);
    await expectFound(asker, { late: addresses });
    await expectAnswers(asker, webPods(name), addresses, []);
  });

  const places = [
    ...NODES.map((node) => ({ who: node, isTenant: false, run: () => fromHost(cluster(), node) })),
    ...askers.map(([name, node, asker]) => ({
      ...{ who: `${name} on ${node}`, isTenant: name !== 'plain', run: () => fromPod(cluster(), asker) },
    })),
  ];

  it.each(places)('each address of the DNS server answers $who, over UDP and TCP', async ({ isTenant, run }) => {
    const servers = (isTenant ? ofTenants : undefined) ?? (await clusterIps(cluster(), DNS));
    const addresses = await clusterIps(cluster(), 'red/web');
    const questions = servers.flatMap((server) =>
      (['UDP', 'TCP'] as const).flatMap((protocol) =>
        (['A', 'AAAA'] as const).map((type): DnsQuestion => ({ server, protocol, type, name: fullName('red') })),
      ),
    );
    const expected = questions.map(({ type }) => addresses.filter((ip) => ip.includes(':') === (type === 'AAAA')));
    expect(await query(run(), questions)).toEqual(expected);
  });
};

/** Its Service has it when its kubelet says that it answers. */
const webPod = (name: Name, node: string, resolvers: readonly string[] | undefined): ManifestObject => {
  const made = backend(name, webOn(name, node), node, 'web');
  const { containers, ...rest } = made['spec'] as { containers: readonly object[] };
  const readinessProbe = { httpGet: { path: '/healthz', port: SERVED.TCP }, periodSeconds: 2, timeoutSeconds: 5 };
  const probed = containers.map((container) => ({ ...container, readinessProbe }));
  return {
    ...made,
    spec: { ...rest, containers: probed, ...(resolvers !== undefined && resolverOf(name, resolvers)) },
  };
};

/** One question after the other: the userspace datapath loses the second of two packets at once that open such a connection. */
const resolverOf = (name: string, nameservers: readonly string[]): object => ({
  dnsPolicy: 'None',
  dnsConfig: {
    ...{ nameservers, searches: searches(name) },
    options: [{ name: 'ndots', value: '5' }, { name: 'single-request' }],
  },
});

const PATIENCE_MS = 60_000;
/** Both of two endpoints get one, but for one time in a thousand. */
const OFTEN = 6;

const targetsAt = (ips: readonly string[], times: number): Target[] =>
  ips.flatMap((ip) => Array.from({ length: times }, (): Target => ({ ip, port: 80, protocol: 'TCP' })));
