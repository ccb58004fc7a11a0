/** What a plugin that has run means: its result, or why there is none. Pure. */

import { z } from 'zod';
import { CniError } from '../../../api/cni/error.ts';
import { parseCniResult } from '../../../api/cni/result.ts';
import { readJson } from '../../../api/parse.ts';
import { messageOf } from '../../../base/error-message.ts';
import type { PluginOutcome } from './plugin-host.ts';

/** @throws CniError `foreignPlugin`; `tryAgainLater` when the plugin says so */
export const requireSuccess = (type: string, outcome: PluginOutcome): void => {
  const { how, number, stdout } = outcome;
  if (how === 'exit' && number === 0) return;
  if (how !== 'exit') throw failure(type, ENDED[how](number));
  const said = errorSchema.safeParse(jsonOf(stdout));
  if (!said.success) throw failure(type, `it ended with status ${number} and said nothing of CNI`);
  const { code, msg, details } = said.data;
  const text = [msg, details].filter((part) => part !== '').join(': ');
  throw failure(type, shortened(text) || `code ${code}`, code === TRY_AGAIN ? 'tryAgainLater' : 'foreignPlugin');
};

/**
 * The result of ADD, as the next plugin gets it: fields that we do not know are the plugins'.
 * @throws CniError `foreignPlugin` when it is none
 */
export const resultOf = (type: string, { stdout }: PluginOutcome): unknown => {
  try {
    const value = readJson(stdout);
    parseCniResult(value);
    return value;
  } catch (error) {
    throw failure(type, `its result cannot be read: ${shortened(messageOf(error))}`);
  }
};

const ENDED: Readonly<Record<Exclude<PluginOutcome['how'], 'exit'>, (number: number) => string>> = {
  signal: (number) => `it was ended by signal ${number}`,
  absent: () => 'there is no such program in the folders of CNI plugins of this node',
  refused: () => 'the call was refused: too many environment variables, or a name that is none',
  late: () => 'it did not end in time',
  long: () => 'it wrote more than a result may have',
  failed: (number) => `it could not be started (errno ${number})`,
};

const failure = (
  type: string,
  message: string,
  reason: 'foreignPlugin' | 'tryAgainLater' = 'foreignPlugin',
): CniError => new CniError(reason, `plugin ${type}: ${message}`);

const TRY_AGAIN = 11;
const errorSchema = z.object({ code: z.number(), msg: z.string().default(''), details: z.string().default('') });

const jsonOf = (text: string): unknown => {
  try {
    return readJson(text);
  } catch {
    return undefined;
  }
};

/** It goes to an event. */
const shortened = (text: string): string => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text);

const MAX_TEXT = 600;
