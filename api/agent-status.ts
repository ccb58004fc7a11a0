/**
 * What an agent reports about its node over its status socket, as JSON: `GET /v1/networks`, `/v1/pods`, `/v1/problems`,
 * `/v1/health`, `/v1/node`, `/v1/wanted`, `/v1/differences`, `/v1/services/NAMESPACE/NAME`, `/v1/services/ADDRESS:PORT`; and what can be
 * changed there: `GET` and `PUT /v1/log-level`. udnctl reads it; the shapes grow, they do not change.
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
  /** What it waits for, or the problem. */
  message: z.string().optional(),
  /** Its gateway router's addresses towards the outside, and its management port's towards the host; IPv4 first. */
  masquerade: z.object({ gateway: z.array(z.string()), management: z.array(z.string()) }).optional(),
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
  /** Its port is closed: another pod of the same virtual machine, `namespace/name`, has the addresses now. */
  standbyFor: z.string().optional(),
});

export const podStatusSchema = z.object({
  namespace: z.string(),
  name: z.string(),
  uid: z.string(),
  attachments: z.array(podAttachmentStatusSchema),
  state: stateSchema,
  message: z.string().optional(),
  /** What its annotations ask for and nothing follows. */
  ignored: z.array(z.string()).optional(),
  /** Why what it is attached to is not in its annotation. */
  unreported: z.string().optional(),
});

export const problemSchema = z.object({
  object: z.string(),
  severity: z.enum(['error', 'warning', 'info']),
  message: z.string(),
  /** One of `api/problem-causes.ts`, or one that a newer agent knows. */
  cause: z.string().default('other'),
  /** The cause of another problem, which this one follows from. */
  because: z.string().optional(),
  /** What problems of one cause have in common, a part of the message; absent: each has a message of its own. */
  reason: z.string().optional(),
});

/** Something that the node's networks need beside the agent. */
export const componentStatusSchema = z.object({
  component: z.string(),
  /** `unknown`: what it is asked by has failed, or it was not asked yet. */
  state: z.enum(['working', 'failed', 'unknown']),
  /** When it came to this state, by the clock of the node. */
  since: z.string(),
  /** What fails and what that means; absent while it works. */
  message: z.string().optional(),
});

export const nodeStatusSchema = z.object({
  name: z.string(),
  /** Absent while unknown, and of a node without gateways. */
  gateway: z
    .object({
      mode: z.enum(['shared', 'local']),
      bridge: z.string(),
      /** The bridge's port to the outside. */
      uplink: z.string().optional(),
      mac: z.string(),
      /** With their prefix lengths. */
      addresses: z.array(z.string()),
      nextHops: z.array(z.string()),
    })
    .optional(),
});

/** The places where the agent programs things. */
export const BACKENDS = ['northbound', 'southbound', 'openvswitch', 'openflow', 'host', 'nftables'] as const;

const backendSchema = z.enum(BACKENDS);
const ownersSchema = z.array(z.string());

/** Something that the agent wants to be there. */
export const desiredSchema = z.object({
  backend: backendSchema,
  key: z.string(),
  /** Who wants it: the feature and what it is about, `layer3:red_net`. */
  owners: ownersSchema,
  /** The network that it belongs to; absent for what is the node's own. */
  network: z.string().optional(),
  /** Why it is not there, as far as the agent knows without looking. */
  problem: z.string().optional(),
});

/** What is not as desired, found by reading everything. */
export const differenceSchema = z.object({
  backend: backendSchema,
  key: z.string(),
  /** `missing`: desired but absent. `different`: not as desired. `unwanted`: owned but not desired. */
  kind: z.enum(['missing', 'different', 'unwanted']),
  /** Empty when no owner desires it. */
  owners: ownersSchema,
  network: z.string().optional(),
  /** As the place's own tools write it. */
  wanted: z.string().optional(),
  actual: z.string().optional(),
  /** The error that the agent got when it tried to change that; absent: it is about to try. */
  problem: z.string().optional(),
});

