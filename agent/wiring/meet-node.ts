/** Waits for what has to be known before anything is written: the API's objects, and what this node is. */
import type { Databases } from '../databases/databases.ts';
import { awaitLocalNode, type LocalNode } from '../node/local-node.ts';
import type { NodeKeeper } from '../node/node-keeper.ts';
import type { AgentContext } from './context.ts';
import type { Edges } from './edges.ts';
import { enough } from './enough.ts';

/** @throws the signal's reason */
export const meetNode = async (context: AgentContext, edges: Edges, keeper: NodeKeeper): Promise<LocalNode> => {
  const { log, signal } = context;
  const [local] = await Promise.all([knowNode(context, edges), keeper.whenKnown(signal)]);
  for (const { message } of keeper.problems()) log.warn({ reason: message }, 'node differs from the desired state');
  return local;
};

const knowNode = async ({ options, log, signal }: AgentContext, { inputs, databases }: Edges): Promise<LocalNode> => {
  const [local] = await Promise.all([
    awaitLocalNode(
      {
        name: options.node,
        encapIps: options.encapIps,
        nodes: inputs.nodes,
        vswitch: databases.openvswitch.replica,
        waiting: (what) => log.info({ what }, 'waiting'),
      },
      signal,
    ),
    inputs.whenSynced(signal),
    knowDatabases(databases, signal),
  ]);
  log.info({ chassis: local.chassisId, encapIps: local.encapIps }, 'node state loaded');
  return local;
};

/**
 * What the bridge answers with is not to be taken away first by an agent that starts again, and neither is what domain names stood for: the
 * answers are in sets of the northbound database.
 */
const knowDatabases = ({ neighbours, northbound }: Databases, signal: AbortSignal): Promise<void> =>
  // Without them, networks ask outside, and nothing is allowed by a name before its first answer.
  enough(DATABASES_MS, signal, async (soon) => {
    await Promise.all([neighbours.whenSynced(soon), northbound.replica.whenSynced(soon)]);
  });

const DATABASES_MS = 2_000;
