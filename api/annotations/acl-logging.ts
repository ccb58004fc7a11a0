/** `k8s.ovn.org/acl-logging` of a Namespace: how what its network policies drop and allow is logged, as in ovn-kubernetes. */
import { z } from 'zod';
import { NAMESPACE_ANNOTATIONS } from '../names.ts';
import { parseJsonWith } from '../parse.ts';
import { annotationOf } from './annotation-of.ts';

/** As OVN has them: ovn-nb(5), `severity` of ACL. */
const severity = z.enum(['alert', 'warning', 'notice', 'info', 'debug']);

export interface AclLogging {
  readonly deny?: z.infer<typeof severity> | undefined;
  readonly allow?: z.infer<typeof severity> | undefined;
}

export interface AclLoggingRead extends AclLogging {
  /** Keys that say nothing, misspelt ones most often. */
  readonly unknownKeys: readonly string[];
}

/** An empty severity is none. @throws ApiError that names the key and the field */
export const parseAclLogging = (text: string, namespace: string): AclLoggingRead => {
  const read = parseJsonWith(schema, text, annotationOf('Namespace', NAMESPACE_ANNOTATIONS.aclLogging, namespace));
  const { deny, allow, ...unknown } = read;
  return { deny, allow, unknownKeys: Object.keys(unknown) };
};

const optional = z.union([severity, z.literal('').transform(() => undefined)]).optional();
const schema = z.looseObject({ deny: optional, allow: optional });
