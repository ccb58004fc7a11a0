/**
 * The real `SwitchClient`. It writes bundles, and reads and changes ports, over the bridge's socket (`wire/`, `ports/`). ovs-ofctl(8)
 * reads flows and groups in one short run each, and monitors a bridge's flows in one long run.
 */
import { CommandError } from '../exec/errors.ts';
import type { BatchRunner, Command } from '../exec/types.ts';
import { OpenflowError } from './errors.ts';
import { changeNoFlood, readPorts } from './ports/port-session.ts';
import { RUN_DIRECTORY } from './socket-watch.ts';
import type { BundleDraft, BundleOp, NoFloodResult, PortState, SwitchClient } from './switch-client.ts';
import type { FlowState } from './text/flow.ts';
import { parseFlows } from './text/flow-dump.ts';
import { FlowMonitorReader, type MonitorEvent } from './text/flow-monitor.ts';
import { type GroupState, parseGroups } from './text/group-dump.ts';
import type { BridgeSocket } from './wire/connection.ts';
import { SocketDraft } from './wire/draft.ts';

export interface OfctlOptions {
  readonly runner: BatchRunner;
  /** Where ovs-vswitchd has its sockets. */
  readonly runDirectory?: string | undefined;
  /** How ovs-ofctl is started, if it is not on the runner's PATH. */
  readonly program?: { readonly file: string; readonly args: readonly string[] } | undefined;
  /** Put before a command that runs for long, so that it ends with this process. */
  readonly guard?: readonly string[] | undefined;
  /**
   * Of a foreign bridge: the only flows that are looked at, as a match. Whatever else it has, hundreds of thousands of
   * flows perhaps, is neither read nor reported, and neither are its groups: their ids are the other's.
   */
  readonly only?: ReadonlyMap<string, string> | undefined;
}

const PROGRAM = { file: 'ovs-ofctl', args: [] };
const VERSION = ['-O', 'OpenFlow15', '--no-names'];

export class Ofctl implements SwitchClient {
  readonly #runner: BatchRunner;
  readonly #runDirectory: string;
  readonly #program: { readonly file: string; readonly args: readonly string[] };

  readonly #guard: readonly string[];
  readonly #only: ReadonlyMap<string, string>;

  constructor({
    runner,
    runDirectory = RUN_DIRECTORY,
    program = PROGRAM,
    guard = [],
    only = new Map<string, string>(),
  }: OfctlOptions) {
    this.#runner = runner;
    this.#only = only;
    this.#guard = guard;
    this.#runDirectory = runDirectory;
    this.#program = program;
  }

  async flows(bridge: string, signal: AbortSignal): Promise<Map<string, FlowState>> {
    const output = await this.#run([...VERSION, '--no-stats', 'dump-flows'], bridge, this.#filter(bridge), signal);
    const flows = new Map<string, FlowState>();
    for (const { identity, cookie, actions } of parseFlows(output)) flows.set(identity, { cookie, actions });
    return flows;
  }

  async groups(bridge: string, signal: AbortSignal): Promise<Map<number, GroupState>> {
    if (this.#only.has(bridge)) return new Map();
    return parseGroups(await this.#run([...VERSION, 'dump-groups'], bridge, [], signal));
  }

  async ports(bridge: string, signal: AbortSignal): Promise<PortState[]> {
    const ports = await readPorts(this.#socketOf(bridge), signal);
    return ports.map(({ number, name, noFlood }) => ({ number, name, noFlood }));
  }

  async bundle(bridge: string, ops: readonly BundleOp[], signal: AbortSignal): Promise<void> {
    const draft = this.draft(bridge, signal);
    draft.push(ops);
    await draft.commit();
  }

  draft(bridge: string, signal: AbortSignal): BundleDraft {
    return new SocketDraft(this.#socketOf(bridge), signal);
  }

  async setNoFlood(bridge: string, changes: ReadonlyMap<number, boolean>, signal: AbortSignal): Promise<NoFloodResult> {
    return await changeNoFlood(this.#socketOf(bridge), changes, signal);
  }

  async *watch(bridge: string, signal: AbortSignal): AsyncGenerator<readonly MonitorEvent[]> {
    const reader = new FlowMonitorReader();
    const options = [...VERSION, '-mmm', '-vvconn:console:dbg', '--unixctl=none', 'monitor'];
    const command = {
      ...this.#guarded(this.#command(options, bridge, [`watch:${['!initial', ...this.#filter(bridge)].join(',')}`])),
      linesFrom: 'stderr',
    } as const;
    try {
      for await (const lines of this.#runner.batches(command, signal)) {
        const events = lines.flatMap((line) => reader.push(line));
        if (events.length > 0) yield events;
      }
    } catch (error) {
      throw toOpenflowError(error, bridge);
    }
    throw new OpenflowError('ERR_OPENFLOW_UNREACHABLE', `bridge ${bridge} no longer reports its changes`);
  }

  /** Flows that match at least as much (ovs-ofctl(8), "dump-flows"). */
  #filter(bridge: string): string[] {
    const only = this.#only.get(bridge);
    return only === undefined ? [] : [only];
  }

  async #run(
    options: readonly string[],
    bridge: string,
    rest: readonly string[],
    signal: AbortSignal,
  ): Promise<string> {
    try {
      return (await this.#runner.run(this.#command(options, bridge, rest), signal)).stdout;
    } catch (error) {
      throw toOpenflowError(error, bridge);
    }
  }

  #guarded({ file, args }: Command): Command {
    const [guard, ...rest] = this.#guard;
    return guard === undefined ? { file, args } : { file: guard, args: [...rest, file, ...args] };
  }

  #command(options: readonly string[], bridge: string, rest: readonly string[]): Command {
    const { file, args } = this.#program;
    // A socket's path: what else ovs-ofctl takes a name for is never meant.
    return { file, args: [...args, ...options, `unix:${this.#socketOf(bridge).path}`, ...rest] };
  }

  #socketOf(bridge: string): BridgeSocket {
    return { bridge, path: `${this.#runDirectory}/${checkedName(bridge)}.mgmt` };
  }
}

const checkedName = (bridge: string): string => {
  if (/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(bridge)) return bridge;
  throw new OpenflowError('ERR_OPENFLOW_INVALID', `${JSON.stringify(bridge)} is not a bridge's name`);
};

/** ovs-ofctl only reads: that it failed means that the bridge did not answer. */
const toOpenflowError = (error: unknown, bridge: string): unknown => {
  if (!(error instanceof CommandError) || error.code === 'ERR_EXEC_ABORTED') return error;
  const why = error.code === 'ERR_EXEC_EXIT' ? lastLine(error.stderr) : error.message;
  return new OpenflowError('ERR_OPENFLOW_UNREACHABLE', `bridge ${bridge} does not answer: ${why}`, { cause: error });
};

const lastLine = (stderr: string): string => stderr.trimEnd().split('\n').at(-1) ?? '';
