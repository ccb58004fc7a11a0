/** Asks a node for the page: the command runs in the pod of the node's agent, with the rights of the console's user. */
import { messageOf } from '../../base/error-message.ts';
import { KubeError } from '../../kube/errors.ts';
import { CliError } from '../errors.ts';
import { findAgentPod, type NodeTools, nodeOfPod, runInAgentPod, UDNCTL_PATH } from '../remote/node-tools.ts';
import { type Question, targetOf, wordsOf } from './question.ts';
import type { Answer } from './types.ts';

/** @returns also why it could not be asked @throws what is no fault of the node or the API server */
export const askNode = async (tools: NodeTools, question: Question, signal: AbortSignal): Promise<Answer> => {
  const target = targetOf(question);
  let node: string | undefined;
  try {
    node = 'node' in target ? target.node : await nodeOfPod(tools, target.pod, signal);
    const agent = await findAgentPod(tools, node, signal);
    const output = boundedText();
    const chunks = { stdout: output.add, stderr: output.add };
    const exitStatus = await runInAgentPod(tools, agent, [UDNCTL_PATH, ...wordsOf(question)], chunks, signal);
    const doubt = agent.doubt === undefined ? '' : `${agent.doubt}\n`;
    return { exitStatus, node, text: doubt + output.text() };
  } catch (error) {
    if (signal.aborted) return { node, text: `no answer: ${messageOf(signal.reason)}` };
    if (error instanceof CliError || error instanceof KubeError) return { node, text: messageOf(error) };
    throw error;
  }
};

const MAX_BYTES = 256 * 1024;

const boundedText = (): { readonly add: (chunk: Uint8Array) => void; readonly text: () => string } => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  return {
    add: (chunk) => {
      if (size < MAX_BYTES) chunks.push(chunk);
      size += chunk.length;
    },
    text: () => {
      const text = Buffer.concat(chunks).subarray(0, MAX_BYTES).toString('utf8');
      return size > MAX_BYTES ? `${text}\n… ${size} bytes in all: run the command in a terminal` : text;
    },
  };
};
