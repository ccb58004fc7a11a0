/** Headers of requests as HTTP/2 has them. */
import type { OutgoingHttpHeaders } from 'node:http2';
import type { Outgoing } from './exchange.ts';
import type { Target } from './target.ts';

/** They are of the connection (RFC 9113 §8.2.2), or `:authority` says the same. */
const OF_CONNECTION = new Set([
  'connection',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]);

export const http2Headers = (
  { authority, prefix }: Target,
  { request, headers }: Pick<Outgoing, 'request' | 'headers'>,
): OutgoingHttpHeaders => ({
  ':method': request.method,
  ':scheme': 'https',
  ':authority': authority,
  ':path': `${prefix}${request.path}`,
  ...Object.fromEntries(
    Object.entries(headers)
      .map(([name, value]) => [name.toLowerCase(), typeof value === 'string' ? value : [...value]] as const)
      .filter(([name]) => !OF_CONNECTION.has(name)),
  ),
});
