/**
 * The health answers to load balancers on each node, and the events of Services about ports. Needs root and `make build`.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { FAMILIES, type Family } from '../../net/ip.ts';
import type { ManifestObject } from '../../sandbox/index.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { applyAndWait, deletePods, useCluster } from './support/cluster/cluster.ts';
import { tenantManifests } from './support/cluster/one-of-each.ts';
import { restartsOf } from './support/cluster/restarts.ts';
import { nodeAddress } from './support/networks/north-south.ts';
import { inBackground } from './support/packets/background.ts';
import { backend, handMadeSlice, service } from './support/services/services.ts';

const cluster = useCluster({ name: 'test-service-health', ipFamily: 'dual' });

const NODES = ['node-1', 'node-2'] as const;
type Node = (typeof NODES)[number];
/** Each with the port of its health check. */
const TENANTS = { plain: 31_501, red: 31_502, green: 31_503 } as const;
type Tenant = keyof typeof TENANTS;

const balanced = (tenant: Tenant, port: number = TENANTS[tenant]): ManifestObject =>
  service(tenant, 'web', {
    app: 'web',
    spec: { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: port },
  });

beforeAll(async () => {
  await applyAndWait(cluster(), tenantManifests());
}, 120_000);

const pod = (tenant: Tenant, node: Node, name = `${tenant}-${node}`): ManifestObject =>
  backend(tenant, name, node, 'web');

interface Answer {
  readonly status: number;
  readonly endpoints: number;
}

const bodySchema = z.object({
  service: z.object({ namespace: z.string(), name: z.literal('web') }),
  localEndpoints: z.number(),
  serviceProxyHealthy: z.boolean(),
});

/** From a process of `client`; undefined: refused. */
const ask = async (tenant: Tenant, client: Node, node: Node, family: Family): Promise<Answer | undefined> => {
  const ip = nodeAddress(node, family);
  const url = `http://${family === 6 ? `[${ip}]` : ip}:${TENANTS[tenant]}/healthz`;
  const script = `curl -sg --max-time 2 -w '\\n%{http_code} %header{x-load-balancing-endpoint-weight}' '${url}' || echo none`;
  const { stdout } = await cluster().node(client, ['sh', '-c', script]);
  if (stdout.trim().endsWith('none')) return undefined;
  const lines = stdout.trim().split('\n');
  const [status, weight] = (lines.pop() ?? '').split(' ').map(Number);
  const body = bodySchema.parse(JSON.parse(lines.join('\n')));
  expect(body.service.namespace).toBe(tenant);
  expect(weight).toBe(body.localEndpoints);
  return { status: status ?? 0, endpoints: body.localEndpoints };
};

/** Of each node, from processes of both, over both families. */
const expectEverywhere = (tenant: Tenant, expected: Readonly<Record<Node, number | undefined>>): Promise<void> =>
  eventually(async () => {
    for (const node of NODES) {
      for (const client of NODES) {
        for (const family of FAMILIES) {
          const endpoints = expected[node];
          const desired = endpoints === undefined ? undefined : { status: endpoints > 0 ? 200 : 503, endpoints };
          expect(await ask(tenant, client, node, family), `${client} → ${node}, IPv${family}`).toEqual(desired);
        }
      }
    }
  });

describe.each(Object.keys(TENANTS) as Tenant[])('the health check of a Service of %s', (tenant) => {
  it('says on each node whether it has endpoints there, as they come, move and go, with any agent, and is gone with it', async () => {
    await applyAndWait(cluster(), [balanced(tenant)]);
    await expectEverywhere(tenant, { 'node-1': 0, 'node-2': 0 });
    await applyAndWait(cluster(), [pod(tenant, 'node-1'), pod(tenant, 'node-1', `${tenant}-more`)]);
    await expectEverywhere(tenant, { 'node-1': 2, 'node-2': 0 });
    await applyAndWait(cluster(), [pod(tenant, 'node-2')]);
    await deletePods(cluster(), `${tenant}/${tenant}-node-1`, `${tenant}/${tenant}-more`);
    await expectEverywhere(tenant, { 'node-1': 0, 'node-2': 1 });
    const before = await restarts();
    await Promise.all(NODES.map((node) => cluster().kill(node, 'agent', 'SIGKILL')));
    await eventually(async () => expect(await restarts()).toEqual(before.map((count) => count + 1)));
    await expectEverywhere(tenant, { 'node-1': 0, 'node-2': 1 });
    await (await cluster().objects()).delete([balanced(tenant)], { timeoutSeconds: 30 });
    await expectEverywhere(tenant, { 'node-1': undefined, 'node-2': undefined });
  });
});

/** Of the agents of all nodes. */
const restarts = (): Promise<number[]> => Promise.all(NODES.map((node) => restartsOf(cluster(), node)));

const eventSchema = z.object({
  reason: z.string(),
  message: z.string(),
  involvedObject: z.object({ kind: z.string(), name: z.string(), uid: z.string().optional() }),
});

it('whose ports a process of the node has is reported by events of the Service', async () => {
  const [check, nodePort] = [31_510, 31_511];
  const program = inBackground(`
sockets = [socket.create_server(('', port)) for port in (${check}, ${nodePort})]
def serve():
    time.sleep(60)
`);
  await cluster().node('node-2', ['python3', '-c', program]);
  const spec = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: check };
  const ports = [{ name: 'http', protocol: 'TCP', port: 80, nodePort }];
  const manifests = [
    service('plain', 'late', { spec: { ...spec, ports } }),
    handMadeSlice('plain', 'late-1', 'late', []),
  ];
  await applyAndWait(cluster(), manifests);
  await eventually(async () => {
    const found = z.array(eventSchema).parse(await (await cluster().objects()).list('Event', 'plain'));
    const reported = found.filter(({ involvedObject: { kind, name } }) => kind === 'Service' && name === 'late');
    expect(reported.map(({ reason, message }) => `${reason}: ${message}`).sort()).toEqual([
      `FailedToStartServiceHealthcheck: load balancers get no health check of its endpoints on node node-2: TCP port ${check} cannot be opened: another process listens on it`,
      `PortClaim: a process of node node-2 listens on TCP 0.0.0.0:${nodePort}: traffic to node port ${nodePort} goes to this Service, not to that process`,
    ]);
    expect(reported.every(({ involvedObject: { uid } }) => uid !== undefined)).toBe(true);
  });
  await (await cluster().objects()).delete(manifests, { timeoutSeconds: 30 });
});
