/** TCP connections through Services of a tenant, and straight to a server. */
import { takeTurns } from '../alternate.ts';
import type { BenchContext } from '../context.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { median } from '../statistics.ts';
import { startTenantCluster, type Target, type TenantCluster, type Way } from './tenant-cluster.ts';

const ROUNDS = 6;
const CONNECTIONS = 200;

export const CONNECTION_NAMES = ['services/clusterip-vs-pod', 'services/clusterip-vs-pod/other-node'] as const;

/** A value is the mean time of a connection: a million divided by it are connections per second. */
export const benchConnections = async ({ signal, progress, eachRun }: BenchContext): Promise<BenchResult[]> => {
  progress(`services/clusterip-vs-pod: ${ROUNDS} × ${CONNECTIONS} connections each way, on two nodes`);
  await using cluster = await startTenantCluster({ ways: ['service', 'pod'] }, signal);
  const turn = turnsOf(cluster);
  const [near, far] = CONNECTION_NAMES;
  return await eachRun(async (run) => {
    const samples = await takeTurns(
      { rounds: ROUNDS, run, warmUp: 2, signal },
      {
        'service-near': turn('service', 'near'),
        'pod-near': turn('pod', 'near'),
        'service-far': turn('service', 'far'),
        'pod-far': turn('pod', 'far'),
      },
    );
    const result = (name: string, target: Target): BenchResult =>
      benchResult({
        name,
        value: median(samples[`service-${target}`]),
        unit: 'µs',
        reference: median(samples[`pod-${target}`]),
        rounds: ROUNDS,
      });
    return [result(near, 'near'), result(far, 'far')];
  });
};

export const NODE_PORT_NAMES = {
  shared: ['services/nodeport-outside', 'services/nodeport-outside/other-node'],
  local: ['services/nodeport-outside-local', 'services/nodeport-outside-local/other-node'],
} as const;

/** From outside through a node port, whose endpoint is on that node or on the other one, and to a process of that node. */
export const benchNodePort =
  (gatewayMode: 'shared' | 'local') =>
  async ({ signal, progress, eachRun }: BenchContext): Promise<BenchResult[]> => {
    const [near, far] = NODE_PORT_NAMES[gatewayMode];
    progress(`${near}: ${ROUNDS} × ${CONNECTIONS} connections each way, on two nodes`);
    await using cluster = await startTenantCluster({ ways: ['node-port', 'node'], gatewayMode }, signal);
    const turn = turnsOf(cluster);
    return await eachRun(async (run) => {
      const samples = await takeTurns(
        { rounds: ROUNDS, run, warmUp: 2, signal },
        { near: turn('node-port', 'near'), far: turn('node-port', 'far'), node: turn('node', 'near') },
      );
      const reference = median(samples.node);
      return [
        benchResult({ name: near, value: median(samples.near), unit: 'µs', reference, rounds: ROUNDS }),
        benchResult({ name: far, value: median(samples.far), unit: 'µs', reference, rounds: ROUNDS }),
      ];
    });
  };

const turnsOf = (cluster: TenantCluster) => (way: Way, target: Target) => async (): Promise<number> => {
  const nanoseconds = await cluster.connect(way, target, CONNECTIONS);
  return nanoseconds.reduce((sum, each) => sum + each, 0) / nanoseconds.length / 1000;
};
