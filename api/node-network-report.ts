/**
 * NodeNetworkReport, `k8s.ovn.org/v1alpha1`: what one node has of the cluster's networks, by its agent. One object for each
 * node, of the node's name. What is well is a set of ids; only what is not has a message, so that its size hardly depends
 * on how many networks there are.
 */
import { z } from 'zod';
import { messageOf } from '../base/error-message.ts';
import { type IdRanges, NO_IDS, parseRanges } from '../net/id-ranges.ts';
import { MAX_NETWORKS } from '../net/ids.ts';
import { VERSION_LENGTH } from './firewall-version.ts';
import { MAX_RETIREMENT } from './network-id-pool.ts';
import { describeRef, metadataSchema, refOf } from './object.ts';
import { parseWith } from './parse.ts';

/** How many networks are named with a message; of the others there are ids. */
export const MAX_EXCEPTIONS = 20;
/** Of which a report says that they fail. */
export const MAX_COMPONENTS = 16;
/** How many firewalls of a node have a message. */
export const MAX_FIREWALL_PROBLEMS = 20;
/** Each has a pod on the node: more than a kubelet takes. */
export const MAX_FIREWALLS = 2_000;
/** Of a message, in characters. */
export const MAX_MESSAGE = 256;

/** `Ready`: all of it is there. `Pending`: rendered, not all of it is there yet. `Failed`: it cannot be, as it is. */
export const NETWORK_STATES = ['Ready', 'Pending', 'Failed'] as const;
export type NetworkState = (typeof NETWORK_STATES)[number];

/** Always: a node has all networks. OnDemand: those that something on it uses, and of the others it says nothing. */
export const RENDERINGS = ['Always', 'OnDemand'] as const;

/** @throws ApiError */
export const parseNodeNetworkReport = (value: unknown): NodeNetworkReport =>
  parseWith(reportSchema, value, describeRef(refOf('NodeNetworkReport', value)));

/** Of a network's name: NAMESPACE_NAME, a label and a subdomain (RFC 1123). NADs written by hand may have longer ones. */
export const MAX_REPORTED_NAME = 63 + 1 + 253;

/** Two of every three ids, four digits each: no set of them is longer as ranges. */
const MAX_RANGES = Math.ceil(MAX_NETWORKS / 3) * '1000-1001,'.length;

const ids = (description: string) =>
  z.string().max(MAX_RANGES).meta({ description, pattern: '^([0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*)?$' });

const count = (description: string) => z.int().min(0).max(MAX_NETWORKS).meta({ description, format: 'int32' });

const componentSchema = z.object({
  component: z.string().max(63).meta({ description: 'ovn-northd, ovn-controller, ovs-vswitchd, northbound-db, ...' }),
  message: z.string().max(MAX_MESSAGE).meta({ description: 'What fails, and what that means for the node.' }),
  since: z.string().meta({ description: 'When it failed, by the clock of the node.', format: 'date-time' }),
});

const version = `[A-Za-z0-9_-]{${VERSION_LENGTH}}`;

const firewallsSchema = z.object({
  applied: z
    .string()
    .max(MAX_FIREWALLS * (VERSION_LENGTH + 1))
    .meta({
      description: 'Those that the node has applied: a hash of the uid and the generation of each.',
      pattern: `^(${version}(,${version})*)?$`,
    }),
  problems: z
    .array(
      z.object({
        firewall: z
          .string()
          .max(VERSION_LENGTH)
          .meta({ description: 'The same hash.', pattern: `^${version}$` }),
        message: z.string().max(MAX_MESSAGE).meta({ description: 'Why the node does not follow it.' }),
      }),
    )
    .max(MAX_FIREWALL_PROBLEMS)
    .optional()
    .meta({
      description: `Problems of firewalls that are not applied: the first ${MAX_FIREWALL_PROBLEMS}.`,
      'x-kubernetes-list-type': 'atomic',
    }),
});

export type ReportedFirewalls = z.output<typeof firewallsSchema>;

