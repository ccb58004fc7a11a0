import { describe, expect, it } from 'vitest';
import { planProbes } from './plan.ts';
import { type Prober, runProbes } from './run.ts';
import { PODS } from './testing.ts';

const probes = planProbes(PODS, 'run');

/** Every pod answers every probe, and saw only what is in `seen`. */
const fake = (seen: ReadonlySet<string>): Prober & { readonly calls: string[][] } => {
  const calls: string[][] = [];
  return {
    calls,
    exec: async (pod, argv, { input = '' } = {}) => {
      calls.push([pod, ...argv]);
      const lines = input.split('\n').filter((line) => line !== '');
      const say = (line: string): object => {
        if (argv[1] === 'seen') return { nonce: line, seen: seen.has(`${pod} ${line}`), count: 1 };
        const nonce = line.split(' ').at(-1);
        return { id: nonce, nonce, answered: true, who: null, error: null, rtt_us: 5, tries: 2 };
      };
      return { stdout: lines.map((line) => `${JSON.stringify(say(line))}\n`).join(''), stderr: '' };
    },
  };
};

describe('runProbes', () => {
  it('runs one sender per pod, and asks every pod about every probe', async () => {
    const nonce = probes[0]!.nonce;
    const prober = fake(new Set([`red/red-b ${nonce}`]));
    const { answers, seen } = await runProbes(prober, probes, { timeoutMs: 100, tries: 3 });
    expect(prober.calls.filter(([, , verb]) => verb === 'probe').map(([pod]) => pod)).toEqual(
      PODS.map(({ key }) => key),
    );
    expect(prober.calls[0]?.slice(1)).toEqual(['toolbox', 'probe', '--timeout', '100', '--tries', '3']);
    expect(answers.size).toBe(probes.length);
    expect(answers.get(nonce)).toEqual({ answered: true, who: undefined, error: undefined, tries: 2 });
    expect([...seen].filter(([, nonces]) => nonces.size > 0)).toEqual([['red/red-b', new Set([nonce])]]);
    expect([...seen.keys()].sort()).toEqual(PODS.map(({ key }) => key).sort());
  });

  it('fails where a pod can’t be asked', async () => {
    const prober: Prober = { exec: () => Promise.reject(new Error('no such pod')) };
    await expect(runProbes(prober, probes)).rejects.toThrow('no such pod');
  });
});
