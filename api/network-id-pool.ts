/**
 * NetworkIdPool, `k8s.ovn.org/v1alpha1`: which network ids may be in use anywhere. One object, written by the cluster manager
 * alone before it assigns an id, so that no restart makes it forget one (ADR 63). Agents watch it: a report that names the
 * last retirement is a report of an agent that has seen it.
 */
import { z } from 'zod';
import { messageOf } from '../base/error-message.ts';
import { parseRanges } from '../net/id-ranges.ts';
import { MAX_NETWORKS } from '../net/ids.ts';
import { describeRef, metadataSchema, refOf } from './object.ts';
import { parseWith } from './parse.ts';

/** Of the one object. */
export const NETWORK_ID_POOL = 'cluster';

/** Two billion retirements: one each second for 68 years. */
export const MAX_RETIREMENT = 2 ** 31 - 1;

/** Only so many retired ids have the name of their network: the object stays small however many there are. */
export const MAX_NAMED_RETIRED = 500;

/** @throws ApiError */
export const parseNetworkIdPool = (value: unknown): NetworkIdPool =>
  parseWith(poolSchema, value, describeRef(refOf('NetworkIdPool', value)));

const networkId = z
  .int()
  .min(1)
  .max(MAX_NETWORKS - 1);

const retiredSchema = z.object({
  id: networkId.meta({ description: 'Of a network that is deleted.', format: 'int32' }),
  network: z.string().optional().meta({ description: 'Its name in annotations: red_net.' }),
  routerKey: z.int().min(1).max(0xff_ffff).optional().meta({
    description: 'The tunnel key of its transit router, if it had one.',
    format: 'int32',
  }),
  retirement: z.int().min(1).max(MAX_RETIREMENT).meta({
    description: 'An agent whose report names an earlier one may not know yet that the network is deleted.',
    format: 'int32',
  }),
  since: z.string().meta({ description: 'When it was retired.', format: 'date-time' }),
});
export type RetiredEntry = z.output<typeof retiredSchema>;

export const poolStatusSchema = z
  .object({
    given: z
      .string()
      .max(MAX_NETWORKS * 5)
      .meta({
        description:
          'Ids of existing networks, of deleted ones until all nodes have reported their removal, and of those to be created: 1-57,59. No other id is in use.',
        pattern: '^([0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*)?$',
      }),
    retirement: z
      .int()
      .min(0)
      .max(MAX_RETIREMENT)
      .meta({ description: 'The last retirement; agents name it in their reports.', format: 'int32' }),
    retired: z.array(retiredSchema).max(MAX_NETWORKS).optional().meta({
      description: 'Ids of deleted networks that some node may still have: reserved.',
      'x-kubernetes-list-type': 'atomic',
    }),
  })
  .meta({ description: 'The ids.', 'x-kubernetes-map-type': 'atomic' });

export type PoolStatus = z.output<typeof poolStatusSchema>;

const poolSchema = z.object({
  metadata: metadataSchema,
  status: poolStatusSchema.extend({
    given: z.string().transform((text, context) => {
      try {
        return parseRanges(text, MAX_NETWORKS - 1);
      } catch (error) {
        context.addIssue({ code: 'custom', message: messageOf(error) });
        return z.NEVER;
      }
    }),
    retired: z
      .array(retiredSchema)
      .nullish()
      .transform((list): readonly RetiredEntry[] => list ?? []),
  }),
});

export type NetworkIdPool = z.output<typeof poolSchema>;
