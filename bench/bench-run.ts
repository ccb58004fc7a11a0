/** The nodes of a run: started when a benchmark first needs them, taken down at its end. */
import { type CniNode, type CniNodeSpec, startCniNode } from './cni/cni-node.ts';
import type { BenchContext } from './context.ts';
import { type Fleet, NETWORKS, startFleet } from './control/fleet.ts';
import { startFew, startMany } from './datapath/network.ts';
import type { WholeNode } from './datapath/whole-node.ts';

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
  /** Takes the nodes down. @returns what went wrong with it: a message for each node that left something behind */
  end(): Promise<string[]>;
}

export const openContext = (signal: AbortSignal, progress: (message: string) => void): BenchRun => {
  const nodes = new Map<string, Promise<CniNode>>();
  const wholeNodes = new Map<string, Promise<WholeNode>>();
  let fleet: Promise<Fleet> | undefined;
  const wholeNode = (name: string, start: (signal: AbortSignal) => Promise<WholeNode>): Promise<WholeNode> => {
    const started = wholeNodes.get(name) ?? start(signal);
    wholeNodes.set(name, started);
    return started;
  };
  const node = (spec: CniNodeSpec): Promise<CniNode> => {
    const known = nodes.get(spec.name);
    if (known !== undefined) return known;
    progress(
      `starting a node with a part of ${spec.tenants} networks, in a cluster of ${spec.tenants + spec.tenantsElsewhere}`,
    );
    const started = startCniNode(spec, signal);
    nodes.set(spec.name, started);
    return started;
  };
  return {
    signal,
    progress,
    smallNode: () => node(SMALL),
    viewNode: () => node(VIEW),
    largeNode: () => node(LARGE),
    fewNetworks: () => wholeNode('few', startFew),
    manyNetworks: () => wholeNode('many', startMany),
    fleet: () => {
      if (fleet === undefined) progress(`starting a real API server with ${NETWORKS} tenants`);
      fleet ??= startFleet(`bench-control-${process.pid}`, NETWORKS, signal);
      return fleet;
    },
    end: async () => {
      const started = await Promise.allSettled([...nodes.values(), ...wholeNodes.values(), fleet]);
      const ends = await Promise.allSettled(
        started.map((one) => (one.status === 'fulfilled' ? one.value?.[Symbol.asyncDispose]() : undefined)),
      );
      return ends.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
    },
  };
};
