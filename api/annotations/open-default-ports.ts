/**
 * `k8s.ovn.org/open-default-ports` of a Pod: ports of a pod with a primary user-defined network that are open on its
 * address of the default network. A YAML list: `- protocol: tcp\n  port: 80`, `- protocol: icmp`.
 */
import { isMap, isScalar, isSeq, parseDocument } from 'yaml';
import { z } from 'zod';
import { messageOf } from '../../base/error-message.ts';
import type { Port } from '../../net/ids.ts';
import { asText } from '../as-text.ts';
import { ApiError } from '../errors.ts';
import { POD_ANNOTATIONS } from '../names.ts';
import { parseWith } from '../parse.ts';
import { portSchema } from '../scalars.ts';
import { annotationOf } from './annotation-of.ts';

export type OpenPort =
  | { readonly protocol: 'tcp' | 'udp' | 'sctp'; readonly port: Port }
  | { readonly protocol: 'icmp' };

/** Of a pod: each is an element of nftables and a part of a match of OVN. */
export const MOST_OPEN_PORTS = 256;

/** Room for as many, with comments. Whoever may annotate a pod would have the agent of its node read for minutes otherwise. */
const MAX_LENGTH = 16_384;

/** @throws ApiError: then nothing is open */
export const parseOpenDefaultPorts = (text: string, pod: string): readonly OpenPort[] => {
  const object = annotationOf('Pod', POD_ANNOTATIONS.openDefaultPorts, pod);
  if (text.length > MAX_LENGTH)
    throw new ApiError('ERR_API_FIELD', `has ${text.length} characters, more than ${MAX_LENGTH}`, { object });
  return parseWith(openPortsSchema, readYaml(text, object) ?? [], object);
};

const readYaml = (text: string, object: string): unknown => {
  try {
    // The library compares each key of a map with all before it.
    const document = parseDocument(text, { uniqueKeys: false, logLevel: 'error' });
    const [error] = document.errors;
    if (error !== undefined) throw error;
    refuseTwice(document.contents);
    return document.toJS({ maxAliasCount: 0 });
  } catch (cause) {
    throw new ApiError('ERR_API_SYNTAX', `not YAML: ${messageOf(cause)}`, { object, cause });
  }
};

const refuseTwice = (contents: unknown): void => {
  for (const [index, item] of isSeq(contents) ? contents.items.entries() : []) {
    const seen = new Set<string>();
    for (const { key } of isMap(item) ? item.items : []) {
      const text = String(isScalar(key) ? key.value : key);
      if (seen.has(text)) throw new SyntaxError(`[${index}] has the key ${text} twice`);
      seen.add(text);
    }
  }
};

const openPortSchema = z
  .object({
    protocol: z
      .string()
      .transform((text) => text.toLowerCase())
      .refine((text) => ['tcp', 'udp', 'sctp', 'icmp'].includes(text), {
        error: (issue) => `invalid protocol ${asText(issue.input)}`,
      }),
    port: portSchema.optional(),
  })
  .transform(({ protocol, port }, context): OpenPort => {
    if (protocol === 'icmp' && port === undefined) return { protocol };
    if (protocol === 'icmp') context.addIssue({ code: 'custom', path: ['port'], message: 'icmp has no ports' });
    else if (port === undefined) context.addIssue({ code: 'custom', path: ['port'], message: 'is required' });
    else if (protocol === 'tcp' || protocol === 'udp' || protocol === 'sctp') return { protocol, port };
    return z.NEVER;
  });

const openPortsSchema = z.array(z.unknown()).max(MOST_OPEN_PORTS).pipe(z.array(openPortSchema));
