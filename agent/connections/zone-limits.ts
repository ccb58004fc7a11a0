/**
 * Limits the connections of each conntrack zone, by rows of CT_Zone in the Open_vSwitch database, which hold without the agent.
 *
 * ovn-controller would do it by itself (ovn-nb(5), `ct-zone-limit`), but up to OVN 25.03 at least it does not end when the number of a zone
 * that has gone is given to another one at once, as with pods and networks that come and go: its list of what is to be written has both, the
 * one takes away the limit that the other one sets, and every transaction changes something, so that the list is never done with. Three
 * daemons then use a processor each, and ovs-vswitchd logs a thousand lines a second, until ovn-controller is restarted (ADR 138).
 *
 * It still takes away the limit of a zone that it gives to somebody, and does so until it has seen a transaction that changes nothing. So
 * nothing is written before the zones have been as they are for a moment.
 */

import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/error-message.ts';
import type { OvsdbSession } from '../../ovsdb/index.ts';
import type { ReplicaUpdate } from '../../ovsdb/replica/replica.ts';
import { INTEGRATION_BRIDGE } from '../cni/vswitch-operations.ts';
import { BY_NAME, type NorthboundReplica } from '../databases/northbound.ts';
import type { ZoneReplica } from '../databases/zones.ts';
import type { Problem } from '../inputs/problem.ts';
import { CONNECTIONS_KEY } from '../model/ownership.ts';
import { zoneNames } from './zone-owners.ts';
import { type LimitedZone, ZONE_KEY, type ZonesHere, zoneOperations } from './zone-plan.ts';

export interface ZoneLimitsOptions {
  readonly node: string;
  readonly northbound: NorthboundReplica;
  readonly zones: ZoneReplica;
  readonly session: Pick<OvsdbSession, 'transact'>;
  readonly clock: Pick<Clock, 'schedule'>;
  readonly onError: (error: unknown) => void;
}

export interface ZoneLimits {
  problems(): readonly Problem[];
  stop(): void;
}

/** ovn-controller's next round without news takes some milliseconds. */
const SETTLED_MS = 200;
const RETRY_MS = 2000;

export const keepZoneLimits = (options: ZoneLimitsOptions): ZoneLimits => {
  const keeper = new Keeper(options);
  const { northbound, zones } = options;
  const stops = [
    zones.onUpdate(() => keeper.later(SETTLED_MS)),
    northbound.onUpdate((update) => {
      if (mayLimit(update)) keeper.later(SETTLED_MS);
    }),
    northbound.onSynced(() => keeper.later(SETTLED_MS)),
    zones.onSynced(() => keeper.later(SETTLED_MS)),
    () => keeper.stop(),
  ];
  keeper.later(0);
  return {
    problems: () => keeper.problems(),
    stop: () => {
      for (const stop of stops) stop();
    },
  };
};

const LIMITED = new Set(['Logical_Router', 'Logical_Switch', 'Logical_Switch_Port']);

const mayLimit = ({ changes }: ReplicaUpdate): boolean =>
  changes.some(
    ({ table, before, after, columns }) =>
      LIMITED.has(table) && after !== undefined && (before === undefined || columns.includes('external_ids')),
  );

/** Compares all zones of the node each time, at most once in `SETTLED_MS`: the bridge's map of them arrives as a whole, too. */
class Keeper {
  readonly #options: ZoneLimitsOptions;
  #cancel: (() => void) | undefined;
  #isStopped = false;
  #isWriting = false;
  #failure: string | undefined;

  constructor(options: ZoneLimitsOptions) {
    this.#options = options;
  }

  later(milliseconds: number): void {
    if (this.#isStopped || this.#cancel !== undefined) return;
    this.#cancel = this.#options.clock.schedule(milliseconds, () => {
      this.#cancel = undefined;
      void this.#write();
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
  }

  problems(): readonly Problem[] {
    if (this.#failure === undefined) return [];
    const message = `the limits of connections cannot be written, so that new pods and networks may have any number: ${this.#failure}`;
    return [{ object: `Node/${this.#options.node}`, message, severity: 'warning', cause: 'connections-unlimited' }];
  }

  async #write(): Promise<void> {
    const { northbound, zones, session, onError } = this.#options;
    // What is not current comes as an update.
    if (!northbound.synced || !zones.synced) return;
    if (this.#isWriting) {
      this.later(SETTLED_MS);
      return;
    }
    const here = zonesHere(zones, northbound);
    const operations = here === undefined ? [] : zoneOperations(here);
    if (operations.length === 0) {
      this.#failure = undefined;
      return;
    }
    this.#isWriting = true;
    try {
      await session.transact(operations);
      this.#failure = undefined;
    } catch (error) {
      this.#failure = messageOf(error);
      if (!this.#isStopped) onError(error);
      this.later(RETRY_MS);
    } finally {
      this.#isWriting = false;
    }
  }
}

/** Undefined while the bridge is not there, or no daemon has made its datapath's row. */
const zonesHere = (zones: ZoneReplica, northbound: NorthboundReplica): ZonesHere | undefined => {
  const bridge = zones.findOne('Bridge', 'name', INTEGRATION_BRIDGE);
  const [root] = zones.rows('Open_vSwitch');
  const datapath = root?.datapaths[bridge?.datapath_type || 'system'];
  const row = datapath === undefined ? undefined : zones.get('Datapath', datapath);
  if (bridge === undefined || datapath === undefined || row === undefined) return undefined;
  const rows = Object.entries(row.ct_zones).map(([zone, uuid]): [number, LimitedZone] => {
    const limited = zones.get('CT_Zone', uuid);
    return [Number(zone), { uuid, limit: limited?.limit, isOurs: limited?.external_ids[ZONE_KEY] !== undefined }];
  });
  const limitOf = (name: string): number | undefined => limitOfZone(northbound, name);
  return { datapath, names: zoneNames(bridge.external_ids), limitOf, rows: new Map(rows) };
};

/** Of a port, which may have its own, or has that of its switch; of a router or a switch, which have two zones. */
const limitOfZone = (northbound: NorthboundReplica, zone: string): number | undefined => {
  const port = northbound.findOne('Logical_Switch_Port', 'name', zone);
  if (port !== undefined) {
    const [parent] = northbound.store.parentsOf(port._uuid);
    return limitOfRow(port) ?? limitOfRow(parent === undefined ? undefined : northbound.get('Logical_Switch', parent));
  }
  const name = /^(.+)_[sd]nat$/.exec(zone)?.[1];
  if (name === undefined) return undefined;
  const row =
    northbound.findOne('Logical_Router', BY_NAME, name) ?? northbound.findOne('Logical_Switch', BY_NAME, name);
  return limitOfRow(row);
};

interface LimitedRow {
  readonly external_ids: Readonly<Record<string, string>>;
}

const limitOfRow = (row: LimitedRow | undefined): number | undefined => {
  const limit = row?.external_ids[CONNECTIONS_KEY];
  return limit === undefined ? undefined : Number(limit);
};
