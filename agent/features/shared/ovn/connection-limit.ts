/**
 * How many connections a network may have on this node, so that no tenant fills the table that all share. Rows say it, and
 * `ZoneLimits` gives it to the datapath for each of their conntrack zones, where what goes beyond it is dropped before it is
 * noted. A connection to the outside passes the gateway router, so the network begins no more in the zone which the gateway bridge shares
 * among all (ADR 70).
 *
 * Every attachment of a pod has a zone of its own. What they may have together does not grow with their number, until each has the least.
 */
import type { NetworkFact } from '../../../model/facts.ts';
import { CONNECTIONS_KEY } from '../../../model/ownership.ts';
import type { View } from '../../../model/view.ts';

type Limit = Readonly<Record<string, string>>;

/** `external_ids` of a network's routers. Those of the default network have the host's own zone. */
export const routerConnections = ({ role }: Pick<NetworkFact, 'role'>, { connectionLimit }: View): Limit =>
  role === 'default' ? NONE : limit(connectionLimit);

/** `external_ids` of the switch that pods are on: of each of its ports. */
export const portConnections = ({ role, name }: Pick<NetworkFact, 'role' | 'name'>, view: View): Limit => {
  const { connectionLimit } = view;
  if (connectionLimit === undefined) return NONE;
  // Pods of the default network belong to many tenants: none gets less because others have pods, too.
  if (role === 'default') return limit(connectionLimit);
  const share = Math.floor((PODS_TOGETHER * connectionLimit) / view.networkShares(name));
  return limit(Math.min(connectionLimit, Math.max(LEAST_OF_PORT, share)));
};

/** `external_ids` of the node's own port, which what all pods send to the host passes. */
export const managementConnections = ({ role }: Pick<NetworkFact, 'role'>, { connectionLimit }: View): Limit =>
  connectionLimit === undefined ? NONE : limit(role === 'default' ? ANY_NUMBER : connectionLimit);

const limit = (connections: number | undefined): Limit =>
  connections === undefined ? NONE : { [CONNECTIONS_KEY]: String(connections) };

const NONE: Limit = {};
/** The most that there is: 0 is no limit to Linux' datapath, and no connection at all to OVS' userspace datapath. */
const ANY_NUMBER = 0xffff_ffff;
/** What the pods of a network may have together, in limits of the network: a quarter of the table by default. */
const PODS_TOGETHER = 4;
/** A pod has use of some, however many there are. */
const LEAST_OF_PORT = 1024;
