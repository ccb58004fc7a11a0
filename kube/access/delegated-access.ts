/**
 * Asks the API server who a caller is and what the caller may do, as Kubernetes' own programs delegate it: a TokenReview, then
 * a SubjectAccessReview of a path that is no resource ("Delegated authentication and authorization",
 * https://kubernetes.io/docs/reference/access-authn-authz/authorization/#checking-api-access). Answers are kept for a while, and
 * what is asked at once is bounded: everybody on the node may send tokens.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../../base/clock.ts';
import { networkOf } from '../../net/cidr.ts';
import { ipFamily, isIp, parseIp } from '../../net/ip.ts';
import { createRecentMap } from '../recent-map.ts';
import { createTokenBuckets } from '../token-buckets.ts';
import type { KubeClient, RawRequest } from '../types.ts';

/** `unauthenticated`: no token, or none that the server knows. `unavailable`: the server did not answer, or too many ask. */
export type Access = 'allowed' | 'forbidden' | 'unauthenticated' | 'unavailable';

/**
 * Never rejects: what cannot be asked is `unavailable`. @param authorization the header of that name @param peer the address that it
 * comes from
 */
export type AskAccess = (path: string, authorization: string | undefined, peer?: string) => Promise<Access>;

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
/** Of all who are not known. One who tries tokens leaves most of it to others, as he has one address. */
const TOTAL_RATE = { burst: 50, refillMs: 200 };
/** A token of a service account has some 1,000 characters; more is no token. */
const LONGEST_TOKEN = 16_384;

interface Answer {
  readonly access: Access;
  readonly until: number;
}

export const createDelegatedAccess = ({ client, clock }: DelegatedAccessOptions): AskAccess => {
  const asking = new Map<string, Promise<Access>>();
  // Apart, so that no number of wrong tokens makes a right one forgotten.
  const allowed = createRecentMap<Answer>(REMEMBERED);
  const refused = createRecentMap<Answer>(REMEMBERED);
  const rate = createAskRate();
  const askServer = async (key: string, { path, token, peer }: Question): Promise<Access> => {
    if (!rate.take(allowed.get(key) === undefined ? undefined : key, peer, clock.monotonic())) return 'unavailable';
    const access = await review(client, path, token).catch((): Access => 'unavailable');
    if (access === 'unavailable') return access;
    allowed.delete(key);
    refused.delete(key);
    (access === 'allowed' ? allowed : refused).set(key, { access, until: clock.monotonic() + KEPT_MS[access] });
    if (access === 'allowed') rate.trust(peer);
    return access;
  };
  return async (path, authorization, peer = '') => {
    const token = bearerToken(authorization);
    if (token === undefined) return 'unauthenticated';
    const key = createHash('sha256').update(`${path}\n${token}`).digest('base64');
    const known = allowed.get(key) ?? refused.get(key);
    if (known !== undefined && clock.monotonic() < known.until) return known.access;
    const asked = asking.get(key) ?? askServer(key, { path, token, peer }).finally(() => asking.delete(key));
    asking.set(key, asked);
    return await asked;
  };
};

interface Question {
  readonly path: string;
  readonly token: string;
  readonly peer: string;
}

/**
 * Who was allowed before does not wait behind those who try tokens: neither with the same token, nor from the same address with the next
 * one, as tokens of service accounts are replaced every hour. Whoever else asks shares what all may ask, each address a part of it.
 */
const createAskRate = () => {
  const tokens = createTokenBuckets(RATE, REMEMBERED);
  const peers = createTokenBuckets(RATE, REMEMBERED);
  const trustedPeers = createTokenBuckets(RATE, REMEMBERED);
  const total = createTokenBuckets(TOTAL_RATE, 1);
  const trusted = createRecentMap<true>(REMEMBERED);
  return {
    trust: (peer: string): void => trusted.set(hostOf(peer), true),
    /** @param key of what was allowed before */
    take: (key: string | undefined, peer: string, now: number): boolean => {
      if (key !== undefined) return tokens.take(key, now);
      const host = hostOf(peer);
      if (trusted.get(host) !== undefined) return trustedPeers.take(host, now);
      return peers.take(host, now) && total.take('', now);
    },
  };
};

/** A host has as many IPv6 addresses as it likes in a network of its own: RFC 4291 §2.5.4. */
const hostOf = (peer: string): string => {
  if (!isIp(peer)) return peer;
  const ip = parseIp(peer);
  return ipFamily(ip) === 4 ? ip : networkOf(ip, 64);
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
  const answer = accessReviewSchema.parse(
    await client.request(post('authorization.k8s.io', 'SubjectAccessReview', spec)),
  );
  return answer.status.allowed && answer.status.denied !== true ? 'allowed' : 'forbidden';
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
