/** Asks udnctl on other nodes about policies: each end of a connection is known where its pod runs. */
import type { z } from 'zod';
import { parseJson, parseWith } from '../../api/parse.ts';
import { messageOf } from '../../base/error-message.ts';
import { CliError } from '../errors.ts';
import { findAgentPod, type NodeTools, runInAgentPod, UDNCTL_PATH } from '../remote/node-tools.ts';

/**
 * @param words of the command, without the program
 * @throws CliError that says why there is no answer
 */
export const answerOfNode = async <Answer extends z.ZodType>(
  tools: NodeTools,
  node: string,
  words: readonly string[],
  answer: Answer,
): Promise<z.output<Answer>> => {
  const written = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  try {
    await runInAgentPod(tools, await findAgentPod(tools, node), [UDNCTL_PATH, ...words], {
      stdout: (chunk) => void written.stdout.push(Buffer.from(chunk)),
      stderr: (chunk) => void written.stderr.push(Buffer.from(chunk)),
    });
    const text = Buffer.concat(written.stdout).toString();
    if (text === '') throw new CliError(Buffer.concat(written.stderr).toString().trim() || 'it answered nothing', 2);
    return parseWith(answer, parseJson(text, 'the answer'), 'the answer');
  } catch (error) {
    throw new CliError(`node ${node} cannot be asked: ${messageOf(error)}`, 2);
  }
};
