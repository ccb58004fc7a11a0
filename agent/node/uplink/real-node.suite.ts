/** A node of its own on this machine's kernel: a network namespace with a NIC, and an Open vSwitch in it. For tests. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type NetlinkWorker, startNetlink } from '../../../datapath/netlink/worker/client.ts';
import type { OpenVSwitch } from '../../../ovsdb/models/open-vswitch.gen.ts';
import { commandOf, runProgram } from '../../../ovsdb/testing/programs.ts';
import type { SchemaName } from '../../../ovsdb/testing/schemas.ts';
import { TestServer } from '../../../ovsdb/testing/server.ts';
import { formatRemote } from '../../../ovsdb/wire/remote.ts';
import { Database } from '../../databases/database.ts';
import { createVswitchReplica, type VswitchReplica } from '../../databases/vswitch.ts';

export class RealNode implements AsyncDisposable {
  readonly name: string;
  readonly server: TestServer;
  readonly netlink: NetlinkWorker;
  readonly database: Database<OpenVSwitch, VswitchReplica>;
  #switchd: ChildProcess | undefined;

  private constructor(name: string, server: TestServer) {
    this.name = name;
    this.server = server;
    this.netlink = startNetlink({ ownNetns: `/run/netns/${name}` });
    const remote = formatRemote(server.remote);
    this.database = new Database({ name: 'openvswitch', remote, replica: createVswitchReplica(), observe: () => {} });
  }

  /** With `eth0`, whose other end is in a namespace of its own and has the addresses `.1` and `::1`. */
  static async create(schemas: readonly SchemaName[] = ['open-vswitch']): Promise<RealNode> {
    const name = `udn-uplink-${randomBytes(4).toString('hex')}`;
    const server = await TestServer.create(schemas);
    for (const namespace of [name, `${name}-out`]) execFileSync('ip', ['netns', 'add', namespace]);
    const node = new RealNode(name, server);
    try {
      await node.#furnish();
    } catch (error) {
      await node[Symbol.asyncDispose]();
      throw error;
    }
    return node;
  }

  async #furnish(): Promise<void> {
    const nic = ['eth0', 'address', '02:00:00:00:00:0b'];
    execFileSync('ip', [
      '-n',
      this.name,
      'link',
      'add',
      ...nic,
      'type',
      'veth',
      'peer',
      'eth0',
      'netns',
      `${this.name}-out`,
    ]);
    const outside = [
      'link set eth0 up',
      'addr add 172.20.0.1/24 dev eth0',
      'addr add fd00:172:20::1/64 dev eth0 nodad',
    ];
    for (const command of outside) execFileSync('ip', ['-n', `${this.name}-out`, ...command.split(' ')]);
    await this.startSwitch();
    this.database.connect();
    await this.database.replica.whenSynced();
    await this.database.session.transact([
      { op: 'insert', table: 'Open_vSwitch', row: { external_ids: ['map', [['ovn-bridge-datapath-type', 'netdev']]] } },
    ]);
  }

  async startSwitch(): Promise<void> {
    const { file, args } = await commandOf('ovs-vswitchd');
    const options = ['--no-chdir', `--unixctl=${this.server.folder}/switchd.ctl`, '-vconsole:err', '-vsyslog:off'];
    const argv = [
      'netns',
      'exec',
      this.name,
      file,
      ...args,
      formatRemote(this.server.remote),
      ...options,
      '-vfile:off',
    ];
    const child = spawn('ip', argv, { stdio: 'ignore', env: { ...process.env, OVS_RUNDIR: this.server.folder } });
    process.once('exit', () => child.kill('SIGKILL'));
    this.#switchd = child;
  }

  async stopSwitch(): Promise<void> {
    const child = this.#switchd;
    this.#switchd = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** A command of ip(8) in the node. */
  ip(...args: string[]): string {
    return execFileSync('ip', ['-n', this.name, ...args.flatMap((arg) => arg.split(' '))], { encoding: 'utf8' });
  }

  ovs(...args: string[]): Promise<string> {
    return runProgram('ovs-vsctl', [`--db=${formatRemote(this.server.remote)}`, '--timeout=20', ...args]);
  }

  /** Everything that is to be the same again. */
  dump(): Record<string, string[]> {
    const lines = (...args: string[]): string[] =>
      this.ip(...args)
        .split('\n')
        .map((line) => line.trim())
        .sort();
    return {
      addresses: this.ip('-o addr')
        .split('\n')
        .filter((line) => !line.includes('ovs-netdev')),
      routes4: lines('-4 route show table all'),
      routes6: lines('-6 route show table all'),
      rules: lines('rule'),
      links: lines('-d -o link').filter((line) => !line.includes('ovs-netdev')),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopSwitch();
    await this.database.close();
    await this.netlink.close();
    await this.server[Symbol.asyncDispose]();
    for (const namespace of [this.name, `${this.name}-out`]) execFileSync('ip', ['netns', 'delete', namespace]);
  }
}
