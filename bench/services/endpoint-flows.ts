/** One endpoint more, until everything on the node has it: OVN, the gateway bridge and nftables. */
import { takeTurns } from '../alternate.ts';
import type { BenchContext } from '../context.ts';
import { startWholeNode, type WholeNode } from '../datapath/whole-node.ts';
import { type OvnClock, openOvnClock } from '../node/ovn-clock.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { median } from '../statistics.ts';
import { ENDPOINTS_OF_EACH } from './objects.ts';
import { publishedOf, publishedService, vipOf } from './published-objects.ts';

const [FEW, MANY] = [100, 10_000];
const ROUNDS = 9;
const WARM_UP = 3;

export const ENDPOINT_FLOWS_NAMES = [
  'services/endpoint-10k-flows',
  'services/endpoint-10k-flows-bytes',
  'services/endpoint-10k-flows-agent',
  'services/endpoint-10k-flows-northd',
  'services/endpoint-10k-flows-raw',
] as const;

/**
 * The first endpoint on this node of a Service with a node port and an external address that answer by endpoints of their node
 * alone: load balancers of OVN, and flows of the gateway bridge. Beside it one backend more, written straight into the row of
 * a load balancer: what OVN takes, whoever writes.
 */
export const benchEndpointFlows = async ({ signal, progress, eachRun }: BenchContext): Promise<BenchResult[]> => {
  progress(`services/endpoint-10k-flows: ${ROUNDS} endpoints among each number of Services, with OVN at work`);
  await using resources = new AsyncDisposableStack();
  const [few, many] = [await startNode(FEW, signal, resources), await startNode(MANY, signal, resources)];
  return await eachRun(async (run) =>
    resultsOf(
      await takeTurns<Turn, Steps>(
        { rounds: ROUNDS, run, warmUp: WARM_UP, signal },
        {
          many: (round) => oneEndpoint(many, round),
          few: (round) => oneEndpoint(few, round),
          rawMany: (round) => oneBackend(many, round),
          rawFew: (round) => oneBackend(few, round),
        },
      ),
    ),
  );
};

type Turn = 'many' | 'few' | 'rawMany' | 'rawFew';

const resultsOf = (samples: Readonly<Record<Turn, readonly Steps[]>>): BenchResult[] => {
  const result = (name: string, unit: string, of: readonly Steps[], than: readonly Steps[], part: keyof Steps) =>
    benchResult({ name, value: medianOf(of, part), unit, reference: medianOf(than, part), rounds: ROUNDS });
  const [all, bytes, agent, northd, raw] = ENDPOINT_FLOWS_NAMES;
  return [
    result(all, 'ms', samples.many, samples.few, 'all'),
    result(bytes, 'bytes', samples.many, samples.few, 'bytes'),
    result(agent, 'ms', samples.many, samples.few, 'agent'),
    result(northd, 'ms', samples.many, samples.few, 'northd'),
    result(raw, 'ms', samples.rawMany, samples.rawFew, 'all'),
  ];
};

/** Milliseconds, but for the bytes. */
interface Steps {
  /** Until br-int has it. */
  readonly all: number;
  /** Until the northbound database, the gateway bridge and nftables have it. */
  readonly agent: number;
  /** From then until the southbound database has it. */
  readonly northd: number;
  readonly bytes: number;
}

const medianOf = (steps: readonly Steps[], part: keyof Steps): number => median(steps.map((step) => step[part]));

interface ServiceNode {
  readonly services: number;
  readonly whole: WholeNode;
  readonly clock: OvnClock;
}

const startNode = async (
  services: number,
  signal: AbortSignal,
  resources: AsyncDisposableStack,
): Promise<ServiceNode> => {
  const spec = { name: `bench-services-${services}-${process.pid}`, networks: 0, services, withOvn: true, spare: 0 };
  const whole = resources.use(await startWholeNode(spec, signal));
  return { services, whole, clock: resources.use(await openOvnClock(whole.node)) };
};

const oneEndpoint = async ({ services, whole, clock }: ServiceNode, round: number): Promise<Steps> => {
  const service = publishedService((round * STEP) % publishedOf(services));
  const start = performance.now();
  const { bytes, written } = await whole.setEndpoints(service, ENDPOINTS_OF_EACH + 1);
  const agent = performance.now();
  const { northd, controller } = await clock.done(AbortSignal.timeout(WAIT_MS));
  if (written === 0) throw new Error('an endpoint more, and nothing was written');
  await whole.setEndpoints(service, ENDPOINTS_OF_EACH);
  await clock.done(AbortSignal.timeout(WAIT_MS));
  return { all: controller - start, agent: agent - start, northd: northd - agent, bytes };
};

const oneBackend = async ({ services, clock }: ServiceNode, round: number): Promise<Steps> => {
  const vip = vipOf(publishedService((round * STEP) % publishedOf(services)) + 1);
  const before = clock.backends(vip);
  const start = performance.now();
  await clock.setBackends(vip, `${before},${ONE_MORE}`);
  const agent = performance.now();
  const { northd, controller } = await clock.done(AbortSignal.timeout(WAIT_MS));
  await clock.setBackends(vip, before);
  await clock.done(AbortSignal.timeout(WAIT_MS));
  return { all: controller - start, agent: agent - start, northd: northd - agent, bytes: 0 };
};

/** From one Service to the next: so that they are spread over all of them. */
const STEP = 97;
/** An endpoint that no Service has. */
const ONE_MORE = '10.131.250.1:8080';
const WAIT_MS = 120_000;
