/** A question until it is answered: by the servers in turn, twice, each by UDP and where that is not enough by TCP. */
import type { DomainName } from '../../net/domain-name.ts';
import type { Family } from '../../net/ip.ts';
import type { Exchange, ExchangeResult } from './exchange.ts';
import { type DnsAnswer, questionFor } from './message.ts';
import type { DnsServer, DnsServers } from './servers.ts';

export type DnsResult = DnsAnswer | { readonly kind: 'failed'; readonly why: string };

interface DnsClientOptions {
  readonly servers: Pick<DnsServers, 'list'>;
  readonly udp: Exchange;
  readonly tcp: Exchange;
}

export class DnsClient {
  readonly #options: DnsClientOptions;
  /** The last that answered is asked first. */
  #preferred: DnsServer | undefined;

  constructor(options: DnsClientOptions) {
    this.#options = options;
  }

  /** It never rejects. Ends at once when the signal aborts. */
  async resolve(name: DomainName, family: Family, signal: AbortSignal): Promise<DnsResult> {
    const servers = this.#ordered();
    if (servers.length === 0) return { kind: 'failed', why: 'there is no DNS server in resolv.conf' };
    const reasons = new Map<string, string>();
    for (let round = 0; round < ROUNDS; round++) {
      for (const server of servers) {
        if (signal.aborted) return { kind: 'failed', why: 'it is not asked any further' };
        const result = await this.#ask(server, name, family, signal);
        if (result.kind === 'addresses' || result.kind === 'nonexistent') {
          this.#preferred = server;
          return result;
        }
        reasons.set(textOf(server), 'why' in result ? result.why : 'no answer can be trusted');
      }
    }
    return { kind: 'failed', why: [...reasons].map(([server, why]) => `${server}: ${why}`).join('; ') };
  }

  async #ask(server: DnsServer, name: DomainName, family: Family, signal: AbortSignal): Promise<ExchangeResult> {
    const { udp, tcp } = this.#options;
    const result = await udp(server, questionFor(name, family), signal);
    const isEnough = result.kind !== 'truncated' && result.kind !== 'doubtful';
    return isEnough ? result : await tcp(server, questionFor(name, family), signal);
  }

  #ordered(): readonly DnsServer[] {
    const servers = this.#options.servers.list();
    const preferred = servers.find(({ ip, port }) => ip === this.#preferred?.ip && port === this.#preferred.port);
    return preferred === undefined ? servers : [preferred, ...servers.filter((server) => server !== preferred)];
  }
}

const ROUNDS = 2;

const textOf = ({ ip, port }: DnsServer): string =>
  port === 53 ? ip : ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;
