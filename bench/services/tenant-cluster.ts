/** Two nodes of a sandbox with a tenant: a client on the first, and on each node a server with a Service of its own. */
import { readFileSync } from 'node:fs';
import { parsePodNetworks } from '../../api/annotations/pod-networks.ts';
import { POD_ANNOTATIONS } from '../../api/names.ts';
import { PODS, SERVICES } from '../../kube/resources.ts';
import type { ObjectInput } from '../../kube/types.ts';
import { addressOf } from '../../net/cidr.ts';
import type { Ip } from '../../net/ip.ts';
import { type Sandbox, startSandbox } from '../../sandbox/index.ts';
import { namespacesOf, untilNothingIsLeft } from '../../sandbox/leaks.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { nativeProgram } from '../native.ts';
import { tenant, tenantName } from '../node/workload.ts';

/** By the node of the server: the client's, or the other one. */
export const PLACES = { near: 'node-1', far: 'node-2' } as const;
export type Place = keyof typeof PLACES;
export const WAYS = ['service', 'pod'] as const;
export type Way = (typeof WAYS)[number];

export interface TenantCluster extends AsyncDisposable {
  /** One connection after the other. @returns the nanoseconds of each */
  connect(way: Way, place: Place, count: number): Promise<number[]>;
}

/** Resolves when everything answers. */
export const startTenantCluster = async (signal: AbortSignal): Promise<TenantCluster> => {
  signal.throwIfAborted();
  await using resources = new AsyncDisposableStack();
  const sandbox = await startSandbox({ name: `bench-services-${process.pid}`, nodes: 2 });
  resources.defer(() => takeDown(sandbox));
  await makeObjects(sandbox);
  const stop = new AbortController();
  await install(sandbox);
  const servers = startServers(sandbox, AbortSignal.any([signal, stop.signal]));
  resources.defer(async () => {
    stop.abort();
    await servers.catch(() => undefined);
  });
  const targets = await targetsOf(sandbox);
  let source = FIRST_SOURCE;
  const connect = async (way: Way, place: Place, count: number): Promise<number[]> => {
    const { address, port } = targets[way][place];
    const argv = [PROGRAM, 'measure', address, String(port), String(source), String(count)];
    source += count;
    const { stdout } = await Promise.race([sandbox.exec(CLIENT, argv, { signal }), servers]);
    return stdout.trim().split('\n').map(Number);
  };
  for (const way of WAYS) for (const place of PLACE_NAMES) await eventually(() => connect(way, place, 1), PATIENCE_MS);
  const owner = resources.move();
  return { connect, [Symbol.asyncDispose]: () => owner.disposeAsync() };
};

const PLACE_NAMES = Object.keys(PLACES) as Place[];
/** None is used twice. */
const FIRST_SOURCE = 10_000;
const PATIENCE_MS = 60_000;

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

const makeObjects = async (sandbox: Sandbox): Promise<void> => {
  const client = await sandbox.client();
  for (const { resource, object } of tenant(1)) await client.create(resource, object);
  for (const place of PLACE_NAMES) {
    await client.create(SERVICES, serviceObject(place));
    await client.create(PODS, podObject(place, PLACES[place]));
  }
  await client.create(PODS, podObject('client', PLACES.near));
  const objects = await sandbox.objects();
  for (const name of ['client', ...PLACE_NAMES]) await objects.wait('pod', `${NAMESPACE}/${name}`, 'ready');
};

/** Its label `app` is its name. */
const podObject = (name: string, nodeName: string): ObjectInput => ({
  metadata: { namespace: NAMESPACE, name, labels: { app: name } },
  spec: { nodeName, containers: [{ name: 'main', image: 'toolbox' }] },
});

const serviceObject = (name: Place): ObjectInput => ({
  metadata: { namespace: NAMESPACE, name },
  spec: { selector: { app: name }, ports: [{ protocol: 'TCP', port: SERVICE_PORT, targetPort: POD_PORT }] },
});

const PROGRAM = '/run/connect';

/** Each pod has a file system of its own. */
const install = async (sandbox: Sandbox): Promise<void> => {
  const input = readFileSync(nativeProgram('connect')).toString('base64');
  const argv = ['sh', '-c', `base64 -d > ${PROGRAM} && chmod 755 ${PROGRAM}`];
  for (const name of ['client', ...PLACE_NAMES]) await sandbox.exec(`${NAMESPACE}/${name}`, argv, { input });
};

/** They answer until they are stopped. @returns what rejects when one ends */
const startServers = (sandbox: Sandbox, signal: AbortSignal): Promise<never> => {
  const servers = PLACE_NAMES.map(async (name): Promise<never> => {
    const argv = [PROGRAM, 'serve', String(POD_PORT)];
    await sandbox.exec(`${NAMESPACE}/${name}`, argv, { signal, timeoutMs: LONGEST_MS });
    throw new Error('a server has ended');
  });
  const ended = Promise.all(servers).then(([first]) => first as never);
  // Whoever measures is told.
  ended.catch(() => undefined);
  return ended;
};

/** Of a whole run, with much to spare. */
const LONGEST_MS = 1_000_000;

interface ConnectTarget {
  readonly address: string;
  readonly port: number;
}

const targetsOf = async (sandbox: Sandbox): Promise<Record<Way, Record<Place, ConnectTarget>>> => {
  const service = async (name: string): Promise<ConnectTarget> => {
    const { spec } = await (await sandbox.client()).get(SERVICES, { namespace: NAMESPACE, name });
    return { address: (spec as { clusterIP: string }).clusterIP, port: SERVICE_PORT };
  };
  const pod = async (name: string): Promise<ConnectTarget> => ({
    address: await primaryAddress(sandbox, name),
    port: POD_PORT,
  });
  return {
    service: { near: await service('near'), far: await service('far') },
    pod: { near: await pod('near'), far: await pod('far') },
  };
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
