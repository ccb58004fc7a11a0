/** What packets have shown, beside what policies say. Pure. */
import type { Probed } from './connect.ts';
import type { PlannedProbe, ProbePlan } from './plan.ts';

export interface ProbeFindings {
  readonly ports: readonly number[];
  /** How many connections were compared. */
  readonly compared: number;
  readonly differences: readonly (PlannedProbe & { readonly outcome: string })[];
  /** What could not be sent. */
  readonly unknown: readonly string[];
}

export const findingsOf = ({ ports, probes }: ProbePlan, { results, unknown }: Probed): ProbeFindings => {
  const outcomes = new Map(results.map((one) => [keyOf(one), one.outcome]));
  const compared = probes.flatMap((probe) => {
    const outcome = outcomes.get(keyOf(probe));
    return outcome === undefined ? [] : [{ ...probe, outcome }];
  });
  const silent = new Set(probes.filter((probe) => !outcomes.has(keyOf(probe))).map(({ from }) => from));
  const reasons = unknown.length > 0 ? unknown : [...silent].map((pod) => `nothing was sent from ${pod}`);
  return {
    ports,
    compared: compared.length,
    differences: compared.filter(({ isAllowed, outcome }) => isAllowed !== isReached(outcome)),
    unknown: reasons,
  };
};

/** Whoever refuses has got the packet, and its answer came back. */
const isReached = (outcome: string): boolean => outcome === 'connected' || outcome === 'refused';

const keyOf = ({ from, address, port }: Pick<PlannedProbe, 'from' | 'address' | 'port'>): string =>
  `${from} ${address} ${port}`;

export const probeLines = ({ ports, compared, differences, unknown }: ProbeFindings): string[] => [
  ...differences.map(
    ({ from, to, family, port, isAllowed, outcome }) =>
      `! ${from} to ${to}, IPv${family}, TCP ${port}: policies ${isAllowed ? 'allow' : 'deny'} it, packets: ${outcome}`,
  ),
  ...unknown.map((text) => `? ${text}`),
  ...(differences.length === 0 && compared > 0
    ? [`packets to TCP ${ports.join(', ')} fared the same, in ${compared} connections`]
    : []),
];
