/**
 * Which requests the console answers. Every process of the machine and every page in the browser can send to localhost; who may
 * read the cluster is who has the token. Pure.
 *
 * 1. The name in `Host` is one of this console: a page whose name was bound to 127.0.0.1 later (DNS rebinding) has its own.
 * 2. A request of another page has its `Origin`, or says `cross-site` or `same-site` (Fetch Metadata): other ports of localhost
 *    are the same site, and not the same origin.
 * 3. Data is for who sends the token in `Authorization`. No page of another origin can: the preflight that this takes is refused, as
 *    nothing here sends CORS headers. There is no cookie, as cookies are sent to all ports of a host.
 */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

export interface GuardedRequest {
  readonly method: string;
  /** Without a query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

export interface GuardOptions {
  readonly port: number;
  readonly token: string;
  /** Paths that hold nothing of the cluster. */
  readonly isPublic: (path: string) => boolean;
}

export interface Refusal {
  readonly status: 401 | 403 | 405 | 421;
  readonly message: string;
}

/** Undefined: it is answered. */
export const refusalOf = (request: GuardedRequest, { port, token, isPublic }: GuardOptions): Refusal | undefined => {
  const { method, path, headers } = request;
  const hosts = hostsOf(port);
  if (headers.host === undefined || !hosts.includes(headers.host.toLowerCase())) {
    return { status: 421, message: 'this console does not have that name' };
  }
  const isOpened = isPublic(path) && isNavigation(headers);
  if (!isOpened && !isOwnOrigin(headers, hosts)) return { status: 403, message: 'requests of other pages are refused' };
  if (method !== methodOf(path)) return { status: 405, message: `${methodOf(path)} only` };
  if (isPublic(path) || isBearer(headers.authorization, token)) return undefined;
  return { status: 401, message: 'send the token: open the address that udnctl console has printed' };
};

const NAMES: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

/** Browsers leave the default port of http out, in `Host` and in `Origin` (RFC 9110, 4.2.3). */
const hostsOf = (port: number): readonly string[] => [
  ...NAMES.map((name) => `${name}:${port}`),
  ...(port === HTTP_PORT ? NAMES : []),
];
const HTTP_PORT = 80;

/** The path that asks a node, and no other, takes a body. */
export const ASK_PATH = '/api/ask';

const methodOf = (path: string): 'GET' | 'POST' => (path === ASK_PATH ? 'POST' : 'GET');

/**
 * The page, in a tab and not in a frame, may be opened from anywhere, as it holds nothing of the cluster: the file that leads the browser
 * to it is another site, too.
 */
const isNavigation = ({ origin, ...headers }: IncomingHttpHeaders): boolean =>
  origin === undefined && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';

/** `none`: the user has typed the address, or another program has opened it. */
const SITES: readonly unknown[] = [undefined, 'same-origin', 'none'];

const isOwnOrigin = ({ host = '', origin, ...headers }: IncomingHttpHeaders, hosts: readonly string[]): boolean => {
  if (origin !== undefined && (origin !== `http://${host.toLowerCase()}` || !hosts.includes(host.toLowerCase()))) {
    return false;
  }
  return SITES.includes(headers['sec-fetch-site']);
};

const isBearer = (authorization: string | undefined, token: string): boolean => {
  const [, given = ''] = /^Bearer ([A-Za-z0-9_-]{1,128})$/.exec(authorization ?? '') ?? [];
  const [a, b] = [Buffer.from(given), Buffer.from(token)];
  return a.length === b.length && timingSafeEqual(a, b);
};
