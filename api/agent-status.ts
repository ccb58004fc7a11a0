/**
 * What an agent tells of its node over its status socket, as JSON: `GET /v1/networks`, `/v1/pods`, `/v1/problems`.
 * udnctl reads it; the shapes grow, they do not change.
 */
import { z } from 'zod';

/** `pending`: known and not in place yet. */
export type ProgrammingState = 'ready' | 'pending' | 'error';

const stateSchema = z.enum(['ready', 'pending', 'error']);

export const networkStatusSchema = z.object({
  name: z.string(),
  id: z.int(),
  /** The NADs of the network, by key. */
  nads: z.array(z.string()),
  topology: z.enum(['layer2', 'layer3', 'localnet']),
  role: z.enum(['default', 'primary', 'secondary']),
  mtu: z.int(),
  /** `10.0.0.0/16`, on layer 3 with the prefix length of a node's part: `10.0.0.0/16/24`. */
  subnets: z.array(z.string()),
  /** This node's part; empty on layer 2. */
  nodeSubnets: z.array(z.string()),
  /** Pods of this node that are attached. */
  pods: z.int(),
  state: stateSchema,
  /** What it waits for, or what is wrong. */
  message: z.string().optional(),
});

export const podAttachmentStatusSchema = z.object({
  network: z.string(),
  nad: z.string(),
  role: z.string(),
  interface: z.string(),
  addresses: z.array(z.string()),
  mac: z.string().optional(),
  /** The OVN port. */
  port: z.string(),
  /** The OVS port, once a container runtime has asked for it. */
  hostInterface: z.string().optional(),
  sandbox: z.string().optional(),
  /** ovn-controller has installed its flows. */
  installed: z.boolean(),
});

export const podStatusSchema = z.object({
  namespace: z.string(),
  name: z.string(),
  uid: z.string(),
  attachments: z.array(podAttachmentStatusSchema),
  state: stateSchema,
  message: z.string().optional(),
});

export const problemSchema = z.object({
  object: z.string(),
  severity: z.enum(['error', 'warning', 'info']),
  message: z.string(),
});

export type NetworkStatus = z.output<typeof networkStatusSchema>;
export type PodAttachmentStatus = z.output<typeof podAttachmentStatusSchema>;
export type PodStatus = z.output<typeof podStatusSchema>;
export type ProblemStatus = z.output<typeof problemSchema>;
