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
import { EMPTY_SET } from '../../ovsdb/codec/value.ts';
import type { OvsdbSession } from '../../ovsdb/index.ts';
import { elementsOf } from '../../ovsdb/replica/element-change.ts';
import type { ReplicaUpdate } from '../../ovsdb/replica/replica.ts';
import type { RowChange } from '../../ovsdb/replica/row.ts';
import type { Uuid } from '../../ovsdb/uuid.ts';
import { INTEGRATION_BRIDGE } from '../cni/vswitch-operations.ts';
import { BY_NAME, type NorthboundReplica } from '../databases/northbound.ts';
import type { ZoneReplica } from '../databases/zones.ts';
import type { Problem } from '../inputs/problem.ts';
import { CONNECTIONS_KEY } from '../model/ownership.ts';
import { SettledZones } from './settled-zones.ts';
import { ZoneIndex } from './zone-index.ts';
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
    zones.onUpdate((update) => keeper.onZones(update)),
    northbound.onUpdate((update) => keeper.onNorthbound(update)),
    northbound.onSynced(() => keeper.compareAll()),
    zones.onSynced(() => keeper.compareAll()),
    () => keeper.stop(),
  ];
  keeper.compareAll(0);
  return {
    problems: () => keeper.problems(),
    stop: () => {
      for (const stop of stops) stop();
    },
  };
};

const LIMITED = new Set(['Logical_Router', 'Logical_Switch', 'Logical_Switch_Port']);

const mayLimit = ({ table, before, after, columns }: RowChange): boolean =>
  LIMITED.has(table) && (before === undefined || after === undefined || columns.includes('external_ids'));

/** Compares zones that something was about, those of which something has to be written yet, and all after a connection was lost. */
class Keeper {
  readonly #options: ZoneLimitsOptions;
  readonly #index = new ZoneIndex();
  readonly #settled = new SettledZones();
  readonly #backoff = new Backoff(RETRY);
  #cancel: (() => void) | undefined;
  /** When that is due. */
  #at = Number.POSITIVE_INFINITY;
  #isStopped = false;
  #isWriting = false;
  #isAll = true;
  #failure: string | undefined;

  constructor(options: ZoneLimitsOptions) {
    this.#options = options;
  }

  compareAll(milliseconds = GATHERED_MS): void {
    this.#isAll = true;
    this.later(milliseconds);
  }

  onZones({ changes }: ReplicaUpdate): void {
    for (const { table, uuid } of changes) if (table === 'CT_Zone') this.#index.touchRow(uuid);
    this.later(GATHERED_MS);
  }

  onNorthbound({ changes }: ReplicaUpdate): void {
    const limited = changes.filter(mayLimit);
    if (limited.length === 0) return;
    for (const change of limited)
      for (const zone of zonesOf(change, this.#options.northbound)) this.#index.touchName(zone);
    this.later(GATHERED_MS);
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
    const here = zonesHere(zones, northbound, this.#index);
    if (here === undefined) return;
    if (this.#isAll) this.#index.touchAll();
    this.#isAll = false;
    const looked = here.only(this.#index.take());
    const changes = zoneChanges(looked);
    // Until there is nothing to be written of it.
    for (const { zone } of changes) this.#index.touch(zone);
    if (changes.length === 0) this.#succeeded();
    const { due, nextMs } = this.#settled.due(
      changes,
      { names: this.#index.names, rows: looked.rows },
      clock.monotonic(),
    );
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

interface Here {
  readonly datapath: Uuid;
  only(zones: ReadonlySet<number>): ZonesHere;
}

/** Undefined while the bridge is not there, or no daemon has made its datapath's row. */
const zonesHere = (zones: ZoneReplica, northbound: NorthboundReplica, index: ZoneIndex): Here | undefined => {
  const bridge = zones.findOne('Bridge', 'name', INTEGRATION_BRIDGE);
  const [root] = zones.rows('Open_vSwitch');
  const datapath = root?.datapaths[bridge?.datapath_type || 'system'];
  const row = datapath === undefined ? undefined : zones.get('Datapath', datapath);
  if (bridge === undefined || datapath === undefined || row === undefined) return undefined;
  index.follow(bridge.external_ids, row.ct_zones);
  const limitOf = (name: string): WantedLimit => limitOfZone(northbound, name);
  const only = (looked: ReadonlySet<number>): ZonesHere => {
    const names = new Map<number, string>();
    const rows = new Map<number, LimitedZone>();
    for (const zone of looked) {
      const [name, uuid] = [index.names.get(zone), row.ct_zones[zone]];
      if (name !== undefined) names.set(zone, name);
      if (uuid === undefined) continue;
      const limited = zones.get('CT_Zone', uuid);
      rows.set(zone, { uuid, limit: limited?.limit, writtenFor: limited?.external_ids[ZONE_KEY] });
    }
    return { names, limitOf, rows };
  };
  return { datapath, only };
};

/** Names of the zones that a row of the northbound database may limit. */
const zonesOf = ({ table, before, after }: RowChange, northbound: NorthboundReplica): string[] => {
  const names = [before, after].flatMap((row) => (typeof row?.['name'] === 'string' ? [row['name']] : []));
  if (table === 'Logical_Switch_Port') return names;
  const own = names.flatMap((name) => [`${name}_snat`, `${name}_dnat`]);
  // Ports without a limit of their own have that of their switch.
  const ports = table === 'Logical_Switch' ? elementsOf(after ?? before, 'ports') : EMPTY_SET;
  return [...own, ...Array.from(ports, (port) => northbound.get('Logical_Switch_Port', port as Uuid)?.name ?? '')];
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
