/** What domain names stand for. */
import type { DomainName } from '../../net/domain-name.ts';
import type { Ip } from '../../net/ip.ts';
import type { NameOwner } from './name-room.ts';

/**
 * One per agent. Who has rules does not call it: rules acquire sets in `DomainTable`, `followDomains` wants the names of these here, and
 * answers become facts `domainAddresses`.
 */
export interface DnsNames {
  /**
   * It is resolved until all who want it have released it. Any number of times for one name.
   * @returns what releases it; repeating it does nothing
   */
  want(name: DomainName, owner: NameOwner): () => void;
  /** Undefined: nobody wants it. */
  state(name: DomainName): DomainState | undefined;
  /** Called when the addresses of a name are others, with all of them, sorted. @returns what ends it */
  onChange(listener: (name: DomainName, addresses: readonly Ip[]) => void): () => void;
}

export interface DomainState {
  /** `unresolved`: there are no answers yet. `failed`: there was none to the last questions. */
  readonly kind: 'unresolved' | 'resolved' | 'failed';
  /** Those that count: also of an agent before this one, and of answers before the last. */
  readonly addresses: readonly Ip[];
  /** Milliseconds since the last answer; absent: there has been none. */
  readonly answeredAgo?: number | undefined;
  /** Why there is no answer. */
  readonly problem?: string | undefined;
  /** Since when it has failed, in milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** What of the answers does not count. */
  readonly notes?: readonly string[] | undefined;
}
