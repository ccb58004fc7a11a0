/**
 * `status` of UserDefinedNetwork and ClusterUserDefinedNetwork. All of it is bounded: what there is one of per pod or per
 * node is counted, and of what is wrong the first few are named.
 */
import { z } from 'zod';
import { MAX_NETWORKS } from '../net/ids.ts';
import { conditionSchema } from './condition.ts';

/** How many of a kind are named; the others are counted. */
export const MAX_NAMED = 10;

const count = (description: string) => z.int().min(0).meta({ description, format: 'int64' });

const vrfSchema = z
  .object({
    name: z
      .string()
      .meta({ description: 'Name of the link; a node that has a link of that name uses mp<id>-udn-vrf.' }),
    table: z.int().min(0).meta({ description: 'Its routing table.', format: 'int64' }),
  })
  .meta({ description: "Where the hosts' routes of a primary network are, the same on every node." });

const namedNodes = (why: string, description: string) =>
  z
    .array(
      z.object({
        node: z.string().meta({ description: 'Name of the node.' }),
        message: z.string().max(1024).meta({ description: why }),
      }),
    )
    .max(MAX_NAMED)
    .optional()
    .meta({ description, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['node'] });

const nodesSchema = z
  .object({
    total: count('Nodes of the cluster.'),
    summary: z.string().max(32).optional().meta({
      description:
        'Nodes that have programmed the network, of those that need it: 2/3. Updated with a delay of seconds.',
    }),
    allocated: count('Nodes that have a subnet of every family of the network. On layer 3 only.').optional(),
    failed: count('Nodes without a subnet. On layer 3 only.').optional(),
    failures: namedNodes('Why it has no subnet.', `The first ${MAX_NAMED} without a subnet, by name.`),
    ready: count('Nodes whose agents report it Ready. Updated with a delay of seconds.').optional(),
    pending: count('Nodes whose agents have not programmed all of it yet.').optional(),
    failing: count('Nodes whose agents report that it failed.').optional(),
    silent: count('Nodes whose agents have not reported, or have stopped renewing their reports.').optional(),
    problems: namedNodes('Problem that its agent reports.', `The first ${MAX_NAMED} that failed, by name.`),
  })
  .meta({
    description:
      'State of the nodes. A node that renders networks on demand and does not use this one is not counted as ready, pending or failing.',
  });

const usageSchema = z.object({
  subnet: z.string().meta({ description: 'One of the subnets.' }),
  unit: z
    .enum(['Addresses', 'NodeSubnets'])
    .meta({ description: 'Addresses or node subnets that the cluster allocates from it.' }),
  used: count('Number in use.'),
  free: count('Number left. Absent: more than 2^53.').optional(),
});

const blockedBySchema = z
  .object({
    pods: count('How many pods.'),
    names: z
      .array(z.string())
      .max(MAX_NAMED)
      .meta({
        description: `The first ${MAX_NAMED} of them, as namespace/name.`,
        'x-kubernetes-list-type': 'atomic',
      }),
  })
  .meta({ description: 'The pods that a deletion waits for: of the network, or of a namespace that left it.' });

export const networkStatusSchema = z
  .object({
    conditions: z
      .array(conditionSchema)
      .optional()
      .meta({
        description: 'Conditions of the network.',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['type'],
      }),
    networkName: z.string().optional().meta({ description: 'Its name in annotations, in OVN and in metrics.' }),
    networkID: z
      .int()
      .min(1)
      .max(MAX_NETWORKS - 1)
      .optional()
      .meta({ description: 'Network id, unique in the cluster.', format: 'int32' }),
    vrf: vrfSchema.optional(),
    subnets: z.array(z.string()).optional().meta({
      description: 'Its subnets; on layer 3 with the prefix length of the part of a node: 10.0.0.0/16/24.',
      'x-kubernetes-list-type': 'atomic',
    }),
    nodes: nodesSchema.optional(),
    pods: count('Pods that are attached and have not completed. Updated with a delay of seconds.').optional(),
    usage: z
      .array(usageSchema)
      .optional()
      .meta({
        description:
          'How full its subnets are. Updated with a delay of seconds. On layer 3 the nodes allocate the addresses.',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['subnet'],
      }),
    blockedBy: blockedBySchema.optional(),
  })
  .meta({ description: 'Observed state of the network.' });

export type NetworkStatus = z.output<typeof networkStatusSchema>;
/** All but the conditions. */
export type NetworkStatusFields = Omit<NetworkStatus, 'conditions'>;
