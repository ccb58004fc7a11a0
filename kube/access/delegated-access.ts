/**
 * Asks the API server who a caller is and what the caller may do, as Kubernetes' own programs delegate it: a TokenReview, then
 * a SubjectAccessReview of a path that is no resource ("Delegated authentication and authorization",
 * https://kubernetes.io/docs/reference/access-authn-authz/authorization/#checking-api-access). Answers are kept for a while, and
 * what is asked at once is bounded: everybody on the node may send tokens.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { createRecentMap } from '../recent-map.ts';
import { createTokenBuckets } from '../token-buckets.ts';
import type { KubeClient, RawRequest } from '../types.ts';

/** `unauthenticated`: no token, or none that the server knows. `unavailable`: the server did not answer, or too many ask. */
export type Access = 'allowed' | 'forbidden' | 'unauthenticated' | 'unavailable';

/** Never rejects: what cannot be asked is `unavailable`. @param authorization the header of that name */
export type AskAccess = (path: string, authorization: string | undefined) => Promise<Access>;

export interface DelegatedAccessOptions {
  readonly client: Pick<KubeClient, 'request'>;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** What kube-apiserver's own clients keep: long for a yes, short for a no (`--authorization-webhook-cache-…-ttl`). */
const KEPT_MS: Readonly<Record<Exclude<Access, 'unavailable'>, number>> = {
  allowed: 60_000,
  forbidden: 10_000,
  unauthenticated: 10_000,
};

const REMEMBERED = 256;
/** Prometheus asks every few seconds with one token; whoever tries tokens is held to this. */
const RATE = { burst: 10, refillMs: 1000 };
/** A token of a service account has some 1,000 characters; more is no token. */
const LONGEST_TOKEN = 16_384;

export const createDelegatedAccess = ({ client, clock }: DelegatedAccessOptions): AskAccess => {
  const answers = createRecentMap<{ readonly access: Access; readonly until: number }>(REMEMBERED);
  const asking = new Map<string, Promise<Access>>();
  const rate = createTokenBuckets(RATE, 2);
  const askServer = async (key: string, path: string, token: string): Promise<Access> => {
    // Who was allowed before does not wait behind those who try tokens.
    const bucket = answers.get(key)?.access === 'allowed' ? 'known' : '';
    if (!rate.take(bucket, clock.monotonic())) return 'unavailable';
    const access = await review(client, path, token).catch((): Access => 'unavailable');
    if (access !== 'unavailable') answers.set(key, { access, until: clock.monotonic() + KEPT_MS[access] });
    return access;
  };
  return async (path, authorization) => {
    const token = bearerToken(authorization);
    if (token === undefined) return 'unauthenticated';
    const key = createHash('sha256').update(`${path}\n${token}`).digest('base64');
    const known = answers.get(key);
    if (known !== undefined && clock.monotonic() < known.until) return known.access;
    const asked = asking.get(key) ?? askServer(key, path, token).finally(() => asking.delete(key));
    asking.set(key, asked);
    return await asked;
  };
};

/** RFC 6750, section 2.1. */
const bearerToken = (authorization = ''): string | undefined => {
  if (authorization.length > LONGEST_TOKEN) return undefined;
  return /^Bearer +([\w.~+/-]+=*)$/i.exec(authorization)?.[1];
};

const review = async (client: Pick<KubeClient, 'request'>, path: string, token: string): Promise<Access> => {
  const asked = tokenReviewSchema.parse(await client.request(post('authentication.k8s.io', 'TokenReview', { token })));
  const { authenticated = false, user } = asked.status;
  // Of a token that it does not know, kube-apiserver says a user without a name.
  if (!authenticated || user?.username === undefined) return 'unauthenticated';
  const { username, uid, groups, extra } = user;
  const spec = { nonResourceAttributes: { path, verb: 'get' }, user: username, uid, groups, extra };
  const judged = accessReviewSchema.parse(
    await client.request(post('authorization.k8s.io', 'SubjectAccessReview', spec)),
  );
  return judged.status.allowed && judged.status.denied !== true ? 'allowed' : 'forbidden';
};

/** Reviews are answered and not kept: they have no name, so `create` would take the answer for a broken object. */
const post = (group: string, kind: string, spec: object): RawRequest => ({
  method: 'POST',
  path: `/apis/${group}/v1/${kind.toLowerCase()}s`,
  body: { apiVersion: `${group}/v1`, kind, metadata: {}, spec },
});

/** authentication.k8s.io/v1. */
const tokenReviewSchema = z.object({
  status: z.object({
    authenticated: z.boolean().optional(),
    user: z
      .object({
        username: z.string().min(1).optional(),
        uid: z.string().optional(),
        groups: z.array(z.string()).optional(),
        extra: z.record(z.string(), z.array(z.string())).optional(),
      })
      .optional(),
  }),
});

/** authorization.k8s.io/v1. */
const accessReviewSchema = z.object({ status: z.object({ allowed: z.boolean(), denied: z.boolean().optional() }) });
