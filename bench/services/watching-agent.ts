/**
 * The agent between an API server and the northbound database, as a process of its own: its reflectors, facts, features,
 * engine and reconciler as they are.
 *
 *   watching-agent.ts KUBECONFIG REMOTE
 *
 * Prints a line when the database is as desired, and goes on until its stdin ends.
 */
import { createClusterInputs } from '../../agent/inputs/cluster-inputs.ts';
import { connect } from '../../kube/client/connect.ts';
import { loadConnection } from '../../kube/config/load.ts';
import { startRenderAgent } from '../render/agent.ts';
import { LOCAL_NODE } from '../render/objects.ts';

const main = async ([kubeconfig = '', remote = '']: readonly string[]): Promise<void> => {
  const client = connect(await loadConnection({ kubeconfig, env: {} }), { userAgent: 'bench' });
  const stop = new AbortController();
  const caches = createClusterInputs({ client, node: LOCAL_NODE, observe: () => undefined });
  const running = caches.run(stop.signal);
  await caches.whenSynced(stop.signal);
  const agent = await startRenderAgent({ caches, remote });
  console.log('ready');
  for await (const _ of process.stdin);
  await agent.stop();
  stop.abort();
  await running;
  client.close();
};

await main(process.argv.slice(2));
