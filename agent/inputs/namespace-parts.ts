/** A Namespace for its two readers. Its labels are for network policies alone: a fact with them would have every reader rendered again. */
import { type AclLogging, parseAclLogging } from '../../api/annotations/acl-logging.ts';
import { NAMESPACE_ANNOTATIONS } from '../../api/names.ts';
import { jsonEqual } from '../../kube/json-equal.ts';
import type { KubeObject } from '../../kube/types.ts';
import type { NamespaceFact } from '../model/facts.ts';
import { projectNamespace } from './namespace-projection.ts';
import type { PolicyNamespace } from './policies/types.ts';
import { type Problem, readOr } from './problem.ts';

export interface NamespaceParts {
  readonly fact: NamespaceFact;
  readonly policy: PolicyNamespace;
}

/** @param before as the same namespace was projected before: a part that is as it was stays the same object */
export const projectNamespaceParts = (object: KubeObject, before?: NamespaceParts): NamespaceParts => {
  const [fact, policy] = [projectNamespace(object), projectPolicyNamespace(object)];
  return {
    fact: jsonEqual(before?.fact, fact) ? (before?.fact ?? fact) : fact,
    policy: jsonEqual(before?.policy, policy) ? (before?.policy ?? policy) : policy,
  };
};

const projectPolicyNamespace = ({ metadata: { name, labels = {}, annotations } }: KubeObject): PolicyNamespace => {
  const problems: Problem[] = [];
  const log = loggingOf(annotations?.[NAMESPACE_ANNOTATIONS.aclLogging], name, problems);
  return { name, labels, ...(log !== undefined && { log }), problems };
};

/** What cannot be read logs nothing. */
const loggingOf = (text: string | undefined, name: string, problems: Problem[]): AclLogging | undefined => {
  if (text === undefined || text === '') return undefined;
  const object = `Namespace/${name}`;
  const read = readOr(object, problems, () => parseAclLogging(text, name));
  if (read === undefined) return undefined;
  const { deny, allow, unknownKeys } = read;
  if (unknownKeys.length > 0) problems.push({ object, severity: 'warning', message: unknownText(unknownKeys) });
  if (deny === undefined && allow === undefined) return undefined;
  return { ...(deny !== undefined && { deny }), ...(allow !== undefined && { allow }) };
};

/** Who writes it may write thousands of them. */
const unknownText = (keys: readonly string[]): string => {
  const named = keys.slice(0, NAMED_KEYS).map((key) => JSON.stringify(key.slice(0, 40)));
  const more = keys.length > NAMED_KEYS ? ` and ${keys.length - NAMED_KEYS} more` : '';
  return `annotation ${NAMESPACE_ANNOTATIONS.aclLogging}: ${named.join(', ')}${more} ${keys.length === 1 ? 'logs' : 'log'} nothing: the keys are "deny" and "allow"`;
};

const NAMED_KEYS = 5;
