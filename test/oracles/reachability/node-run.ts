/** Asks from a node: `toolbox probe` as whoever it is, then `toolbox seen` in every pod. */
import type { CommandOutput } from '../../../datapath/exec/types.ts';
import type { RunOptions } from '../../../sandbox/index.ts';
import { evaluateNodeProbes } from './evaluate-node.ts';
import { type NodeLink, type NodeProbe, type NodeSource, planNodeProbes } from './node-plan.ts';
import { type Prober, readAnswers, readSeen } from './run.ts';
import type { ReachabilityPod } from './types.ts';

/** Where the source's programs run. */
export type RunAs = (argv: readonly string[], options: RunOptions) => Promise<CommandOutput>;

const COMMAND = ['toolbox', 'probe', '--timeout', '400', '--tries', '2'];
const LIMITS = { timeoutMs: 60_000 };

/** @param pods of the node @returns one message for each thing that is not as it should be */
export const measureFromNode = async (
  prober: Prober,
  { source, runAs, run }: { readonly source: NodeSource; readonly runAs: RunAs; readonly run: string },
  pods: readonly ReachabilityPod[],
  links: readonly NodeLink[],
): Promise<readonly string[]> => {
  const probes = planNodeProbes(source, pods, links, run);
  const { stdout } = await runAs(COMMAND, { ...LIMITS, input: lines(probes.map(probeLine)) });
  const nonces = lines(probes.map(({ nonce }) => nonce));
  const seen = pods.map(async ({ key }) => {
    const output = await prober.exec(key, ['toolbox', 'seen'], { ...LIMITS, input: nonces });
    return [key, readSeen(output.stdout)] as const;
  });
  return evaluateNodeProbes(pods, probes, {
    answers: new Map(readAnswers(stdout)),
    seen: new Map(await Promise.all(seen)),
  });
};

const lines = (all: readonly string[]): string => `${all.join('\n')}\n`;

const probeLine = ({ nonce, family, protocol, address, device = '-' }: NodeProbe): string =>
  `${nonce} ${family} ${protocol} ${address} ${device} ${nonce}`;
