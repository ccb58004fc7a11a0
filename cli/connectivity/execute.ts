/** A run from its first object to its report; what it has created, its caller deletes. */
import { DEFAULT_INTERFACE, PRIMARY_INTERFACE } from '../../api/names.ts';
import { type Clock, delay } from '../../base/clock.ts';
import type { PodExec } from '../../kube/exec/types.ts';
import { isRecord } from '../../kube/is-record.ts';
import { NAMESPACES, PODS, SERVICES } from '../../kube/resources.ts';
import type { KubeClient, KubeObject } from '../../kube/types.ts';
import { type Ip, isIp, parseIp } from '../../net/ip.ts';
import { PROGRAMS_NAMESPACE } from '../cluster/cluster-command.ts';
import { readCluster } from '../cluster/read-cluster.ts';
import { type Scene, sceneOf } from '../why/allocations.ts';
import { manifestsOf } from './manifests.ts';
import { measure, type Prober, readMtu } from './measure.ts';
import { podsOfRun } from './pods-of-run.ts';
import { type ProbedPod, planProbes, type Targets } from './probes.ts';
import { type Report, reportOf, type Unmeasured } from './report.ts';
import { namespaceName, podPlaces, RUN_LABEL, type Run, type Tenant, type TestName } from './run.ts';
import { untilObjects } from './until.ts';

export interface Execution {
  readonly client: KubeClient;
  readonly exec: Pick<PodExec, 'run'>;
  readonly clock: Clock;
  readonly run: Run;
  readonly tests: ReadonlySet<TestName>;
  /** For pods to become Ready. */
  readonly patienceMs: number;
  readonly timeoutSeconds: number;
  /** What happens, for people who wait. */
  readonly say: (text: string) => void;
}

export const execute = async (execution: Execution, signal: AbortSignal): Promise<Report> => {
  const { run, say } = execution;
  say(`creating namespaces ${namespaceName(run, 'a')} and ${namespaceName(run, 'b')}`);
  const services = await create(execution, signal);
  const nodes = run.nodes.map(({ name }) => name).join(' and ');
  say(`waiting for ${podPlaces(run).length} pods on ${nodes}`);
  await untilReady(execution, signal);
  const { ready, unready } = podsOfRun(run, {
    a: await readTenant(execution, 'a'),
    b: await readTenant(execution, 'b'),
  });
  const prober = proberOf(execution);
  const { pods, unmeasured } = await withMtus(execution, prober, ready, signal);
  const targets: Targets = { pods, services, api: await apiAddresses(execution, signal) };
  const probes = planProbes(run, execution.tests, targets);
  if (probes.length > 0) say(`running ${probes.length} probes`);
  const results = await measure(prober, probes, signal);
  return reportOf(run, results, [...unready, ...unmeasured]);
};

/** @returns the ClusterIPs */
const create = async ({ client, run }: Execution, signal: AbortSignal): Promise<Targets['services']> => {
  const created = new Map<string, KubeObject>();
  for (const { resource, object } of manifestsOf(run)) {
    signal.throwIfAborted();
    // An interrupted request may be executed later: without its answer, nobody knows whether there is something to delete.
    const made = await client.create(resource, object, {}, resource === NAMESPACES ? undefined : signal);
    if (resource !== NAMESPACES) created.set(`${resource.kind} ${made.metadata.namespace}`, made);
  }
  const of = (tenant: Tenant) => clusterIps(created.get(`${SERVICES.kind} ${namespaceName(run, tenant)}`));
  return { a: of('a'), b: of('b') };
};

const clusterIps = (service: KubeObject | undefined): readonly Ip[] => {
  const spec = service?.['spec'];
  const ips = isRecord(spec) && Array.isArray(spec['clusterIPs']) ? spec['clusterIPs'] : [];
  return ips.filter((ip): ip is string => typeof ip === 'string' && isIp(ip)).map(parseIp);
};

const apiAddresses = async ({ client }: Execution, signal: AbortSignal): Promise<readonly Ip[]> =>
  clusterIps(await client.get(SERVICES, { namespace: 'default', name: 'kubernetes' }, signal));

/** Also returns when they did not become so in time: then each pod has its cause. */
const untilReady = async ({ client, run, patienceMs }: Execution, signal: AbortSignal): Promise<void> => {
  const patience = AbortSignal.timeout(patienceMs);
  const pods = podPlaces(run).length;
  const awaited = { resource: PODS, labelSelector: `${RUN_LABEL}=${run.id}` };
  const isDone = (found: readonly KubeObject[]): boolean => found.length === pods && found.every(isReady);
  try {
    await untilObjects(client, awaited, isDone, AbortSignal.any([signal, patience]));
  } catch (error) {
    signal.throwIfAborted();
    if (!patience.aborted) throw error;
  }
};

const isReady = ({ status }: KubeObject): boolean =>
  isRecord(status) &&
  Array.isArray(status['conditions']) &&
  status['conditions'].some((one: unknown) => isRecord(one) && one['type'] === 'Ready' && one['status'] === 'True');

const readTenant = async ({ client, run, clock }: Execution, tenant: Tenant): Promise<Scene> => {
  const options = { namespace: namespaceName(run, tenant), programs: PROGRAMS_NAMESPACE, now: clock.wall() };
  return sceneOf(await readCluster(client, options));
};

const PAUSE_MS = 1_000;

const proberOf = ({ exec, run, timeoutSeconds, clock }: Execution): Prober => ({
  ...{ exec, run, timeoutSeconds },
  pause: (signal) => delay(clock, PAUSE_MS, signal),
});

interface Measurable {
  readonly pods: readonly ProbedPod[];
  readonly unmeasured: readonly Unmeasured[];
}

const withMtus = async (
  { run, tests }: Pick<Execution, 'run' | 'tests'>,
  prober: Pick<Prober, 'exec' | 'run'>,
  ready: readonly Omit<ProbedPod, 'mtu'>[],
  signal: AbortSignal,
): Promise<Measurable> => {
  if (!tests.has('mtu') || run.nodes.length === 1)
    return { pods: ready.map((pod) => ({ ...pod, mtu: undefined })), unmeasured: [] };
  const name = run.subnets === undefined ? DEFAULT_INTERFACE : PRIMARY_INTERFACE;
  const read = await Promise.all(ready.map(async (pod) => ({ pod, result: await readMtu(prober, pod, name, signal) })));
  return {
    pods: read.map(({ pod, result }) => ({ ...pod, mtu: 'mtu' in result ? result.mtu : undefined })),
    unmeasured: read.flatMap(({ pod, result }) =>
      'cause' in result
        ? [{ what: `mtu: ${pod.name} on ${pod.node.name}`, cause: `MTU of ${name} could not be read: ${result.cause}` }]
        : [],
    ),
  };
};
