/** What the agent of a node knows and has done, seen from outside: the same mirrors, by event. */

import { AttachmentRegistry } from '../../agent/attachments/registry.ts';
import { createEngine } from '../../agent/desired/engine.ts';
import { attachments } from '../../agent/features/attachments/index.ts';
import { createClusterInputs } from '../../agent/inputs/cluster-inputs.ts';
import { feedFacts } from '../../agent/inputs/fact-feeder.ts';
import { isAddressed, type PodAttachments } from '../../agent/model/attachments.ts';
import { FactStore } from '../../agent/model/fact-store.ts';
import { podPortName } from '../../agent/model/names.ts';
import { MemorySinks } from '../../agent/render/memory-sinks.ts';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { OvsdbSession, parseRemotes, Replica } from '../../ovsdb/index.ts';
import { ovnNorthbound } from '../../ovsdb/models/ovn-northbound.gen.ts';
import { NB_SOCKET } from '../../sandbox/plan/daemons.ts';
import { type BenchNode, NODE } from './bench-node.ts';

export interface NodeView extends AsyncDisposable {
  /** Resolves when so many networks beside the default one are in the northbound database. */
  networks(count: number): Promise<void>;
  /** Resolves when the pod has its addresses and its ports are in the northbound database. @param pod `namespace/name` */
  prepared(pod: string): Promise<PodAttachments>;
  /** Resolves when northd has told whether the pod's ports are bound. */
  bound(pod: PodAttachments, up: boolean): Promise<void>;
}

export const openNodeView = async (node: BenchNode): Promise<NodeView> => {
  const resources = new AsyncDisposableStack();
  const registry = await mirrorAttachments(node, resources);
  const northbound = await mirrorNorthbound(node, resources);
  const untilPorts = async (
    found: PodAttachments,
    check: (row: { up: boolean | undefined }) => boolean,
  ): Promise<void> => {
    const { pod } = found;
    const names = found.attachments.map(({ nadKey }) => podPortName(nadKey, pod.namespace, pod.name));
    const signal = AbortSignal.timeout(WAIT_MS);
    await Promise.all(
      names.map((key) => northbound.waitFor('Logical_Switch_Port', { index: 'name', key }, check, signal)),
    );
  };
  return {
    networks: (count) => untilSize(northbound, count + 1),
    prepared: async (pod) => {
      const addressed = (found: PodAttachments | undefined) => (found && isAddressed(found) ? found : undefined);
      const found = await registry.until(pod, addressed, AbortSignal.timeout(WAIT_MS));
      await untilPorts(found, () => true);
      return found;
    },
    bound: (pod, up) => untilPorts(pod, (row) => (row.up ?? false) === up),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

const WAIT_MS = 120_000;

const mirrorAttachments = async (
  { client }: BenchNode,
  resources: AsyncDisposableStack,
): Promise<AttachmentRegistry> => {
  const stop = new AbortController();
  const inputs = createClusterInputs({ client, node: NODE, observe: () => undefined });
  const running = inputs.run(stop.signal);
  resources.defer(async () => {
    stop.abort();
    await running;
  });
  await inputs.whenSynced(stop.signal);
  const facts = new FactStore();
  const registry = new AttachmentRegistry();
  const settings = { node: NODE, cluster: parseClusterConfig(), encapIps: [], southboundRemote: '' };
  const feeder = feedFacts(facts, inputs, settings);
  const { northbound, southbound, openvswitch } = new MemorySinks();
  const engine = createEngine({
    features: [attachments],
    facts,
    settings,
    sinks: { northbound, southbound, openvswitch, attachments: registry },
    schedule: (flush) => setImmediate(flush),
  });
  engine.start();
  engine.flush();
  resources.defer(() => {
    feeder.stop();
    engine.stop();
  });
  return registry;
};

/** A network has one router. */
const untilSize = (northbound: Awaited<ReturnType<typeof mirrorNorthbound>>, routers: number): Promise<void> =>
  new Promise((resolve) => {
    const look = (): void => {
      if (northbound.size('Logical_Router') < routers) return;
      unsubscribe();
      resolve();
    };
    const unsubscribe = northbound.onUpdate(look);
    look();
  });

const mirrorNorthbound = async (node: BenchNode, resources: AsyncDisposableStack) => {
  const replica = new Replica({
    model: ovnNorthbound,
    tables: { Logical_Switch_Port: ['name', 'up'], Logical_Router: ['name'] },
  });
  const remotes = parseRemotes(`unix:${node.pathOf(NB_SOCKET)}`);
  const session = new OvsdbSession({ database: 'OVN_Northbound', remotes });
  session.mirror(replica);
  session.start();
  resources.defer(() => session.close());
  await replica.whenSynced(AbortSignal.timeout(WAIT_MS));
  return replica;
};
