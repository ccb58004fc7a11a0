/**
 * Reads the matches of ACLs that agents write for network policies (agent/features/policies): a conjunction of an address of a peer, one of a
 * target, and ports. What it cannot read it says, so that nothing is taken for allowed that is not understood. Pure.
 */
import { type Cidr, cidrContainsIp, hostRoute, parseMaskedCidr } from '../../net/cidr.ts';
import { type Ip, isIp, parseIp } from '../../net/ip.ts';
import { EVERYTHING, type Ports } from '../../net/port-regions.ts';

export interface RuleMatch {
  readonly family: 4 | 6;
  /** Undefined: any. */
  readonly source: AddressTerm | undefined;
  readonly destination: AddressTerm | undefined;
  readonly ports: readonly Ports[];
}

/** One of these has it. */
export interface AddressTerm {
  readonly sets: readonly string[];
  readonly blocks: readonly Cidr[];
}

/** @returns undefined for what is no match of a rule */
export const parseRuleMatch = (match: string): RuleMatch | undefined => {
  const addresses = new Map<string, AddressTerm>();
  const families = new Set<string>();
  let protocol: Ports['protocol'];
  let ports: readonly Ports[] | undefined;
  for (const part of match.split(' && ').filter((one) => !OF_GROUP.test(one))) {
    const [, family = '', end = '', value = ''] = /^ip([46])\.(src|dst) ?== ?(.+)$/.exec(part) ?? [];
    const ranges = PROTOCOL.test(part) ? undefined : portRanges(part, protocol);
    if (value !== '') {
      const term = addressTerm(value);
      if (term === undefined) return undefined;
      families.add(family);
      addresses.set(end, term);
    } else if (PROTOCOL.test(part)) protocol = part as NonNullable<Ports['protocol']>;
    else if (ranges !== undefined && ports === undefined) ports = ranges;
    else return undefined;
  }
  const [family, ...others] = families;
  if (family === undefined || others.length > 0) return undefined;
  return {
    family: family === '4' ? 4 : 6,
    source: addresses.get('src'),
    destination: addresses.get('dst'),
    ports: ports ?? [{ ...EVERYTHING, protocol }],
  };
};

/** @param setOf the addresses of an address set */
export const termHas = (term: AddressTerm | undefined, ip: Ip, setOf: (name: string) => readonly string[]): boolean => {
  if (term === undefined) return true;
  const { sets, blocks } = term;
  return sets.flatMap(setOf).some((element) => blockHas(element, ip)) || blocks.some((one) => cidrContainsIp(one, ip));
};

const blockHas = (element: string, ip: Ip): boolean =>
  isIp(element) ? parseIp(element) === ip : cidrContainsIp(parseMaskedCidr(element), ip);

const PROTOCOL = /^(tcp|udp|sctp)$/;
/** What is asked about are ports of the group that has the ACL. */
const OF_GROUP = /^(inport|outport) == @\w+$/;

/**
 * Neighbour discovery, and ports alone, are about no address.
 * @returns whether a match that cannot be read may be about packets between pods
 */
export const isAboutAddresses = (match: string): boolean => /\bip[46]\.(src|dst)\b/.test(match);

/** Undefined: something in it is neither an address set nor an address. */
const addressTerm = (value: string): AddressTerm | undefined => {
  const elements = elementsOf(value);
  const blocks = elements.filter((element) => !element.startsWith('$')).map(blockOf);
  if (!blocks.every((block) => block !== undefined)) return undefined;
  return { sets: elements.flatMap((element) => (element.startsWith('$') ? [element.slice(1)] : [])), blocks };
};

const blockOf = (text: string): Cidr | undefined => {
  try {
    return isIp(text) ? hostRoute(parseIp(text)) : parseMaskedCidr(text);
  } catch {
    return undefined;
  }
};

const elementsOf = (value: string): readonly string[] => value.replace(/^\{|\}$/g, '').split(', ');

/** `tcp.dst == 80`, `tcp.dst == {80, 81}`, `90 <= tcp.dst <= 95`, and several of them in parentheses. */
const portRanges = (text: string, protocol: Ports['protocol']): readonly Ports[] | undefined => {
  const found: Ports[] = [];
  for (const term of text.replace(/^\(|\)$/g, '').split(' || ')) {
    const [, listed = '', numbers = ''] = /^(tcp|udp|sctp)\.dst == (.+)$/.exec(term) ?? [];
    const [, first, ranged, last] = /^([0-9]+) <= (tcp|udp|sctp)\.dst <= ([0-9]+)$/.exec(term) ?? [];
    if (protocol === undefined || (listed !== protocol && ranged !== protocol)) return undefined;
    if (ranged === undefined)
      found.push(...elementsOf(numbers).map((port) => ({ protocol, first: Number(port), last: Number(port) })));
    else found.push({ protocol, first: Number(first), last: Number(last) });
  }
  return found;
};
