/** The health of a running agent's node: watched, counted, logged, and said on the Node. */
import type { Logger } from 'pino';
import { systemClock } from '../../base/clock.ts';
import { RUN_DIRECTORY } from '../../datapath/openflow/socket-watch.ts';
import type { LocalNode } from '../node/local-node.ts';
import type { Core } from '../wiring/core.ts';
import type { Edges } from '../wiring/edges.ts';
import { apiHealth } from './api-health.ts';
import { COMPONENT_STATES, type TimedHealth } from './component.ts';
import { NodeCondition, verdictOf } from './node-condition.ts';
import { nodeView } from './node-view.ts';
import { tcpAnswer } from './tcp-answer.ts';
import { tunnelPeers } from './tunnel-peers.ts';
import { TunnelProbe } from './tunnels.ts';
import { HealthWatch } from './watch.ts';

interface Parts {
  readonly edges: Pick<Edges, 'databases' | 'inputs' | 'client' | 'writer' | 'metrics' | 'emitNodeEvent' | 'outage'>;
  readonly core: Pick<Core, 'facts'>;
  readonly local: LocalNode;
  readonly log: Logger;
}

export interface NodeHealth {
  /** All components, those that others need first. */
  components(): readonly TimedHealth[];
  /** @returns what ends it */
  onChange(listener: () => void): () => void;
}

/** @param resources ends it with the agent */
export const startHealth = ({ edges, core, local, log }: Parts, resources: AsyncDisposableStack): NodeHealth => {
  const { databases, inputs, client, writer, metrics, emitNodeEvent, outage } = edges;
  const tunnels = new TunnelProbe({
    peers: () => tunnelPeers(core.facts, local.name),
    connect: tcpAnswer,
    clock: systemClock,
  });
  const listeners = new Set<() => void>();
  const condition = new NodeCondition({
    ...{ node: local.name, client, writer, clock: systemClock },
    onError: (error) => log.warn({ err: error }, 'the condition NetworkUnavailable of this node was not written'),
  });
  const watch = new HealthWatch({
    view: nodeView({
      northbound: databases.northbound.session,
      southbound: databases.southbound.session,
      openvswitch: databases.openvswitch.session,
      chassis: local.chassisId,
      runDirectory: RUN_DIRECTORY,
    }),
    clock: systemClock,
    others: () => [apiHealth(outage.since, systemClock.wall()), tunnels.health()],
    onChange: (changed) => {
      for (const { component, state, message } of changed) {
        if (state === 'failed') {
          log.error({ component }, message);
          emitNodeEvent(local.name, 'ComponentFailed', message);
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
  resources.defer(() => condition.stop());
  resources.defer(
    inputs.nodes.subscribe(({ key, after }) => {
      if (key === local.name && after?.isCalledSilent) condition.overruled();
    }),
  );
  resources.defer(() => watch.stop());
  resources.defer(() => tunnels.stop());
  tunnels.start();
  watch.start();
  return {
    components: () => watch.components(),
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
};
