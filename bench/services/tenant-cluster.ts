/**
 * Two nodes of a sandbox with a tenant: a client on the first, on each node a server with a Service of its own, and a client on
 * the host outside.
 */
import { readFileSync } from 'node:fs';
import { parsePodNetworks } from '../../api/annotations/pod-networks.ts';
import { POD_ANNOTATIONS } from '../../api/names.ts';
import { PODS, SERVICES } from '../../kube/resources.ts';
import type { ObjectInput } from '../../kube/types.ts';
import { addressOf } from '../../net/cidr.ts';
import { type Ip, ipFamily } from '../../net/ip.ts';
import { type Sandbox, type SandboxOptionsInput, startSandbox } from '../../sandbox/index.ts';
import { namespacesOf, untilNothingIsLeft } from '../../sandbox/leaks.ts';
import { planNetwork } from '../../sandbox/plan/netplan.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { nativeProgram } from '../native.ts';
import { tenant, tenantName } from '../node/workload.ts';

/** By the node of the server: the client's, or the other one. */
export const TARGETS = { near: 'node-1', far: 'node-2' } as const;
export type Target = keyof typeof TARGETS;
/**
 * From the pod by the server's ClusterIP or straight to it; from outside by its node port on the first node, or to a server that
 * is a process of that node.
 */
export type Way = 'service' | 'pod' | 'node-port' | 'node';

export interface TenantClusterSpec {
  readonly ways: readonly Way[];
  /** In local mode VRFs have a part in it. Default `shared`, on the kernel that is here. */
  readonly gatewayMode?: 'shared' | 'local';
}

export interface TenantCluster extends AsyncDisposable {
  /** One connection after the other. @returns the nanoseconds of each */
  connect(way: Way, target: Target, count: number): Promise<number[]>;
}

/** Resolves when everything answers. */
export const startTenantCluster = async (
  { ways, gatewayMode = 'shared' }: TenantClusterSpec,
  signal: AbortSignal,
): Promise<TenantCluster> => {
  signal.throwIfAborted();
  await using resources = new AsyncDisposableStack();
  const name = `bench-services-${process.pid}`;
  const sandbox = await startSandbox({ name, nodes: 2, gatewayMode, ...(gatewayMode === 'local' && IN_A_GUEST) });
  resources.defer(() => takeDown(sandbox));
  await makeObjects(sandbox, ways.includes('node-port'));
  const stop = new AbortController();
  await install(sandbox);
  const servers = startServers(sandbox, AbortSignal.any([signal, stop.signal]));
  resources.defer(async () => {
    stop.abort();
    await servers.catch(() => undefined);
  });
  const targets = await targetsOf(sandbox);
  const patience = PATIENCE_MS * (await sandbox.slowdown());
  let source = FIRST_SOURCE;
  const connect = async (way: Way, target: Target, count: number): Promise<number[]> => {
    const { address, port } = targets[way][target];
    const argv = [PROGRAM, 'measure', address, String(port), String(source), String(count)];
    source += count;
    const isInside = way === 'service' || way === 'pod';
    const client = isInside ? sandbox.exec(CLIENT, argv, { signal }) : sandbox.outside(argv, { signal });
    const { stdout } = await Promise.race([client, servers]);
    return stdout.trim().split('\n').map(Number);
  };
  for (const way of ways) for (const target of TARGET_NAMES) await eventually(() => connect(way, target, 1), patience);
  const owner = resources.move();
  return { connect, [Symbol.asyncDispose]: () => owner.disposeAsync() };
};

const TARGET_NAMES = Object.keys(TARGETS) as Target[];
/** None is used twice. */
const FIRST_SOURCE = 10_000;
const PATIENCE_MS = 60_000;
const IN_A_GUEST: SandboxOptionsInput = { needs: ['vrf', 'kernel-datapath'], timeoutSeconds: 300 };

/** @throws Error when something is left of it */
const takeDown = async (sandbox: Sandbox): Promise<void> => {
  const namespaces = await namespacesOf(sandbox.name);
  await sandbox.down();
  await untilNothingIsLeft(sandbox.name, namespaces);
};

const NAMESPACE = tenantName(1);
const CLIENT = `${NAMESPACE}/client`;
const SERVICE_PORT = 80;
const POD_PORT = 9123;

/** Of the server that is a process of the node. */
const HOST_PORT = 9124;
const NODE_PORTS: Readonly<Record<Target, number>> = { near: 30_080, far: 30_081 };

