/**
 * Asks daemons of Open vSwitch by their control sockets, as ovs-appctl(8) does, without a program for each question: an agent that forgets
 * connections asks five times for each of them.
 *
 * The protocol is JSON-RPC 1.0 without frames (lib/unixctl.c of Open vSwitch): a request is a command with its arguments as strings, and the
 * reply has what it prints as `result`, or why it was refused as `error`.
 */
import { connect } from 'node:net';
import { z } from 'zod';
import { abortable } from '../../base/abort.ts';
import { CommandError } from './errors.ts';
import {
  type Command,
  type CommandOutput,
  type CommandRunner,
  DEFAULT_MAX_OUTPUT,
  DEFAULT_TIMEOUT_MS,
} from './types.ts';

/**
 * `ovs-appctl --target SOCKET COMMAND ARGUMENT…` by the socket; every other command by the runner. So is what a socket does not answer,
 * because the daemon is gone or ends meanwhile: ovs-appctl says what is missing, as it always does. Commands may be repeated.
 */
export const byControlSockets = (runner: Pick<CommandRunner, 'run'>): Pick<CommandRunner, 'run'> => ({
  run: async (command, signal) => {
    const request = requestOf(command);
    const reply = request && (await replyTo(request, command, signal));
    if (reply === undefined) return await runner.run(command, signal);
    return outputOf(reply, command);
  },
});

interface Request {
  readonly socket: string;
  readonly method: string;
  readonly params: readonly string[];
}

const requestOf = ({ file, args, input }: Command): Request | undefined => {
  const [option, socket, method, ...params] = args;
  if (file !== 'ovs-appctl' || option !== '--target' || input !== undefined) return undefined;
  return socket === undefined || method === undefined ? undefined : { socket, method, params };
};

const replySchema = z.object({ result: z.string().nullish(), error: z.string().nullish() });
type Reply = z.infer<typeof replySchema>;

/** @returns undefined when the daemon ends the connection without a reply, or does not accept it */
const replyTo = async (
  { socket, ...request }: Request,
  command: Command,
  signal: AbortSignal | undefined,
): Promise<Reply | undefined> => {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, maxOutput = DEFAULT_MAX_OUTPUT } = command;
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    return await abortable<Reply | undefined>(
      signal ? AbortSignal.any([signal, timeout]) : timeout,
      (resolve, reject) => {
        const connection = connect(socket).setEncoding('utf8');
        let text = '';
        connection.on('data', (part: string) => {
          text += part;
          if (text.length > maxOutput) reject(new CommandError({ code: 'ERR_EXEC_OUTPUT_LIMIT', command }));
          // Nothing follows a reply: it ends with what was received, but not everything that ends so is a whole one.
          else if (part.trimEnd().endsWith('}')) settleWith(text, resolve);
        });
        connection.once('error', () => resolve(undefined)).once('close', () => resolve(undefined));
        connection.write(JSON.stringify({ id: 0, ...request }));
        return () => connection.destroy();
      },
    );
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const code = signal?.aborted === true ? 'ERR_EXEC_ABORTED' : 'ERR_EXEC_TIMEOUT';
    throw new CommandError({ code, command, cause: error });
  }
};

/** What is no reply of this protocol is left to ovs-appctl. */
const settleWith = (text: string, resolve: (reply: Reply | undefined) => void): void => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return;
  }
  resolve(replySchema.safeParse(value).data);
};

/** ovs-appctl's own exit status of a command that the daemon refused. */
const REFUSED = 2;

const outputOf = ({ result, error }: Reply, command: Command): CommandOutput => {
  if (typeof error === 'string')
    throw new CommandError({ code: 'ERR_EXEC_EXIT', command, exitCode: REFUSED, stderr: error });
  return { stdout: result ?? '', stderr: '' };
};
