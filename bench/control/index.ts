/** The cluster manager on a real API server, with 1,000 networks. */
import type { BenchContext } from '../context.ts';
import type { BenchResult } from '../report/result.ts';
import { benchAllocate } from './allocate.ts';
import { benchAllocateLatency } from './allocate-latency.ts';
import { benchCreate, benchCreateCpu } from './create.ts';
import type { Fleet } from './fleet.ts';
import { benchReflectorMemory } from './mirror-memory.ts';
import { benchRestart } from './restart.ts';
import { benchMirrors, MIRROR_NAME } from './slices.ts';

type FleetBenchmark = (fleet: Fleet, context: BenchContext) => Promise<BenchResult[]>;

const onFleet =
  (run: FleetBenchmark) =>
  async (context: BenchContext): Promise<BenchResult[]> =>
    await run(await context.fleet(), context);

/** Those that create networks come first: they need a cluster that has none. */
export const CONTROL_BENCHMARKS = [
  { names: ['control/create-1000', 'control/requests-per-network'], run: onFleet(benchCreate) },
  { names: ['control/cpu-per-network'], run: onFleet(benchCreateCpu) },
  { names: ['control/allocate-10k'], run: onFleet(benchAllocate) },
  { names: ['control/restart-1000', 'control/rss-1000'], run: onFleet(benchRestart) },
  { names: ['kube/reflector-memory'], run: onFleet(benchReflectorMemory) },
  { names: [MIRROR_NAME], run: onFleet(benchMirrors) },
  { names: ['control/allocate-p99'], run: onFleet(benchAllocateLatency) },
] as const;
