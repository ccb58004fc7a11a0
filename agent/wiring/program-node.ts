/** From facts to what is programmed, in a running agent. */
import { systemClock } from '../../base/clock.ts';
import { openConntrack } from '../../datapath/conntrack/conntrack.ts';
import { connectionLimit, readTableSize } from '../connections/limit.ts';
import { type Domains, startDomains } from '../dns/start.ts';
import { logHeldPolicy } from '../log.ts';
import { nodeAnnotations } from '../node/annotations.ts';
import { followCgroups } from '../node/cgroups/start.ts';
import type { LocalNode } from '../node/local-node.ts';
import { startNeighbours } from '../node/neighbours/start.ts';
import type { NodeKeeper } from '../node/node-keeper.ts';
import { publishNode } from '../node/publisher.ts';
import type { NodePorts } from '../node-ports/node-ports.ts';
import type { GoneNetworks } from '../reconcile/gone-networks.ts';
import type { NodeDatapath } from '../reconcile/node-datapath.ts';
import { type Reconcilers, reconcilersOf } from '../reconcile/reconcilers.ts';
import { startFormerBackends } from '../reconcile/start-former-backends.ts';
import { startGoneNetworks } from '../reconcile/start-gone-networks.ts';
import { type AgentContext, spawnAddonIn } from './context.ts';
import { type Core, RETRY_MS, startCore } from './core.ts';
import type { Edges } from './edges.ts';
import { ownPorts } from './own-ports.ts';
import { startPolicyLatency } from './policy-latency.ts';

interface Parts {
  readonly edges: Edges;
  readonly local: LocalNode;
  readonly keeper: NodeKeeper;
  readonly datapath: NodeDatapath;
  readonly nodePorts: NodePorts;
}

export interface ProgrammedNode {
  readonly core: Core;
  readonly reconcilers: Reconcilers;
  readonly gone: GoneNetworks;
  readonly domains: Domains;
}

/** Renders everything, and lets the reconcilers compare. @param resources ends it with the agent */
export const programNode = (
  context: AgentContext,
  { edges, local, keeper, datapath, nodePorts }: Parts,
  resources: AsyncDisposableStack,
): ProgrammedNode => {
  const { options, buildFolder, log } = context;
  const { cluster, southboundRemote, networkRendering } = options;
  const { inputs, databases, writer, emitPodEvent, emitServiceEvent, emitNodeEvent, emitPolicyEvent, metrics } = edges;
  const domains = startDomains(options, { databases, metrics, wildcards: inputs.wildcards }, log);
  const core = startCore({
    settings: {
      ...{ node: local.name, cluster, encapIps: local.encapIps, southboundRemote },
      ...{ networkRendering, allowedDefaultServices: options.allowedDefaultServices, encryption: options.encryption },
      ...{ multiNetwork: options.multiNetwork.mode, foreignPlugins: options.multiNetwork.foreignPlugins },
      ...ownPorts(options, edges.server),
      connectionLimit: connectionLimit(options.connectionsPerNetwork, readTableSize()),
    },
    inputs,
    databases,
    local: keeper,
    datapath: { ...datapath.sinks, nodePorts: nodePorts.sink },
    followNeighbours: (facts) => startNeighbours(facts, local.name, edges, log),
    domains,
    followCgroups: (facts) => followCgroups(facts, context, edges),
    writer,
    emitPodEvent,
    emitServiceEvent,
    emitNodeEvent,
    emitPolicyEvent,
    onPolicyFailure: (key, error) => logHeldPolicy(log, key, error),
    networkGraceMs: options.networkGraceSeconds * 1000,
    onRendered: metrics.rendered,
  });
  resources.defer(() => core.stop());
  startPolicyLatency({ edges, core }, resources);
  databases.reconcile();
  datapath.start();
  nodePorts.start();
  const conntrack = openConntrack(spawnAddonIn(buildFolder));
  startFormerBackends({ databases, conntrack, log }, resources);
  const settings = { cluster, networkRendering };
  const reconcilers = reconcilersOf(databases, datapath);
  const gone = startGoneNetworks({ core, databases, reconcilers, inputs, settings, conntrack, log }, resources);
  const publisher = publishNode({
    node: local.name,
    desired: () => nodeAnnotations(keeper.identity),
    nodes: inputs.nodes,
    writer,
    onError: (error) => log.error({ err: error }, 'node not published'),
    later: (retry) => systemClock.schedule(RETRY_MS, retry),
  });
  resources.defer(keeper.listen(() => publisher.publish()));
  resources.defer(() => publisher.stop());
  return { core, reconcilers, gone, domains };
};