const makeObjects = async (sandbox: Sandbox, hasNodePorts: boolean): Promise<void> => {
  const client = await sandbox.client();
  for (const { resource, object } of tenant(1)) await client.create(resource, object);
  for (const target of TARGET_NAMES) {
    await client.create(SERVICES, serviceObject(target, hasNodePorts));
    await client.create(PODS, podObject(target, TARGETS[target]));
  }
  await client.create(PODS, podObject('client', TARGETS.near));
  const objects = await sandbox.objects();
  for (const name of ['client', ...TARGET_NAMES]) await objects.wait('pod', `${NAMESPACE}/${name}`, 'ready');
};

/** Its label `app` is its name. */
const podObject = (name: string, nodeName: string): ObjectInput => ({
  metadata: { namespace: NAMESPACE, name, labels: { app: name } },
  spec: { nodeName, containers: [{ name: 'main', image: 'toolbox' }] },
});

const serviceObject = (name: Target, hasNodePort: boolean): ObjectInput => {
  const port = { protocol: 'TCP', port: SERVICE_PORT, targetPort: POD_PORT };
  const ports = [hasNodePort ? { ...port, nodePort: NODE_PORTS[name] } : port];
  return {
    metadata: { namespace: NAMESPACE, name },
    spec: { selector: { app: name }, ports, ...(hasNodePort && { type: 'NodePort' }) },
  };
};

const PROGRAM = '/run/connect';

/** Each of them has a file system of its own. */
const install = async (sandbox: Sandbox): Promise<void> => {
  const input = readFileSync(nativeProgram('connect')).toString('base64');
  const argv = ['sh', '-c', `base64 -d > ${PROGRAM} && chmod 755 ${PROGRAM}`];
  for (const name of ['client', ...TARGET_NAMES]) await sandbox.exec(`${NAMESPACE}/${name}`, argv, { input });
  await sandbox.node(TARGETS.near, argv, { input });
  await sandbox.outside(argv, { input });
};

/** They answer until they are stopped. @returns what rejects when one ends */
const startServers = (sandbox: Sandbox, signal: AbortSignal): Promise<never> => {
  const options = { signal, timeoutMs: LONGEST_MS };
  const serve = (port: number): string[] => [PROGRAM, 'serve', String(port)];
  const running = [
    ...TARGET_NAMES.map((name) => sandbox.exec(`${NAMESPACE}/${name}`, serve(POD_PORT), options)),
    sandbox.node(TARGETS.near, serve(HOST_PORT), options),
  ];
  const servers = running.map(async (server): Promise<never> => {
    await server;
    throw new Error('a server has ended');
  });
  const ended = Promise.all(servers).then(([first]) => first as never);
  // Notifies whoever measures.
  ended.catch(() => undefined);
  return ended;
};

/** Of a whole run, with much to spare. */
const LONGEST_MS = 1_000_000;

interface ConnectTarget {
  readonly address: string;
  readonly port: number;
}

const targetsOf = async (sandbox: Sandbox): Promise<Record<Way, Record<Target, ConnectTarget>>> => {
  const service = async (name: string): Promise<ConnectTarget> => {
    const { spec } = await (await sandbox.client()).get(SERVICES, { namespace: NAMESPACE, name });
    return { address: (spec as { clusterIP: string }).clusterIP, port: SERVICE_PORT };
  };
  const pod = async (name: string): Promise<ConnectTarget> => ({
    address: await primaryAddress(sandbox, name),
    port: POD_PORT,
  });
  const node = hostAddress();
  const host = { address: node, port: HOST_PORT };
  return {
    'node-port': {
      near: { address: node, port: NODE_PORTS.near },
      far: { address: node, port: NODE_PORTS.far },
    },
    node: { near: host, far: host },
    service: { near: await service('near'), far: await service('far') },
    pod: { near: await pod('near'), far: await pod('far') },
  };
};

/** The first node's IPv4 one. */
const hostAddress = (): Ip => {
  const plan = planNetwork('dual', Object.keys(TARGETS).length);
  const node = plan.nodes.find(({ name }) => name === TARGETS.near);
  const address = node?.addresses.map(addressOf).find((ip) => ipFamily(ip) === 4);
  if (address === undefined) throw new Error(`${TARGETS.near} has no IPv4 address`);
  return address;
};

/** Its IPv4 one. */
const primaryAddress = async (sandbox: Sandbox, name: string): Promise<Ip> => {
  const { metadata } = await (await sandbox.client()).get(PODS, { namespace: NAMESPACE, name });
  const networks = parsePodNetworks(metadata.annotations?.[POD_ANNOTATIONS.networks] ?? '{}', name);
  const primary = [...networks.values()].find(({ role }) => role === 'primary');
  const address = primary?.ipAddresses.map(addressOf).find((ip) => !ip.includes(':'));
  if (address === undefined) throw new Error(`pod ${name} has no IPv4 address on its primary network`);
  return address;
};
