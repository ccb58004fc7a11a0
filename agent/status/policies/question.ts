/** What udnctl asks about policies, in the query of the address. */
import { z } from 'zod';
import { parseWith } from '../../../api/parse.ts';
import { isIp, parseIp } from '../../../net/ip.ts';
import type { EndQuestion } from './pod-end.ts';
import type { PolicyFilter } from './report.ts';

/** @throws ApiError */
export const parsePolicyFilter = (query: string): PolicyFilter => {
  const { sets, ...filter } = parseWith(filterSchema, Object.fromEntries(new URLSearchParams(query)), 'the question');
  return { ...filter, ...(sets !== undefined && { sets: sets.split(',') }) };
};

const filterSchema = z.strictObject({
  policy: z.string().optional(),
  pod: z.string().optional(),
  sets: z.string().max(8_192).optional(),
});

/** @param asked `NAMESPACE`, or `NAMESPACE?network=NAME` @throws ApiError */
export const parseMatrixQuestion = (asked: string): [namespace: string, network: string | undefined] => {
  const [namespace = '', query = ''] = asked.split('?', 2);
  const { network } = parseWith(matrixSchema, Object.fromEntries(new URLSearchParams(query)), 'the question');
  return [decodeURIComponent(namespace), network];
};

const networkSchema = z.string().min(1).max(253).optional();
const matrixSchema = z.strictObject({ network: networkSchema });

/** @throws ApiError */
export const parseEndQuestion = (query: string): EndQuestion => {
  const given = Object.fromEntries(new URLSearchParams(query));
  const { pod, direction, peer, protocol, port, network } = parseWith(schema, given, 'the question');
  return {
    ...{ pod, direction },
    // As addresses are written everywhere else.
    peer: isIp(peer) ? parseIp(peer) : peer,
    ...(network !== undefined && { network }),
    ...(protocol !== undefined && port !== undefined && { packet: { protocol, port } }),
  };
};

const schema = z
  .object({
    pod: z.string().regex(/^[^/]+\/[^/]+$/),
    direction: z.enum(['Ingress', 'Egress']),
    peer: z.string().min(1),
    network: networkSchema,
    protocol: z.enum(['tcp', 'udp', 'sctp']).optional(),
    port: z.coerce.number().int().min(1).max(65_535).optional(),
  })
  .refine(({ protocol, port }) => (protocol === undefined) === (port === undefined), {
    message: 'protocol and port go together',
  });
