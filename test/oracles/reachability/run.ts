/** Sends the probes: one `toolbox probe` in every pod, all at once; then asks every pod what it saw. */
import { z } from 'zod';
import type { CommandOutput } from '../../../datapath/exec/types.ts';
import type { RunOptions } from '../../../sandbox/index.ts';
import type { Answer, Outcomes, Probe } from './types.ts';

/** Of Sandbox. */
export interface Prober {
  exec(pod: string, argv: readonly string[], options?: RunOptions): Promise<CommandOutput>;
}

export interface ProbeTiming {
  /** How long each try waits for an answer. */
  readonly timeoutMs: number;
  /**
   * A probe that is not answered is sent so often, whether an answer is expected or not: the first packet to another node
   * may be lost while the userspace datapath asks for the tunnel's MAC address, and what must not arrive gets as many
   * chances to.
   */
  readonly tries: number;
}

export const DEFAULT_TIMING: ProbeTiming = { timeoutMs: 500, tries: 4 };
/** Of starting a command in a pod, with all other pods doing the same. */
const START_MS = 30_000;

/** @throws CommandError when a pod can't be entered, or a probe is no probe */
export const runProbes = async (
  prober: Prober,
  probes: readonly Probe[],
  { timeoutMs, tries }: ProbeTiming = DEFAULT_TIMING,
  signal?: AbortSignal,
): Promise<Outcomes> => {
  const bySender = Map.groupBy(probes, ({ from }) => from);
  const pods = new Set(probes.flatMap(({ from, to }) => [from, to]));
  const run = async (pod: string, argv: readonly string[], lines: readonly string[]): Promise<string> => {
    const limits = { timeoutMs: START_MS + timeoutMs * tries, signal };
    return (await prober.exec(pod, argv, { input: `${lines.join('\n')}\n`, ...limits })).stdout;
  };
  const command = ['toolbox', 'probe', '--timeout', String(timeoutMs), '--tries', String(tries)];
  const answers = await Promise.all([...bySender].map(([pod, own]) => run(pod, command, own.map(probeLine))));
  const nonces = probes.map(({ nonce }) => nonce);
  const seen = [...pods].map(async (pod) => [pod, readSeen(await run(pod, ['toolbox', 'seen'], nonces))] as const);
  return { answers: new Map(answers.flatMap(readAnswers)), seen: new Map(await Promise.all(seen)) };
};

const probeLine = ({ nonce, family, protocol, address }: Probe): string =>
  `${nonce} ${family} ${protocol} ${address} - ${nonce}`;

const answerSchema = z
  .object({
    nonce: z.string(),
    answered: z.boolean(),
    who: z.string().nullable(),
    error: z.string().nullable(),
    tries: z.number(),
  })
  .transform(({ nonce, who, error, ...rest }): [string, Answer] => [
    nonce,
    { ...rest, who: who ?? undefined, error: error ?? undefined },
  ]);

export const readAnswers = (text: string): [string, Answer][] =>
  jsonLines(text).map((line) => answerSchema.parse(line));

const seenSchema = z.object({ nonce: z.string(), seen: z.boolean() });

export const readSeen = (text: string): ReadonlySet<string> => {
  const lines = jsonLines(text).map((line) => seenSchema.parse(line));
  return new Set(lines.filter(({ seen }) => seen).map(({ nonce }) => nonce));
};

const jsonLines = (text: string): unknown[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): unknown => JSON.parse(line));
