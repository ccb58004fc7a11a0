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

/** An empty severity is none. @throws ApiError that names the key and the field */
export const parseAclLogging = (text: string, namespace: string): AclLogging =>
  parseJsonWith(schema, text, annotationOf('Namespace', NAMESPACE_ANNOTATIONS.aclLogging, namespace));

const optional = z.union([severity, z.literal('').transform(() => undefined)]).optional();
const schema = z.object({ deny: optional, allow: optional });
