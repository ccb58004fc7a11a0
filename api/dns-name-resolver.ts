/**
 * DNSNameResolver, `network.openshift.io/v1alpha1`: what a plugin of CoreDNS (`ocp_dnsnameresolver`) has answered to pods about names that a
 * wildcard covers. The cluster manager makes one per wildcard, the plugin writes its status, and agents read it (docs/adr/0136).
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { messageOf } from '../base/error-message.ts';
import { type DomainName, parseDomainName, parseWildcardName, wildcardCovers } from '../net/domain-name.ts';
import type { Ip } from '../net/ip.ts';
import { ApiError } from './errors.ts';
import { parseWith } from './parse.ts';
import { ipSchema } from './scalars.ts';

/** On each that is ours: no other is ever changed or deleted. */
export const RESOLVER_LABEL = 'k8s.ovn.org/wildcard';

/** In one namespace there is one of a wildcard: of two the plugin would write to the first alone. */
export const dnsNameResolverName = (wildcard: DomainName): string =>
  `dns-${createHash('sha256').update(wildcard).digest('hex').slice(0, NAME_LENGTH)}`;

const NAME_LENGTH = 20;

export interface DnsNameResolver {
  readonly wildcard: DomainName;
  /** Of all names that it covers. */
  readonly addresses: readonly ResolvedAddress[];
  /** Names with an answer that the status has. */
  readonly names: number;
  /** What of the status does not count, for people. */
  readonly findings: readonly string[];
}

export interface ResolvedAddress {
  readonly ip: Ip;
  /** Milliseconds since the epoch: when a pod was told. */
  readonly answered: number;
  readonly ttlSeconds: number;
}

/**
 * One name or address that cannot be read costs no other.
 * @throws ApiError where it is of no wildcard
 */
export const parseDnsNameResolver = (value: unknown): DnsNameResolver => {
  const { spec, status } = parseWith(resolverSchema, value, '');
  const wildcard = wildcardOf(spec.name);
  const findings = new Findings();
  const entries = findings.atMost(MAX_NAMES, status.resolvedNames, 'names');
  const resolved = entries.flatMap((entry, index) =>
    readEntry(entry, wildcard, `status.resolvedNames[${index}]`, findings),
  );
  const addresses = findings.atMost(MAX_READ, resolved.flat(), 'addresses');
  return { wildcard, addresses, names: resolved.length, findings: findings.texts() };
};

/** As it is created. @throws ApiError */
const wildcardOf = (name: string): DomainName => {
  try {
    const wildcard = parseWildcardName(name);
    if (wildcard === name) return wildcard;
  } catch (error) {
    throw new ApiError('ERR_API_FIELD', `spec.name: ${messageOf(error)}`, { field: 'spec.name' });
  }
  throw new ApiError('ERR_API_FIELD', `spec.name: "${name}" is not in lower case with a final dot`, {
    field: 'spec.name',
  });
};

const resolverSchema = z.object({
  spec: z.object({ name: z.string().max(254) }),
  status: z
    .object({ resolvedNames: z.array(z.unknown()).nullish() })
    .nullish()
    .transform((status) => ({ resolvedNames: status?.resolvedNames ?? [] })),
});

const entrySchema = z.object({ dnsName: z.string().max(254), resolvedAddresses: z.array(z.unknown()) });

const addressSchema = z.object({
  ip: ipSchema,
  ttlSeconds: z
    .int()
    .min(0)
    .max(2 ** 31 - 1),
  lastLookupTime: z.iso.datetime({ offset: true }),
});

/** @returns its addresses; nothing where it is not of the wildcard */
const readEntry = (entry: unknown, wildcard: DomainName, at: string, findings: Findings): [ResolvedAddress[]] | [] => {
  try {
    const { dnsName, resolvedAddresses } = parseWith(entrySchema, entry, '');
    const name = dnsName.startsWith('*') ? parseWildcardName(dnsName) : parseDomainName(dnsName);
    if (!wildcardCovers(wildcard, name)) {
      findings.add(`${at}.dnsName: "${dnsName}" is not a name that ${wildcard} covers`);
      return [];
    }
    return [resolvedAddresses.flatMap((one, index) => readAddress(one, `${at}.resolvedAddresses[${index}]`, findings))];
  } catch (error) {
    findings.add(`${at}: ${messageOf(error)}`);
    return [];
  }
};

const readAddress = (value: unknown, at: string, findings: Findings): ResolvedAddress[] => {
  try {
    const { ip, ttlSeconds, lastLookupTime } = parseWith(addressSchema, value, '');
    return [{ ip, ttlSeconds, answered: Date.parse(lastLookupTime) }];
  } catch (error) {
    findings.add(`${at}: ${messageOf(error)}`);
    return [];
  }
};

/** A few in words, and how many more: whoever asks for names chooses how many there are. */
class Findings {
  readonly #texts: string[] = [];
  #more = 0;

  add(text: string): void {
    if (this.#texts.length < MAX_FINDINGS) this.#texts.push(text);
    else this.#more += 1;
  }

  /** The last: the plugin adds at the end. */
  atMost<Item>(most: number, items: readonly Item[], what: string): readonly Item[] {
    if (items.length <= most) return items;
    this.add(`of ${items.length} ${what} the first ${items.length - most} are left out`);
    return items.slice(-most);
  }

  texts(): readonly string[] {
    return this.#more === 0 ? this.#texts : [...this.#texts, `and ${this.#more} more`];
  }
}

const MAX_FINDINGS = 5;
/** As much of a status is read: the API server takes objects of more than a megabyte. */
const MAX_NAMES = 2_000;
const MAX_READ = 8_000;
