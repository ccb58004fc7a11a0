/** Tries with packets: every pod sends all of its own at once. */
import { randomBytes } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { z } from 'zod';
import type { Sandbox } from '../../../sandbox/index.ts';
import type { PolicyProtocol } from './types.ts';

export interface Attempt {
  /** A pod. */
  readonly from: { readonly namespace: string; readonly name: string };
  readonly address: string;
  readonly protocol: PolicyProtocol;
  readonly port: number;
}

/** How long silence is waited for. Of several times the first may be lost while the datapath learns where packets go. */
export interface Patience {
  readonly timeoutMs: number;
  readonly tries: number;
}

/** In the order of the tries: what whoever answered calls itself; undefined where nobody did. */
export const answersTo = async (
  sandbox: Pick<Sandbox, 'exec'>,
  tries: readonly Attempt[],
  { timeoutMs, tries: times }: Patience,
): Promise<(string | undefined)[]> => {
  const run = randomBytes(4).toString('hex');
  const numbered = tries.map((one, index) => ({ ...one, id: `${run}.${index}` }));
  const bySender = Map.groupBy(numbered, ({ from }) => `${from.namespace}/${from.name}`);
  const argv = ['toolbox', 'probe', '--timeout', String(timeoutMs), '--tries', String(times)];
  const answers = await Promise.all(
    [...bySender].map(async ([from, own]) => {
      const lines = own.map(
        ({ id, address, protocol, port }) =>
          `${id} ${isIPv6(address) ? `6 ${protocol.toLowerCase()} [${address}]` : `4 ${protocol.toLowerCase()} ${address}`}:${port} -`,
      );
      const { stdout } = await sandbox.exec(from, argv, { input: `${lines.join('\n')}\n` });
      return stdout.split('\n').flatMap((line) => (line === '' ? [] : [answerSchema.parse(JSON.parse(line))]));
    }),
  );
  const byId = new Map(answers.flat().map((answer) => [answer.id, answer]));
  return numbered.map(({ id }) => {
    const answer = byId.get(id);
    return answer?.answered === true ? (answer.who ?? '') : undefined;
  });
};

const answerSchema = z.object({ id: z.string(), answered: z.boolean(), who: z.string().nullable() });
