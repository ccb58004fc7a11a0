/** Names that are resolved, and wildcards, which are followed by other means, as one. */
import { type DomainName, isWildcardName } from '../../net/domain-name.ts';
import type { DnsNames } from './types.ts';

/** @param wildcards absent: no rule has one */
export const splitNames = (plain: DnsNames, wildcards: DnsNames | undefined): DnsNames => {
  if (wildcards === undefined) return plain;
  const of = (name: DomainName): DnsNames => (isWildcardName(name) ? wildcards : plain);
  return {
    want: (name, owner) => of(name).want(name, owner),
    state: (name) => of(name).state(name),
    onChange: (listener) => {
      const ends = [plain.onChange(listener), wildcards.onChange(listener)];
      return () => {
        for (const end of ends) end();
      };
    },
  };
};
