/** A matrix of a namespace as people read it: who connects is on the left. Pure. */
import type { PolicyEndStatus } from '../../api/policy-status.ts';
import type { TextOutput } from '../output/format.ts';
import { formatTable } from '../output/table.ts';
import { letThrough, portsText } from './let-through.ts';
import type { PolicyMatrix } from './matrix.ts';
import { type ProbeFindings, probeLines } from './probe/findings.ts';

export interface MatrixOutput extends TextOutput {
  /** 1: rows let something else through; 2: not every end is known, or known to be in effect. */
  readonly exitStatus: 0 | 1 | 2;
}

/** @param probed what packets have shown, where some were sent */
export const matrixOutput = (matrix: PolicyMatrix, probed?: ProbeFindings): MatrixOutput => {
  const { pods, ends, differences, unknown } = matrix;
  const known = new Map(ends.map((end) => [endKey(end.pod, end.direction, end.peer), end]));
  const cells = pods.map((from) => pods.map((to) => cellOf(known, from, to)));
  const isUnknown =
    unknown.length > 0 || (probed?.unknown.length ?? 0) > 0 || cells.flat().some((cell) => cell.includes('?'));
  const table = formatTable({
    head: ['FROM \\ TO', ...pods.map(nameOf)],
    rows: pods.map((from, row) => [nameOf(from), ...(cells[row] ?? [])]),
  });
  return {
    data: probed === undefined ? matrix : { ...matrix, probes: probed },
    lines: [
      ...(pods.length > 0 ? table.trimEnd().split('\n') : unknown.length > 0 ? [] : ['no pods']),
      ...differences.map(
        ({ pod, direction, peer, family, expected, programmed }) =>
          `! ${direction} of ${pod}, IPv${family}, ${peer}: policies let through ${expected}, rows ${programmed}`,
      ),
      ...unknown.map((text) => `? ${text}`),
      ...(differences.length === 0 && !isUnknown && pods.length > 0 ? ['the rows let through the same'] : []),
      ...(probed === undefined ? [] : probeLines(probed)),
    ],
    exitStatus: differences.length + (probed?.differences.length ?? 0) > 0 ? 1 : isUnknown ? 2 : 0,
  };
};

const endKey = (pod: string, direction: PolicyEndStatus['direction'], peer: string): string =>
  `${direction} ${pod} ${peer}`;

type Known = ReadonlyMap<string, PolicyEndStatus>;

/** Both ends have to let it through. */
const cellOf = (known: Known, from: string, to: string): string => {
  if (from === to) return '.';
  const egress = known.get(endKey(from, 'Egress', to));
  const ingress = known.get(endKey(to, 'Ingress', from));
  const families = familiesOf([egress, ingress]);
  const texts = families.map((family) => ({ family, text: textOf(egress, ingress, family) }));
  const [first, ...others] = texts;
  if (first === undefined) return '?';
  return others.every(({ text }) => text === first.text)
    ? first.text
    : texts.map(({ family, text }) => `IPv${family} ${text}`).join('\n');
};

/** That both have addresses of, which an end that no policy isolates does not list. */
const familiesOf = (ends: readonly (PolicyEndStatus | undefined)[]): readonly (4 | 6)[] => {
  const addresses = ends.flatMap((end) => end?.peerAddresses ?? []);
  const found = new Set(addresses.map((address): 4 | 6 => (address.includes(':') ? 6 : 4)));
  return found.size === 0 ? [4] : [...found].sort();
};

const textOf = (egress: PolicyEndStatus | undefined, ingress: PolicyEndStatus | undefined, family: 4 | 6): string => {
  const found = letThrough(egress, ingress, family);
  return found === undefined ? '?' : portsText(found);
};

const nameOf = (pod: string): string => pod.slice(pod.indexOf('/') + 1);
