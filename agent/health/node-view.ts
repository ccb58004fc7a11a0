/** What components say of themselves: one small request to each database, and a sign of life of ovs-vswitchd. */
import { z } from 'zod';
import { echo } from '../../datapath/openflow/wire/echo.ts';
import { openVSwitch } from '../../ovsdb/models/open-vswitch.gen.ts';
import { ovnNorthbound } from '../../ovsdb/models/ovn-northbound.gen.ts';
import { ovnSouthbound } from '../../ovsdb/models/ovn-southbound.gen.ts';
import type { OvsdbSession } from '../../ovsdb/session/session.ts';
import type { Operation } from '../../ovsdb/transact/operation.ts';
import type { OperationResult } from '../../ovsdb/transact/outcome.ts';
import { Transaction } from '../../ovsdb/transact/transaction.ts';
import type { WireRow } from '../../ovsdb/wire/notation.ts';
import { INTEGRATION_BRIDGE } from '../model/host-names.ts';

export interface NorthboundNumbers {
  /** `nb_cfg`: what was asked. */
  readonly asked: number;
  /** `sb_cfg`: what ovn-northd has written to the southbound database. */
  readonly northd: number;
}

export interface SouthboundNumbers {
  /** `SB_Global.nb_cfg`: what ovn-controller is to reach. */
  readonly asked: number;
  /** `Chassis_Private.nb_cfg`; undefined: this node has no row. */
  readonly controller: number | undefined;
  /** The name of the node's chassis that was looked for; undefined: Open vSwitch has no `external_ids:system-id`. */
  readonly chassis: string | undefined;
  /** The name by which this node is registered where it is not that one: the database is the node's own. */
  readonly otherName: string | undefined;
}

export interface SwitchNumbers {
  /** `ovn-nb-cfg` of br-int, where ovn-controller writes what it has reached; undefined: it never did. */
  readonly controller: number | undefined;
}

/** Each rejects when it is not answered. */
export interface NodeView {
  /** @param raise asks for the next number first */
  northbound(raise: boolean, signal: AbortSignal): Promise<NorthboundNumbers>;
  southbound(signal: AbortSignal): Promise<SouthboundNumbers>;
  openvswitch(signal: AbortSignal): Promise<SwitchNumbers>;
  vswitchd(signal: AbortSignal): Promise<object>;
  /** Writes something that means nothing, and takes it back. */
  writeSouthbound(signal: AbortSignal): Promise<void>;
  writeOpenvswitch(signal: AbortSignal): Promise<void>;
}

type Session = Pick<OvsdbSession, 'transact' | 'state'>;

export interface ViewedEdges {
  readonly northbound: Session;
  readonly southbound: Session;
  readonly openvswitch: Session;
  /** `external_ids:system-id` as it is now: somebody may change it. */
  readonly chassis: () => string | undefined;
  /** The folder of ovs-vswitchd's sockets. */
  readonly runDirectory: string;
}

export const nodeView = ({ northbound, southbound, openvswitch, chassis, runDirectory }: ViewedEdges): NodeView => ({
  northbound: async (raise, signal) => {
    const transaction = new Transaction(ovnNorthbound);
    if (raise) transaction.mutate('NB_Global', [], 'nb_cfg', '+=', 1);
    transaction.select('NB_Global', [], ['nb_cfg', 'sb_cfg']);
    const row = rowOf((await transact(northbound, transaction.operations, signal)).at(-1), 'NB_Global');
    return { asked: Number(row['nb_cfg']), northd: Number(row['sb_cfg']) };
  },
  southbound: async (signal) => {
    const name = chassis();
    const { operations } = new Transaction(ovnSouthbound)
      .select('SB_Global', [], ['nb_cfg'])
      .select('Chassis_Private', [], ['name', 'nb_cfg']);
    const [global, registered] = await transact(southbound, operations, signal);
    const rows = registered?.rows ?? [];
    const controller = rows.find((row) => row['name'] === name)?.['nb_cfg'];
    const [other] = controller === undefined ? rows : [];
    return {
      asked: Number(rowOf(global, 'SB_Global')['nb_cfg']),
      controller: controller === undefined ? undefined : Number(controller),
      chassis: name,
      otherName: other && String(other['name']),
    };
  },
  openvswitch: async (signal) => {
    const { operations } = new Transaction(openVSwitch).select('Bridge', BR_INT, ['external_ids']);
    const [bridge] = await transact(openvswitch, operations, signal);
    return { controller: reachedBy(rowOf(bridge, `Bridge ${INTEGRATION_BRIDGE}`)['external_ids']) };
  },
  vswitchd: async (signal) => {
    await echo({ bridge: INTEGRATION_BRIDGE, path: `${runDirectory}/${INTEGRATION_BRIDGE}.mgmt` }, signal);
    return {};
  },
  writeSouthbound: async (signal) => {
    const [insert, remove] = [new Transaction(ovnSouthbound), new Transaction(ovnSouthbound)];
    insert.mutate('SB_Global', [], 'external_ids', 'insert', PROBE);
    remove.mutate('SB_Global', [], 'external_ids', 'delete', [PROBE_KEY]);
    for (const { operations } of [insert, remove]) await transact(southbound, operations, signal);
  },
  // Not `Open_vSwitch.external_ids`, at which ovn-controller looks.
  writeOpenvswitch: async (signal) => {
    const [insert, remove] = [new Transaction(openVSwitch), new Transaction(openVSwitch)];
    insert.mutate('Bridge', BR_INT, 'external_ids', 'insert', PROBE);
    remove.mutate('Bridge', BR_INT, 'external_ids', 'delete', [PROBE_KEY]);
    for (const { operations } of [insert, remove]) await transact(openvswitch, operations, signal);
  },
});

const BR_INT = [['name', '==', INTEGRATION_BRIDGE]] as const;
const PROBE_KEY = 'ovn-udn-write-probe';
const PROBE = { [PROBE_KEY]: 'true' };

/** A session that has no connection says why it gets none. */
const transact = (session: Session, operations: readonly Operation[], signal: AbortSignal) => {
  if (session.state.kind === 'waiting') throw session.state.error;
  return session.transact(operations, signal);
};

const rowOf = (result: OperationResult | undefined, what: string): WireRow => {
  const [row] = result?.rows ?? [];
  if (row === undefined) throw new Error(`${what} has no row`);
  return row;
};

/** RFC 7047, section 5.1, `<map>`. */
const mapSchema = z.tuple([z.literal('map'), z.array(z.tuple([z.string(), z.string()]))]);

const reachedBy = (externalIds: unknown): number | undefined => {
  const [, pairs] = mapSchema.parse(externalIds);
  const reached = pairs.find(([key]) => key === 'ovn-nb-cfg')?.[1];
  return reached === undefined ? undefined : Number(reached);
};