/** Something that is desired, and that this machine cannot have at all. */
export const unsupportedSchema = z.object({
  backend: backendSchema,
  key: z.string(),
  network: z.string().optional(),
  /** A message without a full stop: `this kernel has no VRF`. */
  message: z.string(),
});

export const differencesSchema = z.object({
  differences: z.array(differenceSchema),
  /** Places that could not be read, and why: nothing is said of them. */
  unreadable: z.array(z.object({ backend: backendSchema, message: z.string() })),
  unsupported: z.array(unsupportedSchema).default([]),
});

const endpointSchema = z.object({ ip: z.string(), node: z.string().optional() });
const servicePortSchema = z.object({ name: z.string(), protocol: z.string(), port: z.int() });

/** A row of OVN's northbound database that the agent wants for a Service. */
export const balancerSchema = z.object({
  /** As in `/v1/wanted`. */
  key: z.string(),
  name: z.string(),
  /** `tcp` */
  protocol: z.string(),
  /** `address:port` → where it is sent, with commas between. */
  vips: z.record(z.string(), z.string()),
  /** Keys of the rows that refer to it: groups, switches, routers. */
  places: z.array(z.string()),
});

/** A Service with ClusterIPs, as this node knows it. */
export const serviceStatusSchema = z.object({
  namespace: z.string(),
  name: z.string(),
  /** Absent while its namespace waits for one. */
  network: z.string().optional(),
  /** Why nothing is desired for it here. */
  message: z.string().optional(),
  clusterIps: z.array(z.string()),
  /** `externalIPs` and addresses of load balancers. */
  otherIps: z.array(z.string()),
  ports: z.array(servicePortSchema),
  slices: z.array(
    z.object({
      name: z.string(),
      /** For the default network by Kubernetes, for a primary one by the cluster manager, or by hand. */
      madeFor: z.enum(['default', 'primary', 'any']),
      /** Of one that was made for a primary network. */
      network: z.string().optional(),
      family: z.literal([4, 6]),
      /** It is for the Service's network. */
      counts: z.boolean(),
      ports: z.array(servicePortSchema),
      /** Those that are neither are not known here. */
      ready: z.array(endpointSchema),
      terminating: z.array(endpointSchema),
    }),
  ),
  /** Addresses that its network's load balancers must not send to. */
  refused: z.array(z.string()),
  loadBalancers: z.array(balancerSchema),
});

export const logLevelStatusSchema = z.object({
  level: z.string(),
  /** From the command line or the environment: what a restart brings back. */
  configured: z.string(),
  /** When the configured level comes back by itself, by the clock of the node. */
  revertsAt: z.string().optional(),
});

/** Levels that a running agent can be set to. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const;

export const logLevelChangeSchema = z.strictObject({
  level: z.enum(LOG_LEVELS),
  /** Then the configured level comes back; absent: at the next restart. A day at most. */
  forSeconds: z.number().positive().max(86_400).optional(),
  /** Who asks, for the agent's log: the socket is root's, which all who open it are. */
  by: z.string().min(1).max(200),
});

export type LogLevelStatus = z.output<typeof logLevelStatusSchema>;
export type LogLevelChange = z.output<typeof logLevelChangeSchema>;
export type BalancerStatus = z.output<typeof balancerSchema>;
export type ServiceStatus = z.output<typeof serviceStatusSchema>;
export type ComponentStatus = z.output<typeof componentStatusSchema>;
export type NodeStatus = z.output<typeof nodeStatusSchema>;
export type BackendName = z.output<typeof backendSchema>;
export type DesiredStatus = z.output<typeof desiredSchema>;
export type DifferenceStatus = z.output<typeof differenceSchema>;
export type UnsupportedStatus = z.output<typeof unsupportedSchema>;
export type DifferencesStatus = z.output<typeof differencesSchema>;
export type NetworkStatus = z.output<typeof networkStatusSchema>;
export type PodAttachmentStatus = z.output<typeof podAttachmentStatusSchema>;
export type PodStatus = z.output<typeof podStatusSchema>;
export type ProblemStatus = z.output<typeof problemSchema>;
