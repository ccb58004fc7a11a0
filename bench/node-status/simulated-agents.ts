/** The reporters of many agents, with what each node has of the networks made up, and what they ask of the API server counted. */
import type { NetworkOnNode } from '../../agent/status/network-report/ledger.ts';
import { NetworkReporter, type ReportObservation } from '../../agent/status/network-report/reporter.ts';
import type { ReportStatus } from '../../api/node-network-report.ts';
import type { Clock } from '../../base/clock.ts';
import type { KubeClient } from '../../kube/types.ts';
import { createWriter } from '../../kube/writer/writer.ts';

export interface SimulatedNode {
  readonly name: string;
  readonly uid: string;
}

export interface SimulatedNetwork {
  readonly name: string;
  readonly id: number;
  /** Of its NAD. */
  readonly createdAt: string;
}

export interface SimulationOptions {
  readonly client: Pick<KubeClient, 'get' | 'patch' | 'create'>;
  readonly nodes: readonly SimulatedNode[];
  readonly rendering: ReportStatus['rendering'];
  readonly clock: Clock;
  readonly random: () => number;
}

export interface RequestTally {
  reads: number;
  writes: number;
  /** Of the writes, those that only say that the agent is still there. */
  renewals: number;
  /** Of the bodies of the writes. */
  bytesSent: number;
  /** Of the objects as the server gave them back, as JSON. */
  bytesStored: number;
  failures: number;
}

export interface SimulatedAgents {
  readonly tally: Readonly<RequestTally>;
  /** Nodes have networks from now on; absent: all nodes. What they had of the same name is replaced. */
  have(networks: readonly SimulatedNetwork[], nodes?: readonly SimulatedNode[]): void;
  /** Something is wrong with a network on nodes. */
  fail(network: SimulatedNetwork, message: string, nodes?: readonly SimulatedNode[]): void;
  /** It is gone from all nodes. */
  forget(network: string): void;
  /** As agents that are restarted: they know nothing but what the node has. */
  restart(): void;
  stop(): void;
}

export const simulateAgents = (options: SimulationOptions): SimulatedAgents => {
  const tally: RequestTally = { reads: 0, writes: 0, renewals: 0, bytesSent: 0, bytesStored: 0, failures: 0 };
  const client = counted(options.client, tally);
  const agents = new Map(
    options.nodes.map((node) => [node.name, new SimulatedAgent(node, { ...options, client }, tally)]),
  );
  const on = (nodes: readonly SimulatedNode[] = options.nodes): SimulatedAgent[] =>
    nodes.flatMap(({ name }) => agents.get(name) ?? []);
  return {
    tally,
    have: (networks, nodes) => {
      for (const agent of on(nodes))
        for (const network of networks) agent.set(network.name, { ...network, state: 'Ready' });
    },
    fail: (network, message, nodes) => {
      for (const agent of on(nodes)) agent.set(network.name, { ...network, state: 'Failed', message });
    },
    forget: (network) => {
      for (const agent of on()) agent.set(network, undefined);
    },
    restart: () => {
      for (const agent of on()) agent.restart();
    },
    stop: () => {
      for (const agent of on()) agent.stop();
    },
  };
};

class SimulatedAgent {
  readonly #networks = new Map<string, NetworkOnNode>();
  readonly #start: () => NetworkReporter;
  #reporter: NetworkReporter;

  constructor(node: SimulatedNode, options: SimulationOptions, tally: RequestTally) {
    const { client, clock, random, rendering, nodes } = options;
    this.#start = () =>
      new NetworkReporter({
        node: node.name,
        rendering,
        look: (network) => this.#networks.get(network),
        nodeUid: () => node.uid,
        nodes: () => nodes.length,
        writer: createWriter({ client, fieldManager: 'udn-agent', clock, random }),
        observe: ({ kind }: ReportObservation) => {
          if (kind === 'renewed') tally.renewals += 1;
          else if (kind !== 'written') tally.failures += 1;
        },
        ...{ client, clock, random },
      });
    this.#reporter = this.#start();
  }

  set(name: string, network: NetworkOnNode | undefined): void {
    if (network === undefined) this.#networks.delete(name);
    else this.#networks.set(name, network);
    this.#reporter.touch(name);
  }

  restart(): void {
    this.#reporter.stop();
    this.#reporter = this.#start();
    for (const name of this.#networks.keys()) this.#reporter.touch(name);
  }

  stop(): void {
    this.#reporter.stop();
  }
}

const counted = (client: SimulationOptions['client'], tally: RequestTally): SimulationOptions['client'] => ({
  ...client,
  get: (...request) => {
    tally.reads += 1;
    return client.get(...request);
  },
  patch: async (resource, ref, patch, ...rest) => {
    tally.writes += 1;
    tally.bytesSent += patch.type === 'apply' ? JSON.stringify(patch.body).length : 0;
    const object = await client.patch(resource, ref, patch, ...rest);
    tally.bytesStored += JSON.stringify(object).length;
    return object;
  },
});
