/** What the registry of networks knows, and says of a change. */
import type { NetConf } from '../../api/net-conf.ts';
import type { Network } from '../../api/network.ts';
import type { NetworkKeys } from '../../api/network-attachment-definition.ts';
import type { NadFacts } from '../facts/nad-facts.ts';

export interface NetworkRecord {
  readonly name: string;
  readonly network: Network;
  readonly keys: NetworkKeys;
}

/** A NAD whose configuration is good, or was the last time it could be read. */
export interface NadRecord extends NadFacts {
  readonly conf: NetConf;
  /** It was rendered from the network that its network name belongs to. */
  readonly isOwn: boolean;
}

export interface NetworkChange {
  readonly before: NetworkRecord | undefined;
  readonly after: NetworkRecord | undefined;
}

export interface NadResult {
  /** What became of the networks that the NAD is and was about. */
  readonly changes: readonly NetworkChange[];
  /** Messages for the owner of the NAD. */
  readonly problems: readonly string[];
}
