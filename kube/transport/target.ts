/** Where the API server is. */
import type { RequestOptions } from 'node:http';
import { KubeError } from '../errors.ts';

export interface Target {
  readonly secure: boolean;
  /** The path before that of each request. */
  readonly prefix: string;
  /** The server's name in requests, with its port unless that is the usual one. */
  readonly authority: string;
  readonly options: Pick<RequestOptions, 'host' | 'port' | 'socketPath'>;
}

/** @throws KubeError ERR_KUBE_CONFIG when the server's address is not one */
export const targetOf = (server: string): Target => {
  if (server.startsWith('unix:')) {
    const options = { socketPath: server.slice('unix:'.length), host: 'localhost' };
    return { secure: false, prefix: '', authority: 'localhost', options };
  }
  const url = URL.parse(server);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new KubeError('ERR_KUBE_CONFIG', `"${server}" is not the address of an API server (http:, https: or unix:)`);
  }
  const secure = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
  return { secure, prefix: url.pathname.replace(/\/+$/, ''), authority: url.host, options: { host, port } };
};
