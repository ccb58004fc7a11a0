/**
 * The Kubernetes API and DNS from pods of tenants, and what of the default network they must not reach. Networks are those
 * of north-south.ts, which has to be called first.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ManifestObject, Sandbox } from '../../../../sandbox/index.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';
import { type Attempt, ask, type Target } from '../../../oracles/reachability/service-clients.ts';
import { applyAndWait, readPod } from '../cluster/cluster.ts';
import { outside } from '../networks/north-south.ts';
import { NODES, podKey } from '../networks/north-south-tenants.ts';
import { addressesOf } from '../packets/packets.ts';
import { backend, clusterIps, handMadeSlice, SERVED, service, targetsOf } from './services.ts';

const SYSTEM = 'kube-system';
const DNS = `${SYSTEM}/kube-dns`;
/** A network of each kind, of one namespace and of several. */
const CLIENTS = [
  podKey('red', 'node-1'),
  podKey('green', 'node-1'),
  podKey('shop', 'node-2'),
  podKey('mart', 'node-2'),
];
/** In a guest four clients need ten seconds to ask once. */
const PATIENCE_MS = 60_000;
/** Of processes of nodes: not those that other tests listen at. */
const ON_NODES = { TCP: 18_080, UDP: 18_081 };

const OF_DNS = { metadata: { namespace: SYSTEM, name: 'kube-dns' }, kind: 'Service', apiVersion: 'v1' };

const dns = (served: typeof ON_NODES | typeof SERVED, app?: string): ManifestObject => ({
  ...OF_DNS,
  spec: {
    ...(app !== undefined && { selector: { app } }),
    ipFamilyPolicy: 'RequireDualStack',
    ipFamilies: ['IPv4', 'IPv6'],
    ports: [
      { name: 'dns', protocol: 'UDP', port: 53, targetPort: served.UDP },
      { name: 'http', protocol: 'TCP', port: 53, targetPort: served.TCP },
    ],
  },
});

const onNode = (node: string): ManifestObject => {
  const { spec, ...rest } = backend(SYSTEM, `dns-${node}`, node, 'dns-on-nodes');
  const ports = ['--http-port', `${ON_NODES.TCP}`, '--udp-port', `${ON_NODES.UDP}`];
  const command = ['toolbox', 'serve', ...ports, '--tcp-port', '0', '--sctp-port', '0', '--hostname', `dns-${node}`];
  const containers = [{ name: 'main', image: 'toolbox', command }];
  return { ...rest, spec: { ...(spec as object), hostNetwork: true, containers } };
};

/** Deleted at the end: ports of nodes are open to all tests. */
const MANIFESTS: readonly ManifestObject[] = [
  ...NODES.flatMap((node) => [backend(SYSTEM, `dns-pod-${node}`, node, 'dns'), onNode(node)]),
  service(SYSTEM, 'private', { app: 'dns' }),
  ...['blue', 'gold'].map((tenant) => service(tenant, 'private', { app: 'private' })),
  ...['blue', 'gold'].map((tenant) => backend(tenant, 'private', 'node-1', 'private')),
];

