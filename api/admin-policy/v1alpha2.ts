/** Rules of ClusterNetworkPolicy. */
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

const destinationPort = oneOf({
  number: portNumber.optional(),
  range: z
    .strictObject({ start: portNumber, end: portNumber })
    .refine(isRange, { error: 'start must not be greater than end' })
    .optional(),
}).transform(({ number, range }) => (range === undefined ? number : rangeOf(range.start, range.end)));

/** Without a port every one of the protocol: the API has no other attribute today, and a newer one is not known here. */
const transport = z.strictObject({ destinationPort });

const protocol = oneOf({
  tcp: transport.optional(),
  udp: transport.optional(),
  sctp: transport.optional(),
  destinationNamedPort: portName.optional(),
}).transform(({ tcp, udp, sctp, destinationNamedPort: name }): AdminPort => {
  if (tcp !== undefined) return { kind: 'number', protocol: 'tcp', port: tcp.destinationPort };
  if (udp !== undefined) return { kind: 'number', protocol: 'udp', port: udp.destinationPort };
  if (sctp !== undefined) return { kind: 'number', protocol: 'sctp', port: sctp.destinationPort };
  return { kind: 'name', name: name ?? '' };
});

const action = z.enum(['Accept', 'Deny', 'Pass']).transform((word) => ACTIONS[word]);
const ACTIONS = { Accept: 'allow', Deny: 'deny', Pass: 'pass' } as const;

const common = { name: ruleName, action, protocols: itemsOf(protocol).nullish() };

export const V1ALPHA2_INGRESS: z.ZodType<RuleFields> = z
  .strictObject({ ...common, from: itemsOf(ingressPeer) })
  .transform(({ from, protocols, ...rule }) => ({ ...rule, peers: from, ports: protocols ?? [] }));

export const V1ALPHA2_EGRESS: z.ZodType<RuleFields> = z
  .strictObject({ ...common, to: itemsOf(egressPeer) })
  .transform(({ to, protocols, ...rule }) => ({ ...rule, peers: to, ports: protocols ?? [] }));
