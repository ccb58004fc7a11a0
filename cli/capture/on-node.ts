/** Captures on another node, in the pod of its agent, and brings the files here. */
import { z } from 'zod';
import { parseJsonWith } from '../../api/parse.ts';
import { messageOf } from '../../base/error-message.ts';
import { readTar } from '../../base/tar-reader.ts';
import type { ExecOutput } from '../../kube/exec/types.ts';
import { INDEX } from '../commands/capture.ts';
import { CliError } from '../errors.ts';
import type { AgentPod } from '../remote/agent-pods.ts';
import { type NodeTools, runInAgentPod, UDNCTL_PATH } from '../remote/node-tools.ts';
import { MEMORY_BUDGET } from './budget.ts';
import type { Capture } from './capture.ts';
import { type CaptureOutput, deliver, openFolder, writeFiles } from './output.ts';
import { captureText } from './tables.ts';

export interface RemoteCapture {
  readonly tools: NodeTools;
  readonly agent: AgentPod;
  /** `capture`, its options and the pod, without where the files go. */
  readonly words: readonly string[];
  readonly output: CaptureOutput;
}

export interface RemoteWords {
  /** Calls back when the user ends the capture. */
  readonly onInterrupt: (callback: () => void) => void;
  readonly stdout: (bytes: Uint8Array) => void;
  readonly tell: (text: string) => void;
}

/** @returns undefined when the node has refused it, and has said why @throws CliError */
export const captureOnNode = async (
  { tools, agent, words, output: destination }: RemoteCapture,
  { onInterrupt, stdout, tell }: RemoteWords,
): Promise<{ readonly status: number; readonly capture?: Capture }> => {
  const cutting = new AbortController();
  const archive = boundedBytes((error) => cutting.abort(error));
  let said = '';
  let process: string | undefined;
  let isInterrupted = false;
  const end = (): void => {
    if (process === undefined || !isInterrupted) return;
    const ending = [UDNCTL_PATH, 'capture', `--end=${process}`];
    const output = { stdout: () => {}, stderr: (chunk: Uint8Array) => tell(Buffer.from(chunk).toString()) };
    runInAgentPod(tools, agent, ending, output, cutting.signal).catch((error: unknown) => {
      if (!cutting.signal.aborted) tell(`udnctl: ${messageOf(error)}\n`);
    });
  };
  // What the node has captured until then still comes here; a connection that is cut loses it, so that takes a second signal.
  onInterrupt(() => {
    if (isInterrupted) return cutting.abort(new CliError(INTERRUPTED));
    isInterrupted = true;
    tell('ending the capture on the node; Ctrl-C again discards what it has captured\n');
    end();
  });
  const output: ExecOutput = {
    stdout: archive.add,
    stderr: (chunk) => {
      const text = Buffer.from(chunk).toString();
      tell(text);
      if (process !== undefined) return;
      // Messages come in whatever pieces the connection makes of them.
      said += text;
      process = /\(process (\d+)\)/.exec(said)?.[1];
      said = said.slice(-MAX_LINE);
      end();
    },
  };
  const status = await runInAgentPod(tools, agent, [UDNCTL_PATH, ...words], output, cutting.signal);
  const bytes = archive.take();
  if (status !== 0 && bytes.length === 0) return { status };
  const files = readTar(bytes);
  const index = files.find(({ path }) => path === INDEX);
  if (index === undefined) throw new CliError(`the node sent no ${INDEX}`);
  const capture = parseJsonWith(captureSchema, Buffer.from(index.content).toString(), INDEX);
  await using folder = await openFolder(destination, '.');
  await writeFiles(folder.path, files);
  const where = await deliver(destination, folder.path, stdout);
  if (destination.kind !== 'stream') stdout(Buffer.from(captureText(capture, where)));
  return { status, capture };
};

const INTERRUPTED = 'interrupted: what the node has captured is lost; it ends there by itself after its --duration';

const MAX_LINE = 1_000;

/** Its packets, its index, and headers. */
const MAX_ARCHIVE = MEMORY_BUDGET + 1024 * 1024;

const boundedBytes = (onExcess: (error: CliError) => void) => {
  let chunks: Uint8Array[] = [];
  let size = 0;
  return {
    add: (chunk: Uint8Array): void => {
      size += chunk.length;
      if (size <= MAX_ARCHIVE) chunks.push(chunk);
      else onExcess(new CliError('the node sent more than a capture may store: use a smaller --count'));
    },
    take: (): Buffer => {
      const bytes = Buffer.concat(chunks);
      chunks = [];
      return bytes;
    },
  };
};

const captureSchema = z.object({
  captured: z.array(
    z.object({
      ...{ name: z.string(), interface: z.string(), filter: z.string(), file: z.string() },
      ...{ packets: z.int(), dropped: z.int() },
      ...{ note: z.string().exactOptional(), failure: z.string().exactOptional() },
      ...{ first: z.string().exactOptional(), last: z.string().exactOptional() },
    }),
  ),
  missed: z.array(z.object({ name: z.string(), because: z.string() })),
});
