/** `sandbox-kubelet`: runs on a node of the sandbox. */
import { Command } from 'commander';
import { connect } from '../../kube/client/connect.ts';
import { loadConnection } from '../../kube/config/load.ts';
import { CNI_CONF } from '../machine/node-root.ts';
import { runKubelet } from './kubelet.ts';

const VERSION = '0.1.0';

interface Options {
  readonly kubeconfig: string;
  readonly node: string;
  readonly address: readonly string[];
  readonly clusterDns: readonly string[];
}

const main = async ({ kubeconfig, node, address, clusterDns }: Options): Promise<void> => {
  const stop = new AbortController();
  process.once('SIGTERM', () => stop.abort()).once('SIGINT', () => stop.abort());
  const connection = await loadConnection({ kubeconfig, env: process.env });
  const client = connect(connection, { userAgent: `sandbox-kubelet/${VERSION}` });
  const onError = (error: unknown): void => {
    if (stop.signal.aborted) return;
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stderr.write(`${new Date().toISOString()} ${text}\n`);
  };
  await runKubelet(
    { client, node: { name: node, addresses: address, clusterDns }, confFolder: CNI_CONF, version: VERSION, onError },
    stop.signal,
  );
  client.close();
  // Timers of pods that go on running.
  process.exit(0);
};

await new Command('sandbox-kubelet')
  .description('A small kubelet for nodes of the sandbox.')
  .version(VERSION)
  .requiredOption('--kubeconfig <file>', 'how to reach the API server')
  .requiredOption('--node <name>', 'the name of this node')
  .option('--address <ip...>', 'addresses of this node, the first of each family is its InternalIP', [])
  .option('--cluster-dns <ip...>', 'what pods ask for names', [])
  .action(main)
  .parseAsync();
