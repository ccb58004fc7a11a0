/** What the agent's rules let through, read as OVN reads them: the text of each match, and the sets that it names. */
import { isIPv6 } from 'node:net';
import type { FactStore } from '../../../agent/model/fact-store.ts';
import { targetSetName } from '../../../agent/model/policies/ids.ts';
import { cidrContainsIp, parseCidr } from '../../../net/cidr.ts';
import { parseIp } from '../../../net/ip.ts';

export interface Packet {
  /** `namespace/name`, both of this node. */
  readonly from: string;
  readonly to: string;
  readonly source: string;
  readonly destination: string;
  readonly protocol: string;
  readonly port: number;
}

/** Addresses of a pod, by key. */
export type Addresses = ReadonlyMap<string, readonly string[]>;

/** Rows of the northbound database, by table. */
export type Rows = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

export class RuleVerdicts {
  readonly #facts: FactStore;
  readonly #sets = new Map<string, Set<string>>();
  readonly #rules: readonly { readonly direction: string; readonly match: string }[];

  constructor(facts: FactStore, rows: Rows, addresses: Addresses) {
    this.#facts = facts;
    this.#rules = (rows['ACL'] ?? []).flatMap(({ direction, match, external_ids: ids }) =>
      (ids as Record<string, string>)['k8s.ovn.org/owner-type'] === 'NetpolRule'
        ? [{ direction: String(direction), match: String(match) }]
        : [],
    );
    for (const { name, addresses: members } of rows['Address_Set'] ?? []) {
      for (const member of [members ?? []].flat()) this.#member(String(name), String(member));
    }
    // Of pods, which these rows are without.
    for (const key of facts.ids('podPolicy')) {
      for (const rule of facts.get('podPolicy', key)?.rules ?? []) {
        for (const ip of addresses.get(key) ?? []) this.#member(targetSetName(rule), ip);
      }
    }
  }

  /** Every rule of the network may let it through, not only the pod's own: rows know of no pods. */
  allows(packet: Packet): boolean {
    if (packet.from === packet.to) return true;
    return (['Egress', 'Ingress'] as const).every((direction) => {
      const subject = direction === 'Egress' ? packet.from : packet.to;
      if (this.#facts.get('podPolicy', subject)?.isolated.includes(direction) !== true) return true;
      const at = direction === 'Egress' ? 'from-lport' : 'to-lport';
      return this.#rules.some((rule) => rule.direction === at && this.#fits(rule.match, packet));
    });
  }

  #member(set: string, ip: string): void {
    const members = this.#sets.get(set);
    if (members === undefined) this.#sets.set(set, new Set([ip]));
    else members.add(ip);
  }

  #fits(match: string, packet: Packet): boolean {
    return match.split(' && ').every((term) => this.#holds(term.replace(/^\((.*)\)$/, '$1'), packet));
  }

  #holds(term: string, packet: Packet): boolean {
    if (term.includes(' || ')) return term.split(' || ').some((part) => this.#holds(part, packet));
    const address = /^ip([46])\.(src|dst) == (.+)$/.exec(term);
    if (address !== null) {
      const [, family, field, values = ''] = address;
      const ip = field === 'src' ? packet.source : packet.destination;
      return isIPv6(ip) === (family === '6') && this.#elements(values).some((one) => isIn(one, ip));
    }
    const ports = /^(\w+)\.dst == (.+)$/.exec(term);
    if (ports !== null) return ports[1] === packet.protocol && elements(ports[2] ?? '').includes(String(packet.port));
    const range = /^(\d+) <= (\w+)\.dst <= (\d+)$/.exec(term);
    if (range !== null)
      return range[2] === packet.protocol && packet.port >= Number(range[1]) && packet.port <= Number(range[3]);
    if (/^(tcp|udp|sctp)$/.test(term)) return term === packet.protocol;
    throw new Error(`nobody knows what "${term}" means`);
  }

  #elements(values: string): readonly string[] {
    return values.startsWith('$') ? [...(this.#sets.get(values.slice(1)) ?? [])] : elements(values);
  }
}

const elements = (values: string): string[] => values.replace(/^\{(.*)\}$/, '$1').split(', ');

const isIn = (element: string, ip: string): boolean =>
  element.includes('/') ? cidrContainsIp(parseCidr(element), parseIp(ip)) : element === ip;
