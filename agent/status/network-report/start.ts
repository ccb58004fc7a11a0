/** The reporter of a running agent. */
import type { Logger } from 'pino';
import { systemClock } from '../../../base/clock.ts';
import { failureToFollow } from '../../health/component.ts';
import type { NodeHealth } from '../../health/start.ts';
import type { AgentOptions } from '../../options/options.ts';
import type { GoneNetworks } from '../../reconcile/gone-networks.ts';
import type { Edges } from '../../wiring/edges.ts';
import { announceNode } from './announce.ts';
import { NetworksInEffect } from './effect.ts';
import { type FirewallParts, followFirewalls } from './follow-firewalls.ts';
import { followNetworks, lookAtNetwork, type NodeNetworks } from './node-networks.ts';
import { NetworkReporter, type ReportObservation } from './reporter.ts';

interface Parts extends NodeNetworks {
  readonly sources: NodeNetworks['sources'] & FirewallParts['sources'];
  readonly edges: Pick<Edges, 'client' | 'writer' | 'inputs' | 'metrics'>;
  readonly options: Pick<AgentOptions, 'node' | 'networkRendering'>;
  readonly gone: GoneNetworks;
  readonly domains: FirewallParts['domains'];
  readonly health: NodeHealth;
  readonly log: Logger;
}

/** Before anything is programmed. @throws the signal's reason */
export const announce = ({ edges, options, log }: Pick<Parts, 'edges' | 'options' | 'log'>, signal: AbortSignal) =>
  announceNode(
    {
      ...{ node: options.node, rendering: renderingOf(options), clock: systemClock },
      ...{ client: edges.client, writer: edges.writer },
      nodeUid: () => edges.inputs.nodes.get(options.node)?.uid,
      onError: (error) => log.warn({ err: error }, 'waiting for the NodeNetworkReport of this node before programming'),
      onRefused: (error) =>
        log.error(
          { err: error },
          'the API server rejects the report of this node: ids of deleted networks may be reused early',
        ),
    },
    signal,
  );

const renderingOf = ({ networkRendering }: Pick<AgentOptions, 'networkRendering'>) =>
  networkRendering === 'always' ? 'Always' : 'OnDemand';

/**
 * To be called when the desired state has been programmed once: what was there before the start is not reported as missing.
 */
export const startNetworkReport = (parts: Parts): (() => void) => {
  const { edges, options, gone, health, log } = parts;
  const { nodes, idPools } = edges.inputs;
  const effect = new NetworksInEffect({
    clock: systemClock,
    unfollowed: () => failureToFollow(health.components()),
    inEffectUntil: () => health.inEffectUntil(),
    earlier: parts.core.facts.ids('network'),
  });
  const reporter = new NetworkReporter({
    node: options.node,
    rendering: renderingOf(options),
    ids: () => ({
      retirement: gone.isKnown ? [...idPools.values()][0]?.retirement : undefined,
      leaving: [...gone.leaving.keys()],
    }),
    health: () => health.components(),
    firewalls: () => firewalls.report(),
    look: (network) => effect.look(network, lookAtNetwork(parts, network)),
    nodeUid: () => nodes.get(options.node)?.uid,
    nodes: () => nodes.size,
    client: edges.client,
    writer: edges.writer,
    clock: systemClock,
    random: Math.random,
    observe: (observation) => {
      edges.metrics.networkReport(observation);
      logReport(log.child({ module: 'network-report' }), observation);
    },
  });
  const firewalls = followFirewalls({ ...parts, firewalls: edges.inputs.policies.admin.EgressFirewall }, () =>
    reporter.touchFirewalls(),
  );
  const ends = [
    followNetworks(parts, reporter),
    nodes.subscribe(({ key, before, after }) => {
      if (key === options.node && before?.uid !== after?.uid) reporter.touchNode();
    }),
    gone.onGone(() => reporter.touchIds()),
    health.onChange(() => {
      for (const network of effect.unproven()) reporter.touch(network);
      reporter.touchHealth();
    }),
    idPools.subscribe(({ before, after }) => {
      if (before?.retirement !== after?.retirement) reporter.touchIds();
    }),
    firewalls.stop,
    () => reporter.stop(),
  ];
  return () => {
    for (const end of ends) end();
  };
};

const logReport = (log: Logger, observation: ReportObservation): void => {
  if (observation.kind === 'written') log.debug('networks of this node reported');
  else if (observation.kind === 'renewed') log.trace('report of this node renewed');
  else if (observation.kind === 'failed') log.warn({ err: observation.error }, 'networks of this node not reported');
  else log.info('networks of this node are not reported: the API server does not serve NodeNetworkReport');
};
