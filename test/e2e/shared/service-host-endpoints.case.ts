/**
 * Host-network pods behind Services of tenants, on the client's own node: what a tenant's pods reach of their node by them, and what
 * they do not. Who reaches such Services from where is a matter of the matrix.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { FAMILIES, type Family } from '../../../net/ip.ts';
import type { ManifestObject, Sandbox } from '../../../sandbox/index.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import type { Target } from '../../oracles/reachability/service-clients.ts';
import { applyAndWait } from '../support/cluster/cluster.ts';
import { pod } from '../support/cluster/manifests.ts';
import { tenantManifests } from '../support/cluster/one-of-each.ts';
import { nodeAddress } from '../support/networks/north-south.ts';
import {
  answeredBy,
  describeTarget,
  entryPointsOf,
  fromOutside,
  fromPod,
  nodePortTargets,
  whoAnswers,
} from '../support/services/entry-points.ts';
import { service, targetsOf } from '../support/services/services.ts';

export const serviceHostEndpoints = (cluster: () => Sandbox): void => {
  const TENANTS = ['red', 'green'] as const;
  /** First of the ports of a node that each one's pod there has. */
  const PORTS = { red: 9100, green: 9110, plain: 9120 } as const;
  type Owner = keyof typeof PORTS;
  const NODE = 'node-1';
  const CLIENTS = ['near', 'far'] as const;
  const HOST: Readonly<Record<Family, string>> = { 4: '169.254.0.2', 6: 'fd69::2' };

  const onNode = (owner: Owner): ManifestObject => {
    const made = pod(owner, `${owner}-host`, NODE);
    const [http, udp] = [PORTS[owner], PORTS[owner] + 1];
    const options = ['--http-port', `${http}`, '--udp-port', `${udp}`, '--sctp-port', '0', '--tcp-port', '0'];
    const command = ['toolbox', 'serve', ...options, '--hostname', `${owner}-host`];
    const ports = [{ name: 'web', containerPort: http, protocol: 'TCP' }];
    const containers = [{ name: 'main', image: 'toolbox', command, ports }];
    return {
      ...made,
      metadata: { ...made.metadata, labels: { app: 'host' } },
      spec: { ...(made['spec'] as object), hostNetwork: true, containers },
    };
  };

  const web = (owner: Owner, app = 'host'): ManifestObject => {
    const made = service(owner, 'web', { app });
    const spec = made['spec'] as { ports: { protocol: string }[] };
    const ports = spec.ports.map((port) =>
      port.protocol === 'UDP' ? { ...port, targetPort: PORTS[owner] + 1 } : port,
    );
    return { ...made, spec: { ...spec, ports } };
  };

  beforeAll(async () => {
    await applyAndWait(cluster(), [
      ...tenantManifests(),
      ...TENANTS.flatMap((tenant) => [pod(tenant, 'near', NODE), pod(tenant, 'far', 'node-2'), web(tenant)]),
      ...(['red', 'green', 'plain'] as const).map(onNode),
    ]);
  }, 120_000);

  const portsOf = (owner: Owner, ips: readonly string[]): Target[] =>
    ips.flatMap((ip): Target[] => [
      { ip, port: PORTS[owner], protocol: 'TCP' },
      { ip, port: PORTS[owner] + 1, protocol: 'UDP' },
    ]);
  const hostIps = FAMILIES.map((family) => HOST[family]);
  const nodeIps = FAMILIES.map((family) => nodeAddress(NODE, family));

  describe.each(TENANTS)('a tenant, %s', (tenant) => {
    const other = tenant === 'red' ? 'green' : 'red';

    it.each(CLIENTS)('has a host-network pod behind its Service, %s', async (client) => {
      const run = fromPod(cluster(), `${tenant}/${client}`);
      const targets = await targetsOf(cluster(), `${tenant}/web`);
      await eventually(async () =>
        expect(await whoAnswers(run, targets)).toEqual(answeredBy(targets, [`${tenant}-host`])),
      );
    });

    it('reaches nothing else of its node: no other process, no other tenant’s, by no address', async () => {
      const run = fromPod(cluster(), `${tenant}/near`);
      const own = portsOf(tenant, hostIps);
      // So they are the right addresses.
      await eventually(async () => expect(await whoAnswers(run, own)).toEqual(answeredBy(own, [`${tenant}-host`])));
      const others = [
        ...portsOf(other, hostIps),
        ...portsOf('plain', [...hostIps, ...nodeIps]),
        ...portsOf(tenant, nodeIps),
      ];
      expect(await whoAnswers(fromPod(cluster(), `${tenant}/far`), portsOf('plain', nodeIps))).toEqual(
        answeredBy(portsOf('plain', nodeIps), ['plain-host']),
      );
      const answers = await whoAnswers(run, others);
      expect(answers).toHaveLength(others.length);
      expect(answers.filter((line) => !/ → \((refused|silent)\)$/.test(line))).toEqual([]);
    });

    it('keeps its connections to an endpoint that is none any more, and gets no new ones', async () => {
      const run = fromPod(cluster(), `${tenant}/near`);
      const targets = await targetsOf(cluster(), `${tenant}/web`);
      const held = targets.filter(({ protocol }) => protocol === 'TCP').map(({ ip }) => ip);
      const talk = cluster().exec(`${tenant}/near`, ['python3', '-c', HOLD, tenant, ...held]);
      const has = (file: string) => cluster().exec(`${tenant}/near`, ['test', '-e', `/tmp/hold-${tenant}-${file}`]);
      await eventually(() => has('begun'));
      await applyAndWait(cluster(), [web(tenant, 'nobody')]);
      const refused = targets.map((target) => `${describeTarget(target)} → (refused)`).sort();
      await eventually(async () => expect(await whoAnswers(run, targets)).toEqual(refused));
      const closed = await whoAnswers(run, portsOf(tenant, hostIps));
      expect(closed.filter((line) => !line.endsWith('(silent)'))).toEqual([]);
      await cluster().exec(`${tenant}/near`, ['touch', `/tmp/hold-${tenant}-go`]);
      expect((await talk).stdout.trim().split('\n')).toEqual(held.map(() => `${tenant}-host ${tenant}-host`));
      await applyAndWait(cluster(), [web(tenant)]);
    }, 60_000);
  });

  /** At one number, for TCP and UDP. */
  const published = (owner: Owner, nodePort: number): ManifestObject => {
    const made = web(owner);
    const spec = made['spec'] as { ports: object[] };
    const ports = spec.ports.map((port) => ({ ...port, nodePort }));
    return { ...made, metadata: { ...made.metadata, name: 'published' }, spec: { ...spec, type: 'NodePort', ports } };
  };

  // Last: as long as there is one, its endpoint stays open to the tenant's pods. OVS's userspace datapath drops what goes through the gateway router and back to the node.
  it.each(['plain', ...TENANTS] as const)(
    'a node port of %s, asked from outside, leads to a host-network pod of that node which is its only endpoint',
    async (owner) => {
      const entryPoints = entryPointsOf(40 + Object.keys(PORTS).indexOf(owner));
      await applyAndWait(cluster(), [published(owner, entryPoints.nodePort)]);
      const targets = nodePortTargets(NODE, entryPoints);
      await eventually(async () =>
        expect(await whoAnswers(fromOutside(cluster()), targets)).toEqual(answeredBy(targets, [`${owner}-host`])),
      );
    },
    60_000,
  );
};

/** One connection to each address, and a question on it before and after a file says to go on. */
const HOLD = `
import os, socket, sys, time
tenant, addresses = sys.argv[1], sys.argv[2:]
def ask(sock):
    sock.sendall(b'GET /hostname HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n')
    text = b''
    while b'\\r\\n\\r\\n' not in text or not text.split(b'\\r\\n\\r\\n', 1)[1]:
        text += sock.recv(4096)
    return text.split(b'\\r\\n\\r\\n', 1)[1].decode().strip()
socks = [socket.create_connection((address, 80), 5) for address in addresses]
before = [ask(sock) for sock in socks]
open('/tmp/hold-%s-begun' % tenant, 'w').close()
end = time.monotonic() + 40
while not os.path.exists('/tmp/hold-%s-go' % tenant) and time.monotonic() < end:
    time.sleep(0.05)
for sock, first in zip(socks, before):
    print(first, ask(sock))
for name in ('begun', 'go'):
    os.unlink('/tmp/hold-%s-%s' % (tenant, name))
`;
