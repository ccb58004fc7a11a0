/**
 * `k8s.ovn.org/open-default-ports` of a Pod: ports of a pod with a primary user-defined network that are open on its
 * address of the default network. A YAML list: `- protocol: tcp\n  port: 80`, `- protocol: icmp`.
 */
import { parse } from 'yaml';
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

/** @throws ApiError: then nothing is open */
export const parseOpenDefaultPorts = (text: string, pod: string): readonly OpenPort[] => {
  const object = annotationOf('Pod', POD_ANNOTATIONS.openDefaultPorts, pod);
  return parseWith(z.array(openPortSchema), readYaml(text, object) ?? [], object);
};

const readYaml = (text: string, object: string): unknown => {
  try {
    return parse(text, { maxAliasCount: 0, logLevel: 'error' });
  } catch (cause) {
    throw new ApiError('ERR_API_SYNTAX', `not YAML: ${messageOf(cause)}`, { object, cause });
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
