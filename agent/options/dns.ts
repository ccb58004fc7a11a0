/** The flag about who resolves names. */
import { commaList } from '../../api/scalars.ts';
import { messageOf } from '../../base/error-message.ts';
import { UsageError } from '../../program/errors.ts';
import type { Flag, Flags } from '../../program/flags.ts';
import { type DnsServer, parseDnsServer } from '../dns/servers.ts';

export const DNS_FLAGS: readonly Flag[] = [
  {
    flag: 'dns-servers',
    help: 'DNS servers that resolve the domain names of policies, ADDRESS or ADDRESS:PORT, comma list',
    defaultText: 'those of /etc/resolv.conf',
  },
];

/** @throws UsageError */
export const readDnsServers = (flags: Flags): readonly DnsServer[] => {
  try {
    return commaList(flags.text('dns-servers') ?? '').map(parseDnsServer);
  } catch (error) {
    throw new UsageError(`--dns-servers: ${messageOf(error)}`);
  }
};
