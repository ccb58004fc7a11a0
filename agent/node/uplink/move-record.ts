/**
 * What was taken off a NIC when it became a port of a bridge. It is written into the Bridge's `external_ids` with the very
 * transaction that makes the bridge, before anything is moved: whoever finds the bridge half-way knows the rest, and
 * whoever takes it away knows what the NIC had.
 */
import { z } from 'zod';
import { parseJsonWith } from '../../../api/parse.ts';
import { cidrSchema, interfaceAddressSchema, ipSchema, unicastMacSchema } from '../../../api/scalars.ts';
import type { NewAddress } from '../../../datapath/netlink/address/types.ts';
import type { Route } from '../../../datapath/netlink/route/types.ts';
import type { Mac } from '../../../net/mac.ts';

/** The entry of `external_ids`. */
export const MOVE_KEY = 'ovn-udn/moved';

export type MovedAddress = Omit<NewAddress, 'link'>;
export type MovedRoute = Omit<Route, 'dev'>;

export interface MoveRecord {
  /** Absent: nothing was moved, the bridge was there before us. Such a record is only in memory. */
  readonly nic: string | undefined;
  /**
   * `moving`: the record is right, and the links are to follow it. `moved`: the bridge is right, and the record follows
   * it, so that an address that somebody gives the node later is given to the NIC in the end, too.
   */
  readonly phase: 'moving' | 'moved';
  readonly mac: Mac;
  /** In the kernel's order, which decides which address of a network is the first. */
  readonly addresses: readonly MovedAddress[];
  readonly routes: readonly MovedRoute[];
}

export const formatMoveRecord = (record: MoveRecord): string => JSON.stringify(record);

/** @throws ApiError */
export const parseMoveRecord = (text: string, bridge: string): MoveRecord =>
  parseJsonWith(schema, text, `external_ids:${MOVE_KEY} of bridge ${bridge}`) as MoveRecord;

const schema = z.strictObject({
  nic: z.string().regex(/^[^\s/:]{1,15}$/),
  phase: z.enum(['moving', 'moved']),
  mac: unicastMacSchema,
  addresses: z.array(
    z.strictObject({
      address: interfaceAddressSchema,
      broadcast: ipSchema.optional(),
      label: z.string().max(15).optional(),
      noPrefixRoute: z.boolean().optional(),
      metric: z.number().optional(),
    }),
  ),
  routes: z.array(
    z.strictObject({
      dst: cidrSchema,
      table: z.number().int().positive(),
      type: z.literal('unicast'),
      protocol: z.number().int().min(0).max(255),
      metric: z.number().int().min(0),
      via: ipSchema.optional(),
      src: ipSchema.optional(),
      mtu: z.number().int().positive().optional(),
      onlink: z.boolean().optional(),
    }),
  ),
});
