/** The health of a running agent's node: watched, counted, logged, and said on the Node. */
import type { Logger } from 'pino';
import { NETWORK_MTU_TOO_LARGE, NETWORK_UNAVAILABLE } from '../../api/node-condition.ts';
import { systemClock } from '../../base/clock.ts';
import { RUN_DIRECTORY } from '../../datapath/openflow/socket-watch.ts';
import { LOCAL } from '../model/facts.ts';
import { kubeletLacks } from '../model/kubelet-lacks.ts';
import type { LocalNode } from '../node/local-node.ts';
import type { NodeKeeper } from '../node/node-keeper.ts';
import { chassisIdOf } from '../node/switch-facts.ts';
import type { Core } from '../wiring/core.ts';
import type { Edges } from '../wiring/edges.ts';
import { apiHealth } from './api-health.ts';
import { COMPONENT_STATES, type TimedHealth } from './component.ts';
import { OversizedNetworks } from './mtu-condition.ts';
import { verdictOf } from './network-unavailable.ts';
import { type ConditionVerdict, NodeCondition, type NodeConditionOptions } from './node-condition.ts';
import { nodeView } from './node-view.ts';
import { placesHealth } from './places.ts';
import { tcpAnswer } from './tcp-answer.ts';
import { tunnelPeers } from './tunnel-peers.ts';
import { TunnelProbe } from './tunnels.ts';
import { HealthWatch } from './watch.ts';

interface Parts {
  readonly edges: Pick<Edges, 'databases' | 'inputs' | 'client' | 'writer' | 'metrics' | 'emitNodeEvent' | 'outage'>;
  readonly core: Pick<Core, 'facts' | 'engine' | 'onRendered'>;
  readonly keeper: Pick<NodeKeeper, 'problems'>;
  readonly local: LocalNode;
  readonly log: Logger;
}

export interface NodeHealth {
  /** All components, those that others need first. */
  components(): readonly TimedHealth[];
  /** By the monotonic clock: what was in the northbound database by then has its flows here. Undefined: nothing is known yet. */
  inEffectUntil(): number | undefined;
  /** @returns what ends it */
  onChange(listener: () => void): () => void;
}

/** @param resources ends it with the agent */
export const startHealth = (
  { edges, core, local, keeper, log }: Parts,
  resources: AsyncDisposableStack,
): NodeHealth => {
  const { databases, metrics, emitNodeEvent, outage } = edges;
  const tunnels = new TunnelProbe({
    peers: () => tunnelPeers(core.facts, local.name),
    connect: tcpAnswer,
    clock: systemClock,
  });
  const listeners = new Set<() => void>();
  const condition = openCondition({ edges, local, log }, { type: NETWORK_UNAVAILABLE }, resources);
  const mtu = keepMtu({ edges, core, local, log }, resources);
  const watch = new HealthWatch({
    view: nodeView({
      northbound: databases.northbound.session,
      southbound: databases.southbound.session,
      openvswitch: databases.openvswitch.session,
      chassis: () => chassisIdOf(databases.openvswitch.replica),
      runDirectory: RUN_DIRECTORY,
    }),
    clock: systemClock,
    others: () => [
      apiHealth(outage, systemClock.wall()),
      tunnels.health(),
      ...placesHealth({
        gateway: keeper.problems(),
        mtu: mtu(),
        kubeletLacks: kubeletLacks(core.facts.get('kubeletCgroup', LOCAL)),
      }),
    ],
    onChange: (changed) => {
      for (const { component, state, message } of changed) {
        if (state === 'failed') {
          log.error({ component }, message);
          // Networks that do not fit have an event of their own.
          if (component !== 'mtu') emitNodeEvent(local.name, 'ComponentFailed', message);
        } else log.info({ component, state }, message === '' ? `${component} works` : message);
      }
      condition.set(verdictOf(watch.components()));
      for (const listener of listeners) listener();
    },
  });
  metrics.gauges('udn_agent_component_state', () =>
    watch
      .components()
      .flatMap(({ component, state }) =>
        COMPONENT_STATES.map((one) => [{ component, state: one }, Number(one === state)] as const),
      ),
  );
  resources.defer(() => watch.stop());
  resources.defer(() => tunnels.stop());
  tunnels.start();
  watch.start();
  return {
    components: () => watch.components(),
    inEffectUntil: () => watch.inEffectUntil(),
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
};

/** @returns what the condition says now */
const keepMtu = (
  { core, ...parts }: Omit<Parts, 'keeper'>,
  resources: AsyncDisposableStack,
): (() => ConditionVerdict | undefined) => {
  const condition = openCondition(parts, { type: NETWORK_MTU_TOO_LARGE, fieldManager: 'udn-agent-mtu' }, resources);
  const networks = new OversizedNetworks();
  const verdict = () => networks.verdict(core.facts.get('tunnelMtu', LOCAL));
  const look = (owners: Iterable<string>): void => {
    networks.update(owners, core.engine.diagnostics);
    condition.set(verdict());
  };
  look(core.engine.diagnostics.keys());
  resources.defer(core.onRendered(look));
  return verdict;
};

const openCondition = (
  { edges: { client, writer, inputs }, local, log }: Omit<Parts, 'core' | 'keeper'>,
  condition: Pick<NodeConditionOptions, 'type' | 'fieldManager'>,
  resources: AsyncDisposableStack,
): NodeCondition => {
  const opened = new NodeCondition({
    ...{ ...condition, node: local.name, client, writer, clock: systemClock },
    onError: (error) => log.warn({ err: error }, `the condition ${condition.type} of this node was not written`),
  });
  resources.defer(() => opened.stop());
  resources.defer(
    inputs.nodes.subscribe(({ key, after }) => {
      if (key === local.name && after !== undefined) opened.found(after.conditions[condition.type]);
    }),
  );
  return opened;
};
