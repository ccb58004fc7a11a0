/** EndpointSlices that are created at once, until each has its mirror with the addresses of its tenant's network. */
import { SLICE_ANNOTATIONS, SLICE_CONTROLLER, SLICE_LABELS, SLICE_MIRROR_CONTROLLER } from '../../api/names.ts';
import { keyOf } from '../../kube/object-key.ts';
import { ENDPOINT_SLICES, PODS } from '../../kube/resources.ts';
import type { KubeObject } from '../../kube/types.ts';
import { takeTurns } from '../alternate.ts';
import type { BenchContext } from '../context.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { median } from '../statistics.ts';
import type { Fleet } from './fleet.ts';
import { CAUGHT_UP, ManagerProcess } from './manager-process.ts';
import { type Creatable, namespaceOf, sliceRemoval, sliceRequest, tenants, withoutServerFields } from './objects.ts';
import { type RequestChain, startPlayer } from './request-chain.ts';
import { type Tally, watchTally } from './watch-until.ts';

const SLICES_OF_EACH = 5;
const ROUNDS = 1;

export const MIRROR_NAME = 'services/mirror-5k';

/** Against a loop that creates each slice and then its mirror as the cluster manager has written it. The same watch tells for both. */
export const benchMirrors = async (
  fleet: Fleet,
  { progress, eachRun }: Pick<BenchContext, 'progress' | 'eachRun'>,
): Promise<BenchResult[]> => {
  const count = fleet.size * SLICES_OF_EACH;
  progress(`${MIRROR_NAME}: ${count} slices`);
  await fleet.addresses();
  const sources = await sourceSlices(fleet);
  let mirrors: ReadonlyMap<string, Creatable> = new Map();
  const byManager = async (): Promise<number> => {
    await using manager = new ManagerProcess(fleet.plane.kubeconfig);
    await manager.whenLogged(CAUGHT_UP);
    const milliseconds = await untilMirrored(fleet, sources.map(chainOf), count);
    mirrors = await writtenMirrors(fleet);
    return milliseconds;
  };
  const byLoop = (): Promise<number> => {
    const chains = sources.map((source) => [...chainOf(source), sliceRequest(mirrorOf(source, mirrors))]);
    return untilMirrored(fleet, chains, count);
  };
  const cleanly = (turn: () => Promise<number>) => async (): Promise<number> => {
    const milliseconds = await turn();
    await fleet.play(tenants(fleet.size).map(sliceRemoval));
    return milliseconds;
  };
  return await eachRun(async (run) => {
    // The manager is first in the first run: the loop writes what it wrote.
    const { manager, loop } = await takeTurns(
      { rounds: ROUNDS, run, signal: fleet.signal },
      { manager: cleanly(byManager), loop: cleanly(byLoop) },
    );
    const [value, reference] = [median(manager), median(loop)];
    return [benchResult({ name: MIRROR_NAME, value, unit: 'ms', reference, rounds: ROUNDS })];
  });
};

const chainOf = (source: Creatable): RequestChain => [sliceRequest(source)];

const untilMirrored = async (fleet: Fleet, chains: readonly RequestChain[], count: number): Promise<number> => {
  const { plane, signal } = fleet;
  await using mirrored = await mirrorTally(fleet);
  await using player = await startPlayer({ folder: plane.folder, kubeconfig: plane.administrators }, chains);
  signal.throwIfAborted();
  const start = performance.now();
  player.write('go\n');
  await mirrored.reaches(count);
  const milliseconds = performance.now() - start;
  await player.line();
  return milliseconds;
};

const isMirror = ({ metadata }: KubeObject): boolean =>
  metadata.labels?.[SLICE_LABELS.managedBy] === SLICE_MIRROR_CONTROLLER;

const mirrorTally = ({ plane: { client }, signal }: Fleet): Promise<Tally> =>
  watchTally({ client, resource: ENDPOINT_SLICES, isDone: isMirror }, signal);

/** By the key of what they mirror. */
const writtenMirrors = async ({ plane: { client } }: Fleet): Promise<ReadonlyMap<string, Creatable>> => {
  const { items } = await client.list(ENDPOINT_SLICES, { labelSelector: MIRRORS });
  return new Map(items.map((mirror) => [sourceKeyOf(mirror), withoutServerFields(mirror)]));
};

const MIRRORS = `${SLICE_LABELS.managedBy}=${SLICE_MIRROR_CONTROLLER}`;

const sourceKeyOf = ({ metadata }: KubeObject): string =>
  `${metadata.namespace}/${metadata.annotations?.[SLICE_ANNOTATIONS.source]}`;

const mirrorOf = (source: Creatable, mirrors: ReadonlyMap<string, Creatable>): Creatable => {
  const mirror = mirrors.get(keyOf(source));
  if (mirror === undefined) throw new Error(`${keyOf(source)} has no mirror`);
  return mirror;
};

/** As the EndpointSlice controller writes them: all pods of a tenant are endpoints of each of its Services. */
const sourceSlices = async ({ plane: { client }, size }: Fleet): Promise<Creatable[]> => {
  const pods = Map.groupBy((await client.list(PODS)).items, ({ metadata }) => metadata.namespace ?? '');
  return tenants(size).flatMap((tenant) => {
    const namespace = namespaceOf(tenant);
    const endpoints = (pods.get(namespace) ?? []).map(endpointOf);
    return Array.from({ length: SLICES_OF_EACH }, (_, index) => sliceOf(namespace, `web-${index}`, endpoints));
  });
};

/** What it is on the default network, nobody looks at: any will do. */
const endpointOf = ({ metadata: { namespace, name, uid } }: KubeObject, index: number) => ({
  addresses: [`10.128.1.${index + 10}`],
  conditions: { ready: true, serving: true, terminating: false },
  nodeName: 'node-1',
  targetRef: { kind: 'Pod', namespace, name, uid },
});

const sliceOf = (namespace: string, service: string, endpoints: readonly unknown[]): Creatable => ({
  metadata: {
    namespace,
    name: `${service}-x2k4p`,
    labels: { [SLICE_LABELS.managedBy]: SLICE_CONTROLLER, [SLICE_LABELS.service]: service },
  },
  addressType: 'IPv4',
  endpoints,
  ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
});
