/** Sets of protocols and ports, as rules of policies take them from each other. Pure. */

export interface Ports {
  /** `other` is all that has no ports; absent: every protocol. */
  readonly protocol?: 'tcp' | 'udp' | 'sctp' | 'other' | undefined;
  readonly first: number;
  readonly last: number;
}

const MAX_PORT = 65_535;
export const EVERYTHING: Ports = { first: 0, last: MAX_PORT };

/** Each port once, ordered, so that equal ones are written alike. */
export const merged = (all: readonly Ports[]): readonly Ports[] => {
  const sorted = spelledOut(all).sort(
    (a, b) => compare(a.protocol ?? '', b.protocol ?? '') || a.first - b.first || a.last - b.last,
  );
  const found: Ports[] = [];
  for (const next of sorted) {
    const last = found.at(-1);
    if (last?.protocol === next.protocol && last !== undefined && next.first <= last.last + 1)
      found[found.length - 1] = { ...last, last: Math.max(last.last, next.last) };
    else found.push(next);
  }
  return found.length === PROTOCOLS.length && found.every(isWhole) ? [EVERYTHING] : found;
};

/** Those that are in both. */
export const both = (a: readonly Ports[], b: readonly Ports[]): readonly Ports[] =>
  isEverything(b) ? merged(a) : merged(a.flatMap((one) => b.flatMap((other) => overlap(one, other))));

/** Those of `a` that are not in `b`, each once and ordered if `a` is, by protocol: not merged, as rules by the thousand take from one another. */
export const without = (a: readonly Ports[], b: readonly Ports[]): readonly Ports[] =>
  isEverything(b) ? [] : spelledOut(b).reduce<readonly Ports[]>(cut, spelledOut(a));

const cut = (all: readonly Ports[], taken: Ports): readonly Ports[] =>
  all.flatMap((one): Ports | Ports[] => {
    if (one.protocol !== taken.protocol || one.last < taken.first || taken.last < one.first) return one;
    return [
      ...(one.first < taken.first ? [{ ...one, last: taken.first - 1 }] : []),
      ...(taken.last < one.last ? [{ ...one, first: taken.last + 1 }] : []),
    ];
  });

export const complement = (ports: readonly Ports[]): readonly Ports[] => merged(without([EVERYTHING], ports));

export const isEverything = (ports: readonly Ports[]): boolean =>
  ports.some(({ protocol, ...range }) => protocol === undefined && isWhole(range));

const PROTOCOLS = ['other', 'sctp', 'tcp', 'udp'] as const;

const spelledOut = (all: readonly Ports[]): Ports[] =>
  all.flatMap((one): Ports | Ports[] =>
    one.protocol === undefined ? PROTOCOLS.map((protocol) => ({ ...one, protocol })) : one,
  );

const overlap = (a: Ports, b: Ports): Ports[] => {
  const protocol = a.protocol ?? b.protocol;
  if (b.protocol !== undefined && b.protocol !== protocol) return [];
  const [first, last] = [Math.max(a.first, b.first), Math.min(a.last, b.last)];
  return first > last ? [] : [{ protocol, first, last }];
};

const isWhole = ({ first, last }: Pick<Ports, 'first' | 'last'>): boolean => first === 0 && last === MAX_PORT;

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
