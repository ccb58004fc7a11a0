/** Rules of AdminNetworkPolicy and BaselineAdminNetworkPolicy. */
import { z } from 'zod';
import {
  egressPeer,
  ingressPeer,
  isRange,
  itemsOf,
  oneOf,
  portName,
  portNumber,
  type RuleFields,
  rangeOf,
  ruleName,
} from './fields.ts';
import type { AdminPort } from './types.ts';

const protocol = z
  .enum(['TCP', 'UDP', 'SCTP'])
  .default('TCP')
  .transform((name) => PROTOCOLS[name]);

const PROTOCOLS = { TCP: 'tcp', UDP: 'udp', SCTP: 'sctp' } as const;

const port = oneOf({
  portNumber: z.strictObject({ protocol, port: portNumber }).optional(),
  portRange: z
    .strictObject({ protocol, start: portNumber, end: portNumber })
    .refine(isRange, { error: 'start must not be greater than end' })
    .optional(),
  namedPort: portName.optional(),
}).transform(({ portNumber: one, portRange: range, namedPort: name }): AdminPort => {
  if (one !== undefined) return { kind: 'number', ...one };
  if (range !== undefined) return { kind: 'number', protocol: range.protocol, port: rangeOf(range.start, range.end) };
  return { kind: 'name', name: name ?? '' };
});

const action = z.enum(['Allow', 'Deny', 'Pass']).transform((word) => ACTIONS[word]);
const ACTIONS = { Allow: 'allow', Deny: 'deny', Pass: 'pass' } as const;

const common = {
  name: ruleName,
  action,
  ports: itemsOf(port)
    .nullish()
    .transform((ports) => ports ?? []),
};

export const V1ALPHA1_INGRESS: z.ZodType<RuleFields> = z
  .strictObject({ ...common, from: itemsOf(ingressPeer) })
  .transform(({ from, ...rule }) => ({ ...rule, peers: from }));

export const V1ALPHA1_EGRESS: z.ZodType<RuleFields> = z
  .strictObject({ ...common, to: itemsOf(egressPeer) })
  .transform(({ to, ...rule }) => ({ ...rule, peers: to }));
