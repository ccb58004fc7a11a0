/** Services by their names: tenants of layer 3 and layer 2, and the default network, ask CoreDNS and go where it says. */
import { beforeAll, describe, expect, it } from 'vitest';
import { FAMILIES, ipFamily, parseIp } from '../../../net/ip.ts';
import type { ManifestObject, Sandbox } from '../../../sandbox/index.ts';
import { ask, type Target } from '../../../sandbox/reachability/service-clients.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import { applyAndWait } from './cluster.ts';
import { query, resolve } from './dns.ts';
import { layer2, layer3, namespace, plainNamespace, pod } from './manifests.ts';
import { fromHost, fromPod } from './service-doors.ts';
import { backend, clusterIps, service } from './services.ts';

const TENANTS = ['red', 'green'] as const;
const NAMESPACES = [...TENANTS, 'plain'] as const;
type Name = (typeof NAMESPACES)[number];
const NODES = ['node-1', 'node-2'] as const;
const DNS = 'kube-system/kube-dns';

export interface Resolvers {
  /** Where tenants ask; undefined: at the ClusterIPs that the kubelet writes down, which takes VRFs. */
  readonly ofTenants?: readonly string[];
  /** Of nodes, where the clients of tenants are. */
  readonly clientsOn: readonly string[];
}

const backends = (name: Name): string[] => NODES.map((node) => `${name}-web-${node}`);
const client = (name: Name, node: string): string => `${name}/${name}-client-${node}`;
const fullName = (name: string, of = 'web'): string => `${of}.${name}.svc.cluster.local`;
const searches = (name: string): string[] => [`${name}.svc.cluster.local`, 'svc.cluster.local', 'cluster.local'];

/** The cluster has `dns: 'coredns'`. Call it where tests are declared. */
export const serviceNames = (cluster: () => Sandbox, { ofTenants, clientsOn }: Resolvers): void => {
  const clientPod = (name: Name, node: string): ManifestObject => {
    const made = pod(name, `${name}-client-${node}`, node);
    if (ofTenants === undefined || name === 'plain') return made;
    // One question after the other: the userspace datapath loses the second of two packets at once that open such a connection.
    const options = [{ name: 'ndots', value: '5' }, { name: 'single-request' }];
    const dnsConfig = { nameservers: ofTenants, searches: searches(name), options };
    return { ...made, spec: { ...(made['spec'] as object), dnsPolicy: 'None', dnsConfig } };
  };

  beforeAll(
    () =>
      applyAndWait(cluster(), [
        ...TENANTS.map((name) => namespace(name)),
        plainNamespace('plain'),
        layer3('red', 'net', ['10.86.0.0/16/24', 'fd00:86::/48/64']),
        layer2('green', 'net', ['10.87.0.0/16', 'fd00:87::/64']),
        ...NAMESPACES.flatMap((name) => [
          service(name, 'web', { app: 'web' }),
          ...NODES.map((node) => backend(name, `${name}-web-${node}`, node, 'web')),
          ...clientsOn.map((node) => clientPod(name, node)),
        ]),
      ]),
    400_000,
  );

  /** What is asked for is programmed meanwhile. */
  const expectFound = async (asker: string, name: string, addresses: readonly string[]): Promise<void> =>
    await eventually(async () => {
      expect(await resolve(cluster(), asker, name)).toEqual([...addresses].sort());
      expect(await resolve(cluster(), asker, name, { overTcp: true })).toEqual([...addresses].sort());
    }, PATIENCE_MS);

  const expectAnswers = async (asker: string, addresses: readonly string[], names: readonly string[]): Promise<void> =>
    await eventually(async () => {
      const attempts = await ask(cluster(), asker, targets(addresses, OFTEN));
      expect(attempts.filter(({ outcome }) => outcome !== 'answered')).toEqual([]);
      expect([...new Set(attempts.map(({ text }) => text))].sort()).toEqual(names);
    }, PATIENCE_MS);

  const where = NAMESPACES.flatMap((name) => clientsOn.map((node) => [name, node] as const));

  describe.each(where)('a pod of %s on %s', (name, node) => {
    const asker = client(name, node);

    it('has the resolver that its kubelet wrote', async () => {
      const { stdout } = await cluster().exec(asker, ['cat', '/etc/resolv.conf']);
      const servers = name === 'plain' ? undefined : ofTenants;
      const lines = stdout.split('\n').filter((line) => line !== '');
      expect(lines.filter((line) => line.startsWith('nameserver'))).toEqual(
        (servers ?? (await clusterIps(cluster(), DNS))).map((ip) => `nameserver ${ip}`),
      );
      expect(lines).toContain(`search ${searches(name).join(' ')}`);
    });

    it.each(['its short name', 'its full name'])(
      'finds its own Service by %s, and its pods answer there',
      async (how) => {
        const addresses = await clusterIps(cluster(), `${name}/web`);
        expect(addresses.map((ip) => ipFamily(parseIp(ip))).sort()).toEqual(FAMILIES);
        await expectFound(asker, how === 'its short name' ? 'web' : fullName(name), addresses);
        await expectAnswers(asker, addresses, backends(name));
      },
    );

    it('finds those of other networks by their names, and nobody answers there', async () => {
      for (const other of NAMESPACES.filter((one) => one !== name)) {
        const addresses = await clusterIps(cluster(), `${other}/web`);
        await expectFound(asker, fullName(other), addresses);
        const attempts = await ask(cluster(), asker, targets(addresses, 1));
        expect(attempts.filter(({ outcome }) => outcome === 'answered')).toEqual([]);
      }
    });

    it('finds no Service that is not there', async () => {
      expect(await resolve(cluster(), asker, fullName(name, 'nothing'))).toEqual([]);
    });

    it('finds a Service as soon as it is there', async () => {
      const app = `late-${node}`;
      await applyAndWait(cluster(), [service(name, app, { app: 'web' })]);
      const addresses = await clusterIps(cluster(), `${name}/${app}`);
      await expectFound(asker, app, addresses);
      await expectAnswers(asker, addresses, backends(name));
    });
  });

  it.each(NODES)(
    'processes of %s, and pods, are answered by each address of the DNS server, over UDP and TCP',
    async (node) => {
      const servers = await clusterIps(cluster(), DNS);
      const addresses = await clusterIps(cluster(), 'red/web');
      const places = [
        { run: fromHost(cluster(), node), servers },
        ...clientsOn.flatMap((one) => [
          { run: fromPod(cluster(), client('plain', one)), servers },
          { run: fromPod(cluster(), client('red', one)), servers: ofTenants ?? servers },
        ]),
      ];
      for (const place of places) {
        for (const server of place.servers) {
          for (const protocol of ['UDP', 'TCP'] as const) {
            const ask4and6 = (['A', 'AAAA'] as const).map((type) =>
              query(place.run, { server, name: fullName('red'), type, protocol }),
            );
            expect((await Promise.all(ask4and6)).flat().sort()).toEqual([...addresses].sort());
          }
        }
      }
    },
  );
};

const PATIENCE_MS = 60_000;
/** Both of two endpoints get one, but for one time in a thousand. */
const OFTEN = 6;

const targets = (ips: readonly string[], times: number): Target[] =>
  ips.flatMap((ip) => Array.from({ length: times }, (): Target => ({ ip, port: 80, protocol: 'TCP' })));
