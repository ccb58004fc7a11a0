/** What goes over the supervisor's socket: HTTP with JSON bodies. Both ends are of one version. */
import { z } from 'zod';
import { KILLABLE } from '../plan/daemons.ts';

export const targetSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('node'), node: z.string() }),
  z.object({ kind: z.literal('outside') }),
  z.object({
    kind: z.literal('pod'),
    namespace: z.string(),
    pod: z.string(),
    container: z.string().optional(),
  }),
]);

export const enterRequest = z.object({
  target: targetSchema,
  argv: z.array(z.string()).min(1),
  env: z.record(z.string(), z.string()).default({}),
});

export const killRequest = z.object({
  node: z.string(),
  program: z.enum(KILLABLE),
  signal: z.union([z.number().int().min(1).max(64), z.string().regex(/^SIG[A-Z0-9+-]+$/)]),
});

export const rebootRequest = z.object({ node: z.string() });

export const commandLineResponse = z.object({ file: z.string(), args: z.array(z.string()) });

export const errorResponse = z.object({ code: z.string(), message: z.string() });

const serviceStatus = z.object({
  name: z.string(),
  state: z.enum(['running', 'waiting', 'stopped']),
  pid: z.number().optional(),
  restarts: z.number(),
  lastEnd: z.string().optional(),
});

export const statusResponse = z.object({
  name: z.string(),
  state: z.enum(['starting', 'up', 'failed']),
  version: z.string(),
  ipFamily: z.string(),
  gatewayMode: z.string(),
  datapath: z.enum(['system', 'netdev']),
  kernel: z.object({ openvswitch: z.boolean(), geneve: z.boolean(), vrf: z.boolean(), sctp: z.boolean() }),
  guest: z.object({ accelerator: z.enum(['kvm', 'uml', 'tcg']), socket: z.string(), slowdown: z.number() }).optional(),
  kubeconfig: z.string().optional(),
  folder: z.string(),
  outside: z.array(z.string()),
  nodes: z.array(
    z.object({
      name: z.string(),
      addresses: z.array(z.string()),
      pid: z.number().optional(),
      services: z.array(serviceStatus),
    }),
  ),
  services: z.array(serviceStatus),
});
