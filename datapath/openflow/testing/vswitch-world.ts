/** A real ovs-vswitchd with its dummy datapath: no ports of the machine, no privileges (ovs-vswitchd's `--enable-dummy`). */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { commandOf, runProgram } from '../../../ovsdb/testing/programs.ts';
import { TestServer } from '../../../ovsdb/testing/server.ts';
import { formatRemote } from '../../../ovsdb/wire/remote.ts';
import { createCommandRunner } from '../../exec/node-runner.ts';
import { Ofctl, type OfctlOptions } from '../ofctl.ts';
import { parentGuard } from '../open.ts';
import { TestPorts } from './ports.ts';
import type { SwitchWorld } from './world.ts';

export class VswitchWorld implements SwitchWorld {
  readonly client: Ofctl;
  readonly ports = new TestPorts();
  /** Another client of the same switch. */
  readonly newClient: (options: Partial<Pick<OfctlOptions, 'only' | 'runner'>>) => Ofctl;
  readonly #server: TestServer;
  #child: ChildProcess | undefined;

  private constructor(server: TestServer, newClient: VswitchWorld['newClient']) {
    this.#server = server;
    this.newClient = newClient;
    this.client = newClient({});
  }

  static async create(): Promise<VswitchWorld> {
    const server = await TestServer.create(['open-vswitch']);
    const program = await commandOf('ovs-ofctl');
    const common = { runner: createCommandRunner(), runDirectory: server.folder, program, guard: parentGuard() };
    const world = new VswitchWorld(server, (options) => new Ofctl({ ...common, ...options }));
    try {
      await world.vsctl('--no-wait', 'init');
      await world.start();
      return world;
    } catch (error) {
      await world[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** ovs-vsctl(8), which waits until ovs-vswitchd has done it. */
  vsctl(...args: string[]): Promise<string> {
    return runProgram('ovs-vsctl', [`--db=${formatRemote(this.#server.remote)}`, ...args]);
  }

  /** ovs-ofctl(8) as somebody else. */
  ofctl(...args: string[]): Promise<string> {
    return runProgram('ovs-ofctl', args);
  }

  /** ovs-appctl(8) to ovs-vswitchd. */
  control(...args: string[]): Promise<string> {
    return runProgram('ovs-appctl', ['-t', `${this.#server.folder}/vswitchd.ctl`, ...args]);
  }

  get runDirectory(): string {
    return this.#server.folder;
  }

  socket(bridge: string): string {
    return `unix:${this.#server.folder}/${bridge}.mgmt`;
  }

  async addBridge(bridge: string): Promise<void> {
    await this.vsctl('add-br', bridge, '--', 'set', 'bridge', bridge, 'datapath_type=dummy');
    this.ports.addBridge(bridge);
  }

  async removeBridge(bridge: string): Promise<void> {
    await this.vsctl('del-br', bridge);
    this.ports.removeBridge(bridge);
  }

  async addPort(bridge: string, port: string, number: number): Promise<void> {
    const options = ['type=dummy', `ofport_request=${number}`];
    await this.vsctl('add-port', bridge, port, '--', 'set', 'interface', port, ...options);
    this.ports.set(bridge, port, Number(await this.vsctl('get', 'interface', port, 'ofport')));
  }

  async removePort(bridge: string, port: string): Promise<void> {
    await this.vsctl('del-port', bridge, port);
    this.ports.set(bridge, port, undefined);
  }

  async start(): Promise<void> {
    const { file, args } = await commandOf('ovs-vswitchd');
    const { folder, remote } = this.#server;
    const options = [
      formatRemote(remote),
      '--enable-dummy',
      '--no-chdir',
      `--unixctl=${folder}/vswitchd.ctl`,
      '-vconsole:info',
      '-vsyslog:off',
      '-vfile:off',
    ];
    const child = spawn(file, [...args, ...options], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, OVS_RUNDIR: folder, OVS_DBDIR: folder },
    });
    this.#child = child;
    const end = (): boolean => child.kill('SIGKILL');
    process.once('exit', end);
    child.once('exit', () => process.removeListener('exit', end));
    await listening(child);
    // Waits until it has done what the database says.
    await this.vsctl('--timeout=30', 'set', 'Open_vSwitch', '.', 'other_config:started=true');
  }

  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.#server[Symbol.asyncDispose]();
  }
}

const listening = (child: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    const lines: string[] = [];
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`ovs-vswitchd ended: ${lines.slice(-5).join(' | ')}`)));
    if (child.stderr === null) throw new Error('ovs-vswitchd has no stderr');
    createInterface(child.stderr).on('line', (line) => {
      lines.push(line);
      if (line.includes('ovs-vswitchd (Open vSwitch)')) resolve();
    });
  });
