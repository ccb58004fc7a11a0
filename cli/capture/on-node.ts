/** Captures on another node, in the pod of its agent, and brings the files here. */
import { z } from 'zod';
import { parseJsonWith } from '../../api/parse.ts';
import { messageOf } from '../../base/error-message.ts';
import { readTar } from '../../base/tar-reader.ts';
import { INDEX } from '../commands/capture.ts';
import { CliError } from '../errors.ts';
import type { AgentPod } from '../remote/agent-pods.ts';
import { type NodeTools, runInAgentPod, UDNCTL_PATH } from '../remote/node-tools.ts';
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
  { tools, agent, words, output }: RemoteCapture,
  { onInterrupt, stdout, tell }: RemoteWords,
): Promise<{ readonly status: number; readonly capture?: Capture }> => {
  const chunks: Uint8Array[] = [];
  let process: string | undefined;
  let isInterrupted = false;
  const end = (): void => {
    if (process === undefined || !isInterrupted) return;
    const ending = [UDNCTL_PATH, 'capture', `--end=${process}`];
    const output = { stdout: () => {}, stderr: (chunk: Uint8Array) => tell(Buffer.from(chunk).toString()) };
    runInAgentPod(tools, agent, ending, output).catch((error: unknown) => tell(`udnctl: ${messageOf(error)}\n`));
  };
  // What the node has captured until then still comes here; a connection that is cut would lose it.
  onInterrupt(() => {
    isInterrupted = true;
    end();
  });
  const status = await runInAgentPod(tools, agent, [UDNCTL_PATH, ...words], {
    stdout: (chunk) => void chunks.push(chunk),
    stderr: (chunk) => {
      const text = Buffer.from(chunk).toString();
      tell(text);
      if (process !== undefined) return;
      process = /\(process (\d+)\)/.exec(text)?.[1];
      end();
    },
  });
  if (status !== 0 && chunks.length === 0) return { status };
  const files = readTar(Buffer.concat(chunks));
  const index = files.find(({ path }) => path === INDEX);
  if (index === undefined) throw new CliError(`the node sent no ${INDEX}`);
  const capture = parseJsonWith(captureSchema, Buffer.from(index.content).toString(), INDEX);
  await using folder = await openFolder(output, '.');
  await writeFiles(folder.path, files);
  const where = await deliver(output, folder.path, stdout);
  if (output.kind !== 'stream') stdout(Buffer.from(captureText(capture, where)));
  return { status, capture };
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
