/** Who reaches whom as a table for a terminal, and in messages. Pure. */
import { cudnOfNetworkName } from '../../../api/names.ts';
import { differences } from './evaluate.ts';
import type { Reachability, ReachabilityPod } from './types.ts';

export type Style = 'good' | 'bad' | 'dim' | 'strong';
/** Dresses a text up; it may leave it as it is. */
export type Paint = (style: Style, text: string) => string;

export const plain: Paint = (_, text) => text;

/**
 * Rows send, columns receive. A cell has two signs: the first for the address on the receiver's primary network, the
 * second for its address on the default network, which pods of the default network do not have besides.
 */
export const renderMatrix = (
  pods: readonly ReachabilityPod[],
  results: readonly Reachability[],
  paint: Paint = plain,
): string => {
  const groups = [...Map.groupBy(pods, networkOf).entries()];
  const ordered = groups.flatMap(([, members]) => members);
  const numbers = new Map(ordered.map(({ key }, index) => [key, index + 1]));
  const byPair = Map.groupBy(results, ({ from, to }) => pairKey(from, to));
  const widths = sideWidths(ordered);
  const rows = groups.flatMap(([network, members], group) => [
    ...(group === 0 ? [] : ['']),
    ...members.map((from, index) => {
      const cells = groups.map(([, to]) => to.map((pod) => cell(from, pod, byPair, paint)).join(' '));
      const side = [network, from.key, from.node].map((text, column) => text.padEnd(widths[column] ?? 0));
      const number = String(numbers.get(from.key)).padStart(2);
      return `${paint(index === 0 ? 'strong' : 'dim', side[0] ?? '')}  ${side[1]}  ${paint('dim', side[2] ?? '')}  ${number} ${cells.join(GAP)}`;
    }),
  ]);
  const indent = ' '.repeat(widths.reduce((sum, width) => sum + width + 2, 0) + 2);
  const heads = groups.map(([network, to]) => {
    const width = to.length * 3 - 1;
    return paint('strong', shorten(shortName(network), width).padEnd(width));
  });
  const counts = groups.map(([, to]) => to.map(({ key }) => String(numbers.get(key)).padStart(2)).join(' '));
  return [`${indent} ${heads.join(GAP)}`, `${indent} ${counts.join(GAP)}`, ...rows].join('\n').replaceAll(/ +$/gm, '');
};

/** What the signs of the matrix mean. */
export const legend = (paint: Paint = plain): string =>
  [
    'rows send, columns receive; a cell is two signs: the address on the primary network, then that on the default network',
    [
      `${paint('good', REACHED)} reached`,
      `${paint('dim', APART)} not reached (both as they should)`,
      `${paint('bad', WRONG)} something else than expected`,
      `${MIXED} some of it reached, as it should`,
    ].join('   '),
    'each sign stands for IPv4 and IPv6, each with ICMP, TCP and UDP',
  ].join('\n');

/** Counts. */
export const summary = (results: readonly Reachability[]): string => {
  const probes = results.filter(({ stray }) => !stray);
  const expected = probes.filter((result) => result.expected);
  const refused = probes.filter((result) => !result.expected);
  const wrong = differences(results);
  return [
    `${probes.length} probes:`,
    `${expected.length} should arrive and ${count(expected)} did,`,
    `${refused.length} should not and ${count(refused)} did;`,
    `${wrong.length} ${wrong.length === 1 ? 'difference' : 'differences'}`,
  ].join(' ');
};

/** A line for every result that is not what was expected, with all that is known about it. */
export const describeDifferences = (results: readonly Reachability[]): string[] =>
  differences(results).map((result) => {
    const { from, to, network, family, protocol, address, role, expected, delivered, answered, who, error } = result;
    const facts = [
      delivered ? 'the pod saw it' : 'the pod did not see it',
      answered ? `answered${who === null ? '' : ` by ${who}`}` : `no answer${error === null ? '' : ` (${error})`}`,
      ...(result.stray ? ['the probe was meant for another pod'] : []),
    ];
    const should = expected ? 'should be reached and was not' : 'should not be reached and was';
    return `${from} (${network.from}) → ${to} (${network.to}) at its ${role} address ${address}, IPv${family} ${protocol}: ${should}; ${facts.join(', ')}`;
  });

const REACHED = '✓';
const APART = '·';
const WRONG = '✗';
const MIXED = '~';
const GAP = '  ';

const pairKey = (from: string, to: string): string => `${from} ${to}`;

const networkOf = ({ attachments }: ReachabilityPod): string => attachments[0]?.network ?? '';

const sideWidths = (pods: readonly ReachabilityPod[]): readonly number[] =>
  [networkOf, ({ key }: ReachabilityPod) => key, ({ node }: ReachabilityPod) => node].map((text) =>
    Math.max(0, ...pods.map((pod) => text(pod).length)),
  );

/** Above the columns there is little room: `red_red` of the network `red` in the namespace `red` says it twice. */
const shortName = (network: string): string => cudnOfNetworkName(network) ?? network.replace(/^(.+)_\1$/, '$1');

const shorten = (text: string, width: number): string =>
  text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;

const cell = (
  from: ReachabilityPod,
  to: ReachabilityPod,
  byPair: ReadonlyMap<string, readonly Reachability[]>,
  paint: Paint,
): string => {
  if (from.key === to.key) return paint('dim', '--');
  const results = byPair.get(pairKey(from.key, to.key)) ?? [];
  const locked = results.filter(({ role }) => role === 'infrastructure-locked');
  const open = results.filter(({ role }) => role !== 'infrastructure-locked');
  return `${sign(open, paint)}${sign(locked, paint)}`;
};

/** A blank where nothing was measured. */
const sign = (results: readonly Reachability[], paint: Paint): string => {
  if (results.length === 0) return ' ';
  if (differences(results).length > 0) return paint('bad', WRONG);
  const reached = count(results);
  if (reached === 0) return paint('dim', APART);
  return reached === results.length ? paint('good', REACHED) : MIXED;
};

const count = (results: readonly Reachability[]): number => results.filter(({ observed }) => observed).length;
