/** Which connections show whether packets fare as policies say, and what is expected of each. Pure. */

import { type Family, ipFamily, parseIp } from '../../../net/ip.ts';
import { complement, type Ports } from '../../../net/port-regions.ts';
import { CliError } from '../../errors.ts';
import { letThrough, portsText } from '../let-through.ts';
import type { PolicyMatrix } from '../matrix.ts';

/** One connection over TCP. */
export interface PlannedProbe {
  readonly from: string;
  readonly to: string;
  readonly family: Family;
  readonly address: string;
  readonly port: number;
  readonly isAllowed: boolean;
}

export interface ProbePlan {
  readonly ports: readonly number[];
  readonly probes: readonly PlannedProbe[];
}

/** Each of them connects to each other one, at each port, over both families. */
export const MAX_PROBED_PODS = 30;
const MAX_PORTS = 4;

/** Where nothing else is said; a pod that does not listen there refuses, which is an answer, too. */
const USUAL_PORT = 40_404;

/** @throws CliError for more pods than can be probed */
export const planProbes = (matrix: PolicyMatrix): ProbePlan => {
  if (matrix.pods.length > MAX_PROBED_PODS)
    throw new CliError(`--probe connects each pod to each: ${matrix.pods.length} are more than ${MAX_PROBED_PODS}`, 2);
  const pairs = pairsOf(matrix);
  const ports = portsFor(pairs.map(({ ports: allowed }) => allowed));
  const probes = pairs.flatMap(({ ports: allowed, ...pair }) =>
    ports.map((port): PlannedProbe => ({ ...pair, port, isAllowed: allowed.some((one) => has(one, port)) })),
  );
  return { ports, probes };
};

interface Pair extends Omit<PlannedProbe, 'port' | 'isAllowed'> {
  readonly ports: readonly Ports[];
}

/** Of pods that both have an address of the family, and of which both ends are known. */
const pairsOf = ({ pods, ends, addresses }: PolicyMatrix): Pair[] => {
  const known = new Map(ends.map((end) => [`${end.direction} ${end.pod} ${end.peer}`, end]));
  const familiesOf = (pod: string) => new Map((addresses[pod] ?? []).map((ip) => [ipFamily(parseIp(ip)), ip]));
  return pods.flatMap((from) =>
    pods.flatMap((to) => {
      const own = familiesOf(from);
      return [...familiesOf(to)].flatMap(([family, address]): Pair[] => {
        const ports = letThrough(known.get(`Egress ${from} ${to}`), known.get(`Ingress ${to} ${from}`), family);
        return from === to || ports === undefined || !own.has(family) ? [] : [{ from, to, family, address, ports }];
      });
    }),
  );
};

/** For each set of ports that some pair is allowed one of them, and one that is none: of the sets of most pairs first. */
const portsFor = (sets: readonly (readonly Ports[])[]): readonly number[] => {
  const byText = [...Map.groupBy(sets, portsText).values()].sort((a, b) => b.length - a.length);
  const wanted = byText.flatMap(([set = []]) => [portOf(set), portOf(complement(set))]);
  const found = new Set([...wanted.filter((port) => port !== undefined), USUAL_PORT]);
  return [...found].slice(0, MAX_PORTS).sort((a, b) => a - b);
};

const portOf = (ports: readonly Ports[]): number | undefined => {
  if (ports.some((one) => has(one, USUAL_PORT))) return USUAL_PORT;
  return ports.find((one) => isTcp(one) && one.last > 0 && Math.max(1, one.first) <= one.last)?.first || undefined;
};

const has = (one: Ports, port: number): boolean => isTcp(one) && one.first <= port && port <= one.last;
const isTcp = ({ protocol }: Ports): boolean => protocol === undefined || protocol === 'tcp';
