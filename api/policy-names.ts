/** Domain names in policies. */
import { messageOf } from '../base/error-message.ts';
import { type DomainName, isWildcardName, parseDomainName, parseWildcardName } from '../net/domain-name.ts';
import type { AdminPolicy } from './admin-policy/types.ts';
import { ApiError } from './errors.ts';

export interface NameReading {
  /** By DNSNameResolvers (docs/adr/0136). */
  readonly followsWildcards: boolean;
}

export const NO_WILDCARDS: NameReading = { followsWildcards: false };

/** @throws ApiError | NetError */
export const readPolicyName = (text: string, { followsWildcards }: NameReading): DomainName => {
  if (!text.includes('*')) return parseDomainName(text);
  if (followsWildcards) return parseWildcardName(text);
  try {
    return parseDomainName(text);
  } catch (error) {
    throw new ApiError('ERR_API_RULE', `${messageOf(error)}, or follow DNSNameResolvers by --dns-name-resolver`);
  }
};

/** Those that some rule follows. */
export const wildcardsOf = ({ egress }: Pick<AdminPolicy, 'egress'>): readonly DomainName[] => [
  ...new Set(
    egress.flatMap(({ peers }) =>
      peers.flatMap((peer) => (peer.kind === 'domains' ? peer.names.filter(isWildcardName) : [])),
    ),
  ),
];
