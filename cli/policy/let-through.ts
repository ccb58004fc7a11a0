/** What is let through between two pods: everything, or some ports. Pure. */
import type { EndFamilyStatus, EndRuleStatus, PolicyEndStatus } from '../../api/policy-status.ts';

export interface Ports {
  /** Absent: every protocol. */
  readonly protocol?: 'tcp' | 'udp' | 'sctp' | undefined;
  readonly first: number;
  readonly last: number;
}

const MAX_PORT = 65_535;
export const EVERYTHING: Ports = { first: 0, last: MAX_PORT };

/** Of one end; undefined: it is not known. */
export const lets = (
  { verdict, families }: PolicyEndStatus,
  family: EndFamilyStatus['family'],
): readonly Ports[] | undefined => {
  if (verdict === 'unknown') return undefined;
  if (verdict === 'open') return [EVERYTHING];
  const rules = families.find((one) => one.family === family)?.rules ?? [];
  return merged(rules.filter(({ lacks }) => lacks === undefined).flatMap(({ l4 }) => portsOf(l4)));
};

export const portsOf = (l4: EndRuleStatus['l4']): readonly Ports[] => {
  if (l4 === undefined) return [EVERYTHING];
  const { protocol, ports = [[0, MAX_PORT]] } = l4;
  return ports.map(([first, last]) => ({ protocol, first, last }));
};

/** Each port once, ordered, so that equal ones have one text. */
export const merged = (all: readonly Ports[]): readonly Ports[] => {
  if (all.some(({ protocol }) => protocol === undefined)) return [EVERYTHING];
  const sorted = all.toSorted(
    (a, b) => compare(a.protocol ?? '', b.protocol ?? '') || a.first - b.first || a.last - b.last,
  );
  const found: Ports[] = [];
  for (const next of sorted) {
    const last = found.at(-1);
    if (last?.protocol === next.protocol && last !== undefined && next.first <= last.last + 1)
      found[found.length - 1] = { ...last, last: Math.max(last.last, next.last) };
    else found.push(next);
  }
  return found;
};

export const both = (a: readonly Ports[], b: readonly Ports[]): readonly Ports[] =>
  merged(
    a.flatMap((one) =>
      b.flatMap((other) => {
        const protocol = one.protocol ?? other.protocol;
        if (other.protocol !== undefined && other.protocol !== protocol) return [];
        const [first, last] = [Math.max(one.first, other.first), Math.min(one.last, other.last)];
        return first > last ? [] : [{ protocol, first, last }];
      }),
    ),
  );

/** `all`, `-` for nothing, `TCP 80,8000-8010 UDP` */
export const portsText = (ports: readonly Ports[]): string => {
  if (ports.length === 0) return '-';
  if (ports.some(({ protocol }) => protocol === undefined)) return 'all';
  return [...Map.groupBy(ports, ({ protocol }) => protocol)]
    .map(([protocol, some]) => [protocol?.toUpperCase(), some.map(rangeText).join(',')].join(' ').trim())
    .join(' ');
};

const rangeText = ({ first, last }: Ports): string => {
  if (first === 0 && last === MAX_PORT) return '';
  return first === last ? String(first) : `${first}-${last}`;
};

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
