/** Asks the API server who may do what: authorization.k8s.io/v1. */
import { z } from 'zod';
import type { KubeClient } from '../../../kube/types.ts';

export interface Wish {
  /** `resource/subresource.group`. */
  readonly resource: string;
  readonly verb: string;
  /** Absent: all. */
  readonly namespace?: string;
  readonly name?: string;
  /** Absent: who asks. */
  readonly user?: string;
}

const answerSchema = z.object({ status: z.object({ allowed: z.boolean() }) });

/** Nothing is stored. */
export const isAllowed = async (client: KubeClient, wish: Wish): Promise<boolean> => {
  const { user, verb, namespace, name } = wish;
  const kind = user === undefined ? 'SelfSubjectAccessReview' : 'SubjectAccessReview';
  const resourceAttributes = { ...partsOf(wish.resource), verb, ...optional({ namespace, name }) };
  const spec = { resourceAttributes, ...optional({ user }) };
  const path = `/apis/authorization.k8s.io/v1/${kind.toLowerCase()}s`;
  const body = { apiVersion: 'authorization.k8s.io/v1', kind, spec };
  return answerSchema.parse(await client.request({ method: 'POST', path, body })).status.allowed;
};

const partsOf = (text: string): Record<string, string> => {
  const [, resource = '', subresource, group = ''] = /^([^./]+)(?:\/([^.]+))?(?:\.(.+))?$/.exec(text) ?? [];
  return { group, resource, ...optional({ subresource }) };
};

const optional = (entries: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(entries).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
