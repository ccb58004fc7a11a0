/** Rules of a policy, one by one: what cannot be read closes its rule and no other. */
import type { z } from 'zod';
import { messageOf } from '../../base/error-message.ts';
import type { DomainName } from '../../net/domain-name.ts';
import { ApiError } from '../errors.ts';
import { parseWith } from '../parse.ts';
import { type NameReading, readPolicyName } from '../policy-names.ts';
import type { RuleFields, WrittenPeer } from './fields.ts';
import type { AdminPeer, AdminRule } from './types.ts';

/** What reading a policy's rules has come to so far. */
export interface Reading extends NameReading {
  /** What cannot be followed, for people. */
  readonly findings: string[];
  /** Of peers and ports, in all rules: about as many ACLs as they make on a network. */
  pairs: number;
  /** Domain names, in all rules. */
  names: number;
}

/** @param path of the list, for messages */
export const readRules = (
  schema: z.ZodType<RuleFields>,
  list: readonly unknown[],
  path: string,
  reading: Reading,
): readonly AdminRule[] =>
  list.map((value, index) => {
    const at = `${path}[${index}]`;
    try {
      return followed(counted(checked(parseWith(schema, value, at)), reading), at, reading);
    } catch (error) {
      const rule = closed(value);
      const effect = rule.action === 'allow' ? 'allows nothing' : 'denies everything';
      reading.findings.push(`${at}: ${messageOf(error)}; the rule ${effect}`);
      return rule;
    }
  });

/** What the API's CRDs of the experimental channel refuse. @throws ApiError */
const checked = (rule: RuleFields): RuleFields => {
  const fail = (message: string): never => {
    throw new ApiError('ERR_API_RULE', message);
  };
  if (rule.action !== 'allow' && rule.peers.some(isDomains)) fail('domainNames are only for rules that allow');
  const hasNames = rule.ports.some(({ kind }) => kind === 'name');
  if (hasNames && rule.peers.some(({ kind }) => kind !== 'pods'))
    fail('nodes, networks and domainNames have no named ports');
  return rule;
};

/** @throws ApiError */
const counted = (rule: RuleFields, reading: Reading): RuleFields => {
  reading.pairs += rule.peers.length * Math.max(1, rule.ports.length);
  reading.names += rule.peers.reduce((sum, peer) => sum + (isDomains(peer) ? peer.names.length : 0), 0);
  if (reading.pairs > MAX_PAIRS)
    throw new ApiError('ERR_API_RULE', `with it the policy has more than ${MAX_PAIRS} pairs of peers and ports`);
  if (reading.names > MAX_NAMES)
    throw new ApiError('ERR_API_RULE', `with it the policy has more than ${MAX_NAMES} domain names`);
  return rule;
};

const MAX_PAIRS = 4096;
/** Each is two questions to a DNS server, again and again. */
const MAX_NAMES = 256;

const followed = ({ peers, ...rule }: RuleFields, at: string, reading: Reading): AdminRule => {
  const refusals: string[] = [];
  const read = peers.flatMap((peer): AdminPeer[] => {
    if (!isDomains(peer)) return [peer];
    const names = peer.names.flatMap((name) => readName(name, reading, refusals));
    return names.length === 0 ? [] : [{ kind: 'domains', names }];
  });
  const [first, ...more] = refusals;
  if (first !== undefined)
    reading.findings.push(
      `${at}: ${first}${more.length === 0 ? '' : `, and ${more.length} more`}; the rule does not allow what it names so`,
    );
  return { ...rule, peers: read };
};

const readName = (name: string, reading: NameReading, refusals: string[]): DomainName[] => {
  try {
    return [readPolicyName(name, reading)];
  } catch (error) {
    refusals.push(messageOf(error));
    return [];
  }
};

const isDomains = (peer: WrittenPeer): peer is Extract<WrittenPeer, { readonly kind: 'domains' }> =>
  peer.kind === 'domains';

/** As the API asks of who meets a peer of which it knows no field: "fail closed", by the rule's action. */
const closed = (value: unknown): AdminRule =>
  isAllow(value) ? { action: 'allow', peers: [], ports: [] } : { action: 'deny', peers: [{ kind: 'any' }], ports: [] };

const isAllow = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, 'action')) return false;
  const action: unknown = Reflect.get(value, 'action');
  return action === 'Allow' || action === 'Accept';
};
