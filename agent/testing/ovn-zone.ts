/** A zone's northbound and southbound database with a real ovn-northd between them, and no datapath. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { OvsdbSession } from '../../ovsdb/session/session.ts';
import { TestServer } from '../../ovsdb/testing/server.ts';
import type { Operation } from '../../ovsdb/transact/operation.ts';
import { parseRemotes, type Remote } from '../../ovsdb/wire/remote.ts';
import { ensureTree, treeCommand } from '../../sandbox/tree/tree.ts';

const run = promisify(execFile);
/** On a machine that does ten things at once. */
const PATIENCE_MS = 60_000;

export interface OvnZone extends AsyncDisposable {
  readonly northboundRemote: string;
  readonly southboundRemote: string;
  /** What northd has logged. */
  readonly log: readonly string[];
  /** Resolves when northd has made everything of the northbound database as it is now. ovn-nb(5), `sb_cfg`. */
  computed(northbound: OvsdbSession): Promise<void>;
  /** ovn-trace(8), from the ingress of a datapath. @returns one line per action */
  trace(datapath: string, flow: string): Promise<readonly string[]>;
  /** Names of those that limit what logical flows send to ovn-controller. */
  meters(): Promise<readonly string[]>;
}

/** @param chassis names of those that ovn-controllers would have registered */
export const startOvnZone = async (chassis: readonly string[]): Promise<OvnZone> => {
  await using resources = new AsyncDisposableStack();
  const tree = await ensureTree(() => {});
  // The schemas of the programs themselves, as they may be older than ours.
  const schema = (name: string) => ({ path: `${tree}/usr/share/ovn/${name}.ovsschema` });
  const northbound = resources.use(await TestServer.create([schema('ovn-nb')]));
  const southbound = resources.use(await TestServer.create([schema('ovn-sb')]));
  const [northboundRemote, southboundRemote] = [pathOf(northbound.remote), pathOf(southbound.remote)];
  await register(southboundRemote, chassis);
  const northd = treeCommand(tree, 'usr/bin/ovn-northd');
  const child = spawn(
    northd.file,
    [
      ...northd.args,
      `--ovnnb-db=${northboundRemote}`,
      `--ovnsb-db=${southboundRemote}`,
      `--unixctl=${northbound.folder}/northd.ctl`,
      ...LOGGING,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  resources.defer(() => end(child));
  const log: string[] = [];
  createInterface(child.stderr).on('line', (line) => log.push(line));
  const owner = resources.move();
  return {
    northboundRemote,
    southboundRemote,
    log,
    computed,
    trace: async (datapath, flow) => {
      const { file, args } = treeCommand(tree, 'usr/bin/ovn-trace');
      const { stdout } = await run(file, [...args, `--db=${southboundRemote}`, '--summary', datapath, flow]);
      return stdout.split('\n').map((line) => line.trim());
    },
    meters: async () => {
      const { file, args } = treeCommand(tree, 'usr/bin/ovn-sbctl');
      const find = ['--bare', '--columns=controller_meter', 'find', 'Logical_Flow', 'controller_meter!=[]'];
      const { stdout } = await run(file, [...args, `--db=${southboundRemote}`, ...find]);
      return [...new Set(stdout.split('\n').filter((line) => line !== ''))];
    },
    [Symbol.asyncDispose]: () => owner.disposeAsync(),
  };
};

const register = async (southbound: string, chassis: readonly string[]): Promise<void> => {
  const session = new OvsdbSession({ database: 'OVN_Southbound', remotes: parseRemotes(southbound) });
  session.start();
  try {
    await session.whenConnected(AbortSignal.timeout(PATIENCE_MS));
    await session.transact(
      chassis.flatMap((name, index): Operation[] => [
        {
          op: 'insert',
          table: 'Encap',
          row: { type: 'geneve', ip: `192.0.2.${index + 1}`, chassis_name: name },
          'uuid-name': `encap${index}`,
        },
        { op: 'insert', table: 'Chassis', row: { name, encaps: ['named-uuid', `encap${index}`] } },
      ]),
    );
  } finally {
    await session.close();
  }
};

const LOGGING = ['-vconsole:info', '-vsyslog:off', '-vfile:off'];

const pathOf = (remote: Remote): string => `unix:${remote.transport === 'unix' ? remote.path : ''}`;

const end = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
};

const computed = async (session: OvsdbSession): Promise<void> => {
  const [, read] = await session.transact([
    { op: 'mutate', table: 'NB_Global', where: [], mutations: [['nb_cfg', '+=', 1]] },
    { op: 'select', table: 'NB_Global', where: [], columns: ['nb_cfg'] },
  ]);
  const rows = [{ sb_cfg: read?.rows?.[0]?.['nb_cfg'] ?? 0 }];
  await session.transact([
    { op: 'wait', table: 'NB_Global', where: [], columns: ['sb_cfg'], until: '==', rows, timeout: PATIENCE_MS },
  ]);
};
