/** The flag of both programs by which wildcards of domain names are followed. */
import { UsageError } from './errors.ts';
import type { Flag, Flags } from './flags.ts';

const NAME = 'dns-name-resolver';

export const DNS_NAME_RESOLVER_FLAG: Flag = {
  flag: NAME,
  help: 'namespace of DNSNameResolvers (network.openshift.io) by which wildcards of domain names are followed, or none; the same for both programs',
  defaultText: 'none: rules with wildcards are closed',
};

/** @returns the namespace; undefined: wildcards are not followed @throws UsageError */
export const readDnsNameResolver = (flags: Flags): string | undefined => {
  const text = flags.text(NAME) ?? 'none';
  if (text === 'none') return undefined;
  if (/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text)) return text;
  throw new UsageError(`--${NAME} "${text}" is not the name of a namespace`);
};
