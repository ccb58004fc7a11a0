/** The resolver of a running agent. */
import type { Logger } from 'pino';
import type { ClusterConfig } from '../../api/cluster-config.ts';
import { systemClock } from '../../base/clock.ts';
import { Listeners } from '../../ovsdb/listeners.ts';
import type { Databases } from '../databases/databases.ts';
import { nodeRanges } from '../inputs/node-ranges.ts';
import type { Problem } from '../inputs/problem.ts';
import type { AgentMetrics } from '../metrics/metrics.ts';
import type { FactStore } from '../model/fact-store.ts';
import { DnsClient } from './client.ts';
import { askByTcp, askByUdp } from './exchange.ts';
import { followDomains } from './follow-domains.ts';
import { takeKeptDomains } from './kept-domains.ts';
import { observeDomains, problemsOfDomains } from './observe.ts';
import { observeWildcards, problemsOfWildcards } from './observe-wildcards.ts';
import { DnsResolver } from './resolver.ts';
import { type DnsServer, fixedServers, followResolvConf } from './servers.ts';
import { splitNames } from './split-names.ts';
import type { DnsNames, DomainState } from './types.ts';
import { firewallsAwaitingNames, problemsOfFirewallNames } from './unresolved.ts';
import { WildcardNames, type WildcardSource } from './wildcards.ts';

interface DomainsOptions {
  /** Empty: those of resolv.conf. */
  readonly dnsServers: readonly DnsServer[];
  readonly cluster: ClusterConfig;
}

export interface Domains {
  readonly names: DnsNames;
  /** What is wrong with them. @param node this one */
  problems(node: string): Problem[];
  /** EgressFirewalls with names that have no address. It looks at all of their rules. */
  problemsOfFirewalls(facts: FactStore): Problem[];
  /** EgressFirewalls with names that have no answer yet; as costly. */
  firewallsAwaitingNames(facts: FactStore): ReadonlySet<string>;
  /** Called when these may be others. @returns what ends it */
  onNamesChange(listener: () => void): () => void;
  /** To be called before rules are read. @returns what ends it */
  follow(facts: FactStore): () => void;
}

interface Sources {
  readonly databases: Pick<Databases, 'northbound'>;
  readonly metrics: AgentMetrics;
  /** Absent: wildcards are refused. */
  readonly wildcards?: WildcardSource | undefined;
}

/** @param databases what an earlier agent has left there is read at once: the northbound one should be known by now */
export const startDomains = (
  { dnsServers, cluster }: DomainsOptions,
  { databases, metrics, wildcards: source }: Sources,
  log: Logger,
): Domains => {
  const servers = dnsServers.length > 0 ? fixedServers(dnsServers) : followResolvConf();
  const kept = takeKeptDomains(databases.northbound.replica.rows('Address_Set'), systemClock);
  const child = log.child({ module: 'dns' });
  // What no host outside can have: a name must not open the cluster's own ranges, loopback or link-local addresses.
  const { refusalOf } = nodeRanges(cluster);
  const noAddress = new Listeners<void>();
  const resolver = new DnsResolver({
    client: new DnsClient({ servers, udp: askByUdp(systemClock), tcp: askByTcp(systemClock) }),
    clock: systemClock,
    random: Math.random,
    refusalOf,
    kept: (name) => kept.take(name),
    observe: ({ name, result, why }) => {
      metrics.domainQuery(result);
      if (result !== 'addresses' && isNews(resolver.state(name))) noAddress.emit();
      if (result === 'failed') child.debug({ domain: name, reason: why }, 'name not resolved');
    },
  });
  const wildcards = source && new WildcardNames({ source, clock: systemClock, refusalOf });
  const names = splitNames(resolver, wildcards);
  const unfollow = servers.onChange(() => resolver.retry());
  observeDomains(metrics, resolver);
  if (wildcards !== undefined) observeWildcards(metrics, wildcards);
  return {
    names,
    problems: (node) => [
      ...problemsOfDomains(node, resolver),
      ...(wildcards === undefined ? [] : problemsOfWildcards(node, wildcards)),
    ],
    problemsOfFirewalls: (facts) => problemsOfFirewallNames(facts, names),
    firewallsAwaitingNames: (facts) => firewallsAwaitingNames(facts, names),
    onNamesChange: (listener) => {
      const ends = [names.onChange(listener), noAddress.add(listener)];
      return () => {
        for (const end of ends) end();
      };
    },
    follow: (facts) => {
      const end = followDomains(facts, names);
      return () => {
        unfollow();
        kept.close();
        servers.close();
        resolver.close();
        wildcards?.close();
        end();
      };
    },
  };
};

/** The first time that it is not resolved, as the name was known before. */
const isNews = (before: DomainState | undefined): boolean =>
  before !== undefined && (before.kind === 'unresolved' || before.problem === undefined);
