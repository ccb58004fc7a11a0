/** What benchmarks share: started when the first of them needs it, taken down when no other does any more. */
import { type CniNode, type CniNodeSpec, startCniNode } from './cni/cni-node.ts';
import type { BenchContext, SharedName } from './context.ts';
import { NETWORKS, startFleet } from './control/fleet.ts';
import { startFew, startMany } from './datapath/network.ts';
import { eachRun, type Runs } from './runs.ts';

const SMALL: CniNodeSpec = {
  name: `bench-small-${process.pid}`,
  tenants: 1,
  tenantsElsewhere: 0,
  plainPods: 50,
  tenantPods: 20,
};
const VIEW: CniNodeSpec = {
  name: `bench-view-${process.pid}`,
  tenants: 1,
  tenantsElsewhere: 999,
  plainPods: 0,
  tenantPods: 20,
};
const LARGE: CniNodeSpec = {
  name: `bench-large-${process.pid}`,
  tenants: 1000,
  tenantsElsewhere: 0,
  plainPods: 0,
  tenantPods: 20,
};

export interface BenchRun extends BenchContext {
  /**
   * Takes down what the benchmarks that are left do not share.
   * @returns what went wrong with it: a message for each node that left something behind
   */
  endAllBut(kept: ReadonlySet<SharedName>): Promise<string[]>;
}

export const openContext = (runs: Runs, progress: (message: string) => void): BenchRun => {
  const { signal } = runs;
  const shared = new Map<SharedName, Promise<AsyncDisposable>>();
  const share = <Started extends AsyncDisposable>(
    name: SharedName,
    message: string,
    start: () => Promise<Started>,
  ): Promise<Started> => {
    const known = shared.get(name);
    // A name has one start.
    if (known !== undefined) return known as Promise<Started>;
    progress(`starting ${message}`);
    const started = start();
    shared.set(name, started);
    return started;
  };
  const cniNode = (name: SharedName, spec: CniNodeSpec): Promise<CniNode> => {
    const { tenants, tenantsElsewhere } = spec;
    const message = `a node with a part of ${tenants} networks, in a cluster of ${tenants + tenantsElsewhere}`;
    return share(name, message, () => startCniNode(spec, signal));
  };
  return {
    signal,
    progress,
    eachRun: (measure) => eachRun(runs, measure),
    smallNode: () => cniNode('small node', SMALL),
    viewNode: () => cniNode('view node', VIEW),
    largeNode: () => cniNode('large node', LARGE),
    fewNetworks: () => share('few networks', 'a node with few networks', () => startFew(signal)),
    manyNetworks: () => share('many networks', 'a node with many networks', () => startMany(signal)),
    fleet: () =>
      share('fleet', `a real API server with ${NETWORKS} tenants`, () =>
        startFleet(`bench-control-${process.pid}`, NETWORKS, signal),
      ),
    endAllBut: async (kept) => {
      const ending = [...shared].filter(([name]) => !kept.has(name));
      for (const [name] of ending) shared.delete(name);
      const started = await Promise.allSettled(ending.map(([, one]) => one));
      const ends = await Promise.allSettled(
        started.map((one) => (one.status === 'fulfilled' ? one.value[Symbol.asyncDispose]() : undefined)),
      );
      return ends.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
    },
  };
};
