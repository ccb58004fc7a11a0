/** What the agent of a node knows and has done, seen from outside: the same mirrors, by event. */
import { AttachmentRegistry } from '../../agent/cni/attachments/registry.ts';
import { createEngine } from '../../agent/desired/engine.ts';
import { FEATURES } from '../../agent/features/index.ts';
import { createClusterInputs } from '../../agent/inputs/cluster-inputs.ts';
import { feedFacts } from '../../agent/inputs/fact-feeder.ts';
import { isAddressed, type PodAttachments } from '../../agent/model/attachments.ts';
import { FactStore } from '../../agent/model/fact-store.ts';
import { type PodFact, podKey } from '../../agent/model/facts.ts';
import { podPortName } from '../../agent/model/names.ts';
import { MemorySinks } from '../../agent/render/memory-sinks.ts';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import type { DesiredFragment } from '../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../ovsdb/models/ovn-northbound.gen.ts';
import { type BenchNode, NODE } from './bench-node.ts';
import { openDatabases } from './databases.ts';

/** A pod and what the agent wants of the northbound database for it. */
export interface RenderedPod {
  readonly attachments: PodAttachments;
  readonly fragments: readonly DesiredFragment<OvnNorthbound>[];
}

export interface NodeView extends AsyncDisposable {
  /** Resolves when so many networks beside the default one are in the northbound database. */
  networks(count: number): Promise<void>;
  /** Resolves when the pod has its addresses and its ports are in the northbound database. @param pod `namespace/name` */
  prepared(pod: string): Promise<PodAttachments>;
  /** What the agent would make of a pod that is not in the API. */
  rendered(pod: PodFact): RenderedPod;
  /** Resolves when northd has reported whether the pod's ports are bound. */
  bound(pod: PodAttachments, up: boolean): Promise<void>;
  /** Takes the pods' ports out of the northbound database. Resolves when they are gone from the southbound one as well. */
  removePorts(pods: readonly PodAttachments[]): Promise<void>;
  /** Resolves when northd and ovn-controller have done everything that is in the northbound database now. */
  settled(): Promise<void>;
}

export const openNodeView = async (node: BenchNode): Promise<NodeView> => {
  const resources = new AsyncDisposableStack();
  const { registry, rendered } = await mirrorAttachments(node, resources);
  const databases = resources.use(await openDatabases(node));
  const untilUp = (pod: PodAttachments, check: (up: boolean) => boolean): Promise<void> =>
    databases.untilPorts(portNames(pod), check, AbortSignal.timeout(WAIT_MS));
  return {
    networks: (count) => databases.untilNetworks(count + 1),
    prepared: async (pod) => {
      // Refused, too, until the NADs that it selects are known.
      const addressed = (found: PodAttachments | undefined) =>
        found !== undefined && found.refused === undefined && isAddressed(found) ? found : undefined;
      const found = await registry.until(pod, addressed, AbortSignal.timeout(WAIT_MS));
      await untilUp(found, () => true);
      return found;
    },
    rendered,
    bound: (pod, desired) => untilUp(pod, (up) => up === desired),
    removePorts: (gone) => databases.removePorts(gone.flatMap(portNames), AbortSignal.timeout(WAIT_MS)),
    settled: () => databases.settled(AbortSignal.timeout(WAIT_MS)),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

const WAIT_MS = 120_000;

const OF_PODS = ['attachments', 'pods', 'isolation-pods'];

const portNames = ({ pod, attachments: networks }: PodAttachments): string[] =>
  networks.map(({ nadKey }) => podPortName(nadKey, pod.namespace, pod.name));

const mirrorAttachments = async (
  { client }: BenchNode,
  resources: AsyncDisposableStack,
): Promise<{ registry: AttachmentRegistry; rendered: NodeView['rendered'] }> => {
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
  const settings = {
    node: NODE,
    cluster: parseClusterConfig(),
    encapIps: [],
    southboundRemote: '',
    networkRendering: 'always' as const,
    allowedDefaultServices: [],
  };
  const feeder = feedFacts(facts, inputs, settings);
  const sinks = new MemorySinks();
  const engine = createEngine({
    features: FEATURES.filter(({ name }) => OF_PODS.includes(name)),
    facts,
    settings,
    sinks: { ...sinks, attachments: registry },
    schedule: (flush) => setImmediate(flush),
  });
  engine.start();
  engine.flush();
  resources.defer(() => {
    feeder.stop();
    engine.stop();
  });
  const rendered = (pod: PodFact): RenderedPod => {
    const key = podKey(pod);
    facts.set('pod', key, pod);
    // No policy selects it: nobody else knows it.
    facts.set('decidedPod', key, true);
    engine.flush();
    const found = registry.get(key);
    if (found === undefined || !isAddressed(found)) throw new Error(`${key} cannot be attached`);
    const owned = [...sinks.northbound.fragments].filter(([owner]) => owner.endsWith(`:${key}`));
    return { attachments: found, fragments: owned.map(([, fragment]) => fragment) };
  };
  return { registry, rendered };
};