/** Call it where tests are declared. */
export const defaultServices = (cluster: () => Sandbox): void => {
  /** One after the other: a guest has not the time for all of them at once. */
  const askAll = async (targets: readonly Target[]): Promise<Map<string, readonly Attempt[]>> => {
    const answers = new Map<string, readonly Attempt[]>();
    for (const client of CLIENTS) answers.set(client, await ask(cluster(), client, targets));
    return answers;
  };

  const expectAnswers = async (targets: readonly Target[], names: readonly string[] | 'anybody'): Promise<void> => {
    const asked = targets.flatMap((target) => OFTEN.map(() => target));
    await eventually(async () => {
      for (const [client, attempts] of await askAll(asked)) {
        expect(attempts.filter(({ outcome }) => outcome !== 'answered')).toEqual([]);
        const answers = [...new Set(attempts.map(({ text }) => text))].sort();
        if (names !== 'anybody') expect(answers, client).toEqual([...names].sort());
      }
    }, PATIENCE_MS);
  };

  const expectNothing = async (targets: readonly Target[]): Promise<void> => {
    expect(targets.length).toBeGreaterThan(0);
    for (const [client, attempts] of await askAll(targets))
      expect(
        attempts.filter(({ outcome }) => outcome === 'answered'),
        client,
      ).toEqual([]);
  };

  describe('what tenants reach of the default network', () => {
    beforeAll(async () => await applyAndWait(cluster(), MANIFESTS));
    afterAll(async () => await (await cluster().objects()).delete([...MANIFESTS, dns(SERVED)], { timeoutSeconds: 60 }));

    it('is the Kubernetes API, which is outside of the cluster', async () => {
      const [ip = ''] = await clusterIps(cluster(), 'default/kubernetes');
      for (const client of CLIENTS) {
        // Slower than others: it is a large program, and all of a guest's cluster asks it.
        const argv = ['curl', '-s', '--max-time', '20', `http://${ip}:443/healthz`];
        await eventually(async () => expect((await cluster().exec(client, argv)).stdout).toBe('ok'), PATIENCE_MS);
      }
    });

    it('is DNS outside of the cluster, where somebody wrote down its addresses', async () => {
      const slices = ([4, 6] as const).map((family) => ({
        ...handMadeSlice(SYSTEM, `dns-outside-${family}`, 'kube-dns', [outside(family)]),
        addressType: `IPv${family}`,
      }));
      await applyAndWait(cluster(), [dns(SERVED), ...slices]);
      await expectAnswers(await dnsTargets(cluster()), 'anybody');
      await (await cluster().objects()).delete(slices, { timeoutSeconds: 30 });
    });

    it('is DNS, of pods', async () => {
      await applyAndWait(cluster(), [dns(SERVED, 'dns')]);
      await expectAnswers(
        await dnsTargets(cluster()),
        NODES.map((node) => `dns-pod-${node}`),
      );
    });

    it('is no other Service, no other port of these, and no pod', async () => {
      const backends = await Promise.all(NODES.map((node) => readPod(cluster(), `${SYSTEM}/dns-pod-${node}`)));
      const ips = await clusterIps(cluster(), DNS);
      const ofPrivate = await targetsOf(cluster(), `${SYSTEM}/private`);
      const attempts = await ask(cluster(), podKey('plain', 'node-1'), ofPrivate);
      expect(attempts.filter(({ outcome }) => outcome !== 'answered')).toEqual([]);
      await expectNothing([
        ...ofPrivate,
        ...ips.map((ip): Target => ({ ip, port: SERVED.TCP, protocol: 'TCP' })),
        ...backends.flatMap((one) => addressesOf(one)).map((ip): Target => ({ ip, port: SERVED.TCP, protocol: 'TCP' })),
      ]);
    });

    it('is no Service of another tenant', async () => {
      const targets = ['blue', 'gold'].map((tenant) => targetsOf(cluster(), `${tenant}/private`));
      await expectNothing((await Promise.all(targets)).flat());
    });

    it('is DNS on the network of nodes, the own one and another', async () => {
      await applyAndWait(cluster(), [dns(ON_NODES, 'dns-on-nodes')]);
      await expectAnswers(
        await dnsTargets(cluster()),
        NODES.map((node) => `dns-${node}`),
      );
    });
  });
};

/** Both of two endpoints get one, as four targets lead to each. */
const OFTEN = Array.from({ length: 5 });

const dnsTargets = async (sandbox: Sandbox): Promise<Target[]> =>
  (await clusterIps(sandbox, DNS)).flatMap((ip): Target[] => [
    { ip, port: 53, protocol: 'UDP' },
    { ip, port: 53, protocol: 'TCP' },
  ]);
