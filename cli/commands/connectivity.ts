/** `udnctl connectivity`: measures who reaches whom, with pods of its own, and leaves nothing. */
import { randomBytes } from 'node:crypto';
import { systemClock } from '../../base/clock.ts';
import { messageOf } from '../../base/error-message.ts';
import { listAll } from '../../kube/reflector/list-all.ts';
import { NODES } from '../../kube/resources.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { ServerWithExec } from '../cluster/cluster-command.ts';
import type { ServerOptions } from '../cluster/server-options.ts';
import { type ClusterNode, chooseNodes, clusterNode, familiesOf } from '../connectivity/cluster-nodes.ts';
import { execute } from '../connectivity/execute.ts';
import { type Cleanup, deleteLeftovers, deleteRun } from '../connectivity/leftovers.ts';
import { demandRights } from '../connectivity/rights.ts';
import { RUN_LABEL, type Run, type TestName } from '../connectivity/run.ts';
import { stopOnSignals } from '../connectivity/stop-on-signals.ts';
import { askedSubnets, defaultSubnets } from '../connectivity/subnets.ts';
import { CliError } from '../errors.ts';
import { formatOutput, type OutputFormat } from '../output/format.ts';

export interface ConnectivityOptions extends ServerOptions {
  readonly defaultNetwork: boolean;
  readonly subnet?: readonly string[];
  readonly node?: string | readonly string[];
  readonly only: readonly TestName[];
  readonly image: string;
  readonly program: string;
  readonly timeout: number;
  readonly probeTimeout: number;
  readonly cleanup: boolean;
  readonly force: boolean;
  readonly output: OutputFormat;
}

export const runConnectivity = (server: ServerWithExec, options: ConnectivityOptions): Promise<void> =>
  options.cleanup ? cleanUp(server.client, options.force) : testConnectivity(server, options);

const cleanUp = async (client: KubeClient, force: boolean): Promise<void> => {
  const lines = cleanupLines(await deleteLeftovers(client, { now: systemClock.wall(), force }));
  process.stdout.write(lines.map((line) => `${line}\n`).join(''));
};

const cleanupLines = ({ deleted, recent, foreign }: Cleanup): readonly string[] => {
  const lines = [
    ...deleted.map((name) => `${name} deleted`),
    ...recent.map((name) => `${name} kept: younger than 15 minutes, perhaps of a run in progress; --force deletes it`),
    ...foreign.map((name) => `${name} kept: it has label ${RUN_LABEL}, but not the name of a run`),
  ];
  return lines.length === 0 ? ['no leftovers'] : lines;
};

const testConnectivity = async (server: ServerWithExec, options: ConnectivityOptions): Promise<void> => {
  const run = await prepare(server.client, options);
  const stop = stopOnSignals(process, onSecond);
  try {
    const execution = {
      ...{ client: server.client, exec: server.exec, clock: systemClock, run, say },
      ...{ tests: new Set(options.only), patienceMs: options.timeout, timeoutSeconds: options.probeTimeout / 1_000 },
    };
    const report = await execute(execution, stop);
    process.stdout.write(formatOutput(report, options.output));
    process.exitCode = report.exitStatus;
  } catch (error) {
    throw error instanceof CliError ? error : new CliError(messageOf(error), 2);
  } finally {
    say('deleting the namespaces');
    await deleteRun(server.client, run);
  }
};

/** Nothing is created before all that can be asked is known. */
const prepare = async (client: KubeClient, options: ConnectivityOptions): Promise<Run> => {
  const { subnet, node, image, program, defaultNetwork } = options;
  const asked = subnet === undefined ? undefined : askedSubnets(subnet);
  try {
    await demandRights(client, { networks: !defaultNetwork });
    const all = await readNodes(client);
    const nodes = chooseNodes(all, node === undefined ? [] : [node].flat());
    const subnets = defaultNetwork ? undefined : (asked ?? defaultSubnets(familiesOf(all, { nodes })));
    return { id: randomBytes(3).toString('hex'), nodes, subnets, image, program };
  } catch (error) {
    throw error instanceof CliError ? error : new CliError(messageOf(error), 2);
  }
};

const readNodes = async (client: KubeClient): Promise<readonly ClusterNode[]> => {
  const nodes: ClusterNode[] = [];
  await listAll(
    client,
    NODES,
    { pageSize: 500 },
    (object) => nodes.push(clusterNode(object)),
    () => nodes.splice(0),
  );
  return nodes;
};

/** Who does not want to wait until all is deleted learns how to make up for it. */
const onSecond = (): void => {
  say('interrupted again: the namespaces may be left, udnctl connectivity --cleanup --force deletes them');
  process.exit(2);
};

/** Standard output has the result alone. */
const say = (text: string): void => void process.stderr.write(`udnctl: ${text}\n`);
