/** The ports of a policy as OVN matches them, and how many ACLs they make. */
import type { PolicyPorts, PolicyProtocol, PortTerm } from '../../model/policies/facts.ts';

/** A port with its number; without a term every port of the protocol. */
export interface NumberedPort {
  readonly protocol: PolicyProtocol;
  readonly term?: PortTerm | undefined;
}

/**
 * One rule for each item. Up to three terms are rules of their own: what one of them has in common with another policy's is shared, and
 * the set of its peers shrinks incrementally. More are one rule per protocol, or its flows would be peers times terms: ovn-controller makes
 * a conjunction of a set of ports, and none of one port (docs/adr/0111).
 */
export const l4Rules = (ports: readonly NumberedPort[]): readonly PolicyPorts[] => {
  const protocols = PROTOCOLS.flatMap((protocol): PolicyPorts[] => {
    const own = ports.filter((port) => port.protocol === protocol);
    if (own.length === 0) return [];
    if (own.some(({ term }) => term === undefined)) return [{ protocol }];
    return [{ protocol, ports: mergedTerms(own) }];
  });
  const terms = protocols.reduce((count, { ports: own }) => count + (own?.length ?? 1), 0);
  if (terms > MAX_SPLIT) return protocols;
  return protocols.flatMap(({ protocol, ports: own }) =>
    own === undefined ? [{ protocol }] : own.map((term) => ({ protocol, ports: [term] })),
  );
};

const MAX_SPLIT = 3;
const PROTOCOLS: readonly PolicyProtocol[] = ['tcp', 'udp', 'sctp'];

export const portTerm = (first: number, last = first): PortTerm => (first === last ? first : [first, last]);

/** Sorted. Ranges that overlap are one; ports beside each other stay ports, as each of them is cheaper to match than a range. */
const mergedTerms = (ports: readonly NumberedPort[]): PortTerm[] => {
  const ranges = ports.flatMap(({ term }): [number, number][] => {
    if (term === undefined) return [];
    return [typeof term === 'number' ? [term, term] : [term[0], term[1]]];
  });
  ranges.sort(([a, z], [b, y]) => a - b || y - z);
  const merged: [number, number][] = [];
  for (const [first, last] of ranges) {
    const before = merged.at(-1);
    if (before === undefined || first > before[1]) merged.push([first, last]);
    else if (last > before[1]) before[1] = last;
  }
  return merged.map(([first, last]) => portTerm(first, last));
};