const exceptionSchema = z.object({
  network: z.string().max(MAX_REPORTED_NAME).meta({ description: 'Its name in annotations: red_net.' }),
  state: z.enum(['Pending', 'Failed']).meta({ description: 'Failed: it cannot be programmed with its configuration.' }),
  message: z.string().max(MAX_MESSAGE).meta({ description: 'What it waits for, or the problem.' }),
  since: z
    .string()
    .meta({ description: 'Time of the transition to that state, by the clock of the node.', format: 'date-time' }),
});
export type FailedComponent = z.output<typeof componentSchema>;
export type NetworkException = z.output<typeof exceptionSchema>;

export const reportStatusSchema = z
  .object({
    rendering: z
      .enum(RENDERINGS)
      .meta({ description: 'Always: the node has all networks. OnDemand: those that something on it uses.' }),
    observed: z.string().optional().meta({
      description:
        'When the youngest of these networks was created: the report does not cover ids that were allocated to younger ones.',
      format: 'date-time',
    }),
    retirement: z.int().min(0).max(MAX_RETIREMENT).optional().meta({
      description:
        'The last retirement of the NetworkIdPool that the agent has seen: of the ids retired up to it, the node has those that are listed here and no others.',
      format: 'int32',
    }),
    renewTime: z.string().optional().meta({
      description: 'When the agent last renewed the report, by the clock of the node.',
      format: 'date-time',
    }),
    leaseDurationSeconds: z.int().min(1).max(86_400).optional().meta({
      description: 'How long the report is valid after a renewal. Absent: until it changes.',
      format: 'int32',
    }),
    networks: z
      .object({
        ready: count('Networks that are ready.'),
        pending: count('Networks that are not ready yet.'),
        failed: count('Networks that failed.'),
      })
      .meta({ description: 'Number of networks by state.' }),
    ids: z
      .object({
        ready: ids('Ids of the networks that are ready: 0-57,59. 0 is the default network.'),
        pending: ids('Ids of the networks that are not ready yet.'),
        failed: ids('Ids of the networks that failed.'),
        leaving: ids('Ids of deleted networks of which this node still has state.').optional(),
      })
      .meta({ description: 'Which they are.' }),
    failedComponents: z.array(componentSchema).max(MAX_COMPONENTS).optional().meta({
      description:
        'Components other than the agent that the networks of the node need and that fail; root causes first. Empty: all of them work.',
      'x-kubernetes-list-type': 'atomic',
    }),
    firewalls: firewallsSchema.optional().meta({
      description: 'EgressFirewalls of namespaces with pods on the node. Absent: the agent does not report them.',
    }),
    exceptions: z
      .array(exceptionSchema)
      .max(MAX_EXCEPTIONS)
      .optional()
      .meta({
        description: `Problems of networks that are not ready: the first ${MAX_EXCEPTIONS}, those that failed before those that wait.`,
        'x-kubernetes-list-type': 'atomic',
      }),
  })
  // One owner of one value: what the server keeps of who owns which field stays a line.
  .meta({ description: 'What the node has.', 'x-kubernetes-map-type': 'atomic' });

export type ReportStatus = z.output<typeof reportStatusSchema>;

const readIds = z.string().transform((text, context): IdRanges => {
  try {
    return parseRanges(text, MAX_NETWORKS - 1);
  } catch (error) {
    context.addIssue({ code: 'custom', message: messageOf(error) });
    return z.NEVER;
  }
});

const reportSchema = z.object({
  metadata: metadataSchema,
  status: reportStatusSchema.extend({
    ids: z.object({ ready: readIds, pending: readIds, failed: readIds, leaving: readIds.default(NO_IDS) }),
    failedComponents: z.array(componentSchema).optional(),
    firewalls: firewallsSchema.nullish().transform((firewalls) => firewalls ?? undefined),
    exceptions: z
      .array(exceptionSchema)
      .nullish()
      .transform((list): readonly NetworkException[] => list ?? []),
  }),
});

export type NodeNetworkReport = z.output<typeof reportSchema>;
