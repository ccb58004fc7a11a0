/** Real ovsdb-servers for tests: in a temporary folder, on a unix socket, to be killed and started again at will. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseRemote, type Remote } from '../wire/remote.ts';
import { commandOf, runProgram } from './programs.ts';
import { type SchemaName, schemaPath } from './schemas.ts';

export interface ServerOptions {
  /** Files with databases. */
  readonly files: readonly string[];
  /** Where its socket, and nothing else, is made. */
  readonly folder: string;
  readonly name?: string;
  /** More arguments of ovsdb-server(1), for example `--remote=ptcp:6641:127.0.0.1`. */
  readonly args?: readonly string[];
}

/** A process of ovsdb-server that can be ended and started again on the same files and socket. */
export class OvsdbServerProcess {
  readonly remote: Remote;
  readonly controlSocket: string;
  readonly #options: ServerOptions;
  #child: ChildProcess | undefined;
  #ports: readonly number[] = [];

  constructor(options: ServerOptions) {
    const base = join(options.folder, options.name ?? 'db');
    this.#options = options;
    this.remote = parseRemote(`unix:${base}.sock`);
    this.controlSocket = `${base}.ctl`;
  }

  /** The ports that it listens on, of remotes such as `ptcp:0:127.0.0.1`, in their order. */
  get ports(): readonly number[] {
    return this.#ports;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Resolves when it listens. */
  async start(): Promise<void> {
    const command = await commandOf('ovsdb-server');
    const { files, args = [] } = this.#options;
    const server = [command.file, ...command.args, ...this.#arguments(), ...args, ...files];
    // A test that hangs until its process is ended, by whatever signal, leaves no server behind: PR_SET_PDEATHSIG, prctl(2).
    const child = spawn('setpriv', ['--pdeathsig', 'KILL', ...server], { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child = child;
    this.#ports = await listening(child);
  }

  /** Sends a signal and, unless it only stops or continues the process, waits for its end. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    if (signal === 'SIGSTOP' || signal === 'SIGCONT') return;
    await ended;
    this.#child = undefined;
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.start();
  }

  #arguments(): string[] {
    const socket = this.remote.transport === 'unix' ? this.remote.path : '';
    return [
      `--remote=punix:${socket}`,
      `--unixctl=${this.controlSocket}`,
      '--no-chdir',
      '-vconsole:info',
      '-vsyslog:off',
      '-vfile:off',
    ];
  }

  /** Runs a command of ovs-appctl(8). */
  control(...args: string[]): Promise<string> {
    return runProgram('ovs-appctl', ['-t', this.controlSocket, ...args]);
  }
}

/** A server with an empty database of each schema, in a folder of its own that goes with it. */
export class TestServer extends OvsdbServerProcess implements AsyncDisposable {
  readonly folder: string;

  private constructor(options: ServerOptions) {
    super(options);
    this.folder = options.folder;
  }

  static async create(
    schemas: readonly (SchemaName | { readonly path: string })[],
    args: readonly string[] = [],
  ): Promise<TestServer> {
    const folder = await mkdtemp(join(tmpdir(), 'ovsdb-'));
    const files = schemas.map((_, index) => join(folder, `${index}.db`));
    const server = new TestServer({ folder, files, args });
    try {
      for (const [index, schema] of schemas.entries()) {
        const path = typeof schema === 'string' ? schemaPath(schema) : schema.path;
        await runProgram('ovsdb-tool', ['create', files[index] ?? '', path]);
      }
      await server.start();
      return server;
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** It says its name and version when everything is ready, and before that the ports that it was given. */
const listening = (child: ChildProcess): Promise<number[]> =>
  new Promise((resolve, reject) => {
    const lines: string[] = [];
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`ovsdb-server ended: ${lines.slice(-5).join(' | ')}`)));
    if (child.stderr === null) throw new Error('ovsdb-server has no stderr');
    createInterface(child.stderr).on('line', (line) => {
      lines.push(line);
      if (!line.includes('ovsdb-server (Open vSwitch)')) return;
      resolve(lines.flatMap((it) => /listening on port ([0-9]+)/.exec(it)?.slice(1).map(Number) ?? []));
    });
  });
