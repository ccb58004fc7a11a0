/** TCP connections of a tenant's pod through a ClusterIP of its network, and straight to the endpoint. */
import { takeTurns } from '../alternate.ts';
import type { BenchContext } from '../context.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { median } from '../statistics.ts';
import { type Place, startTenantCluster, type Way } from './tenant-cluster.ts';

const RUNS = 15;
const CONNECTIONS = 200;

export const CONNECTION_NAMES = ['services/clusterip-vs-pod', 'services/clusterip-vs-pod/other-node'] as const;

/** A value is the mean time of a connection: a million divided by it are connections per second. */
export const benchConnections = async ({ signal, progress }: BenchContext): Promise<BenchResult[]> => {
  progress(`services/clusterip-vs-pod: ${RUNS} × ${CONNECTIONS} connections each way, on two nodes`);
  await using cluster = await startTenantCluster(signal);
  const turn = (way: Way, place: Place) => async (): Promise<number> => {
    const nanoseconds = await cluster.connect(way, place, CONNECTIONS);
    return nanoseconds.reduce((sum, each) => sum + each, 0) / nanoseconds.length / 1000;
  };
  const samples = await takeTurns(
    { runs: RUNS, warmUp: 2, signal },
    {
      'service-near': turn('service', 'near'),
      'pod-near': turn('pod', 'near'),
      'service-far': turn('service', 'far'),
      'pod-far': turn('pod', 'far'),
    },
  );
  const result = (name: string, place: Place): BenchResult =>
    benchResult({
      name,
      value: median(samples[`service-${place}`]),
      unit: 'µs',
      reference: median(samples[`pod-${place}`]),
      runs: RUNS,
    });
  const [near, far] = CONNECTION_NAMES;
  return [result(near, 'near'), result(far, 'far')];
};
