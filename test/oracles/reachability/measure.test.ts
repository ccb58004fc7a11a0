import { describe, expect, it } from 'vitest';
import { measureReachability } from './measure.ts';
import type { Prober } from './run.ts';
import { blueA, plainA, plainB } from './testing.ts';

const HOSTNAMES = new Map(
  [plainA, plainB, blueA].map(({ key, attachments, hostname }) => [attachments, { key, hostname }]),
);

/** @param isThrough whether a probe arrives, in which of its sender's runs */
const cluster = (
  isThrough: (from: string, address: string, round: number) => boolean,
): Prober & { readonly probed: number[] } => {
  const rounds = new Map<string, number>();
  const seen = new Set<string>();
  const probed: number[] = [];
  const ownerOf = (address: string) =>
    [...HOSTNAMES].find(([attachments]) => attachments.some(({ addresses }) => addresses.join() === address))?.[1];
  const probe = (pod: string, line: string): object => {
    const [nonce = '', , , address = ''] = line.split(' ');
    const owner = ownerOf(address);
    const answered = owner !== undefined && isThrough(pod, address, rounds.get(pod) ?? 0);
    if (answered) seen.add(`${owner.key} ${nonce}`);
    return { nonce, answered, who: answered ? owner.hostname : null, error: answered ? null : 'timed out', tries: 1 };
  };
  return {
    probed,
    exec: async (pod, [, verb], { input = '' } = {}) => {
      const lines = input.split('\n').filter((line) => line !== '');
      if (verb === 'probe') {
        rounds.set(pod, (rounds.get(pod) ?? 0) + 1);
        probed.push(lines.length);
      }
      const say = (line: string): object =>
        verb === 'probe' ? probe(pod, line) : { nonce: line, seen: seen.has(`${pod} ${line}`), count: 1 };
      return { stdout: lines.map((line) => `${JSON.stringify(say(line))}\n`).join(''), stderr: '' };
    },
  };
};

const PODS = [plainA, plainB, blueA];
const wrong = async (prober: Prober): Promise<string[]> =>
  (await measureReachability(prober, PODS)).flatMap(({ to, expected, observed }) =>
    expected === observed ? [] : [to],
  );

describe('measureReachability', () => {
  it('asks once more, and only that, for what should be reached and was not at first', async () => {
    const prober = cluster((from, address, round) => {
      if (from !== 'plain/plain-a') return from === 'plain/plain-b' && address === '10.128.0.5';
      return address === '10.128.2.5' && round > 1;
    });
    expect(await wrong(prober)).toEqual([]);
    // Of all that plain-a sent in the first run, what was for plain-b.
    expect(prober.probed.at(-1)).toBe(3);
    expect(prober.probed).toHaveLength(4);
  });

  it('reports what is not reached then, either', async () => {
    const prober = cluster((from, address) => from === 'plain/plain-b' && address === '10.128.0.5');
    expect(await wrong(prober)).toEqual(Array(3).fill('plain/plain-b'));
  });

  it('does not ask twice for what must not be reached, and reports it', async () => {
    const prober = cluster(() => true);
    expect(new Set(await wrong(prober))).toEqual(new Set(PODS.map(({ key }) => key)));
    expect(prober.probed).toHaveLength(3);
  });
});
