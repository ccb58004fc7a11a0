/**
 * Limits the connections of each conntrack zone, by rows of CT_Zone in the Open_vSwitch database, which hold without the agent.
 *
 * ovn-controller would do it by itself (ovn-nb(5), `ct-zone-limit`), but up to OVN 25.03 at least it does not end when the number of a zone
 * that has gone is given to another one at once, as with pods and networks that come and go: its list of what is to be written has both, the
 * one takes away the limit that the other one sets, and every transaction changes something, so that the list is never done with. Three
 * daemons then use a processor each, and ovs-vswitchd logs thousands of lines a second, until ovn-controller is restarted (ADR 138).
 *
 * It still takes away the limit of a zone that it gives to a port or a router, for a while: `SettledZones` waits until it is done.
 */
import { Backoff } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/error-message.ts';
import type { OvsdbSession } from '../../ovsdb/index.ts';
import type { ReplicaUpdate } from '../../ovsdb/replica/replica.ts';
import type { Uuid } from '../../ovsdb/uuid.ts';
import { INTEGRATION_BRIDGE } from '../cni/vswitch-operations.ts';
import { BY_NAME, type NorthboundReplica } from '../databases/northbound.ts';
import type { ZoneReplica } from '../databases/zones.ts';
import type { Problem } from '../inputs/problem.ts';
import { CONNECTIONS_KEY } from '../model/ownership.ts';
import { SettledZones } from './settled-zones.ts';
import { zoneNames } from './zone-owners.ts';
import {
  type LimitedZone,
  type WantedLimit,
  ZONE_KEY,
  type ZoneChange,
  type ZonesHere,
  zoneChanges,
  zoneOperations,
} from './zone-plan.ts';

export interface ZoneLimitsOptions {
  readonly node: string;
  readonly northbound: NorthboundReplica;
  readonly zones: ZoneReplica;
  readonly session: Pick<OvsdbSession, 'transact'>;
  readonly clock: Pick<Clock, 'monotonic' | 'schedule'>;
  readonly onError: (error: unknown) => void;
}

export interface ZoneLimits {
  problems(): readonly Problem[];
  stop(): void;
}

/** Between an event and a comparison of all zones: events come in bursts. */
const GATHERED_MS = 100;
const RETRY = { minMs: 1000, maxMs: 30_000 };

export const keepZoneLimits = (options: ZoneLimitsOptions): ZoneLimits => {
  const keeper = new Keeper(options);
  const { northbound, zones } = options;
  const stops = [
    zones.onUpdate(() => keeper.later(GATHERED_MS)),
    northbound.onUpdate((update) => {
      if (mayLimit(update)) keeper.later(GATHERED_MS);
    }),
    northbound.onSynced(() => keeper.later(GATHERED_MS)),
    zones.onSynced(() => keeper.later(GATHERED_MS)),
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
      LIMITED.has(table) && (before === undefined || after === undefined || columns.includes('external_ids')),
  );

/** Compares all zones of the node each time: the bridge's map of them arrives as a whole, too. */
class Keeper {
  readonly #options: ZoneLimitsOptions;
  readonly #settled = new SettledZones();
  readonly #backoff = new Backoff(RETRY);
  #cancel: (() => void) | undefined;
  /** When that is due. */
  #at = Number.POSITIVE_INFINITY;
  #isStopped = false;
  #isWriting = false;
  #failure: string | undefined;

  constructor(options: ZoneLimitsOptions) {
    this.#options = options;
  }

  later(milliseconds: number): void {
    const { clock } = this.#options;
    const at = clock.monotonic() + milliseconds;
    if (this.#isStopped || at >= this.#at) return;
    this.#cancel?.();
    this.#at = at;
    this.#cancel = clock.schedule(milliseconds, () => {
      this.#at = Number.POSITIVE_INFINITY;
      void this.#compare();
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

  async #compare(): Promise<void> {
    const { northbound, zones, clock } = this.#options;
    // What is not current comes as an update.
    if (!northbound.synced || !zones.synced) return;
    if (this.#isWriting) return this.later(GATHERED_MS);
    const here = zonesHere(zones, northbound);
    if (here === undefined) return;
    const changes = zoneChanges(here);
    if (changes.length === 0) this.#succeeded();
    const { due, nextMs } = this.#settled.due(changes, here, clock.monotonic());
    if (nextMs !== undefined) this.later(nextMs);
    if (due.length > 0) await this.#write(here.datapath, due);
  }

  async #write(datapath: Uuid, changes: readonly ZoneChange[]): Promise<void> {
    this.#isWriting = true;
    try {
      await this.#options.session.transact(zoneOperations(datapath, changes));
      this.#settled.written(changes);
      this.#succeeded();
    } catch (error) {
      const message = messageOf(error);
      if (!this.#isStopped && message !== this.#failure) this.#options.onError(error);
      this.#failure = message;
      this.later(this.#backoff.nextMs());
    } finally {
      this.#isWriting = false;
    }
  }

  #succeeded(): void {
    this.#failure = undefined;
    this.#backoff.reset();
  }
}

interface Here extends ZonesHere {
  readonly datapath: Uuid;
}

/** Undefined while the bridge is not there, or no daemon has made its datapath's row. */
const zonesHere = (zones: ZoneReplica, northbound: NorthboundReplica): Here | undefined => {
  const bridge = zones.findOne('Bridge', 'name', INTEGRATION_BRIDGE);
  const [root] = zones.rows('Open_vSwitch');
  const datapath = root?.datapaths[bridge?.datapath_type || 'system'];
  const row = datapath === undefined ? undefined : zones.get('Datapath', datapath);
  if (bridge === undefined || datapath === undefined || row === undefined) return undefined;
  const rows = Object.entries(row.ct_zones).map(([zone, uuid]): [number, LimitedZone] => {
    const limited = zones.get('CT_Zone', uuid);
    return [Number(zone), { uuid, limit: limited?.limit, writtenFor: limited?.external_ids[ZONE_KEY] }];
  });
  const limitOf = (name: string): WantedLimit => limitOfZone(northbound, name);
  return { datapath, names: zoneNames(bridge.external_ids), limitOf, rows: new Map(rows) };
};

/** Of a port, which may have its own, or has that of its switch; of a router or a switch, which have two zones. */
const limitOfZone = (northbound: NorthboundReplica, zone: string): WantedLimit => {
  const port = northbound.findOne('Logical_Switch_Port', 'name', zone);
  if (port !== undefined) {
    const own = limitOfRow(port);
    if (own !== 'none') return own;
    const [parent] = northbound.store.parentsOf(port._uuid);
    return limitOfRow(parent === undefined ? undefined : northbound.get('Logical_Switch', parent));
  }
  const name = /^(.+)_[sd]nat$/.exec(zone)?.[1];
  if (name === undefined) return 'unknown';
  return limitOfRow(
    northbound.findOne('Logical_Router', BY_NAME, name) ?? northbound.findOne('Logical_Switch', BY_NAME, name),
  );
};

interface LimitedRow {
  readonly external_ids: Readonly<Record<string, string>>;
}

const limitOfRow = (row: LimitedRow | undefined): WantedLimit => {
  if (row === undefined) return 'unknown';
  const limit = row.external_ids[CONNECTIONS_KEY];
  return limit === undefined ? 'none' : Number(limit);
};
