/** Ports of the node that its agent needs: no pod gets them by `hostPort`, whatever the setting says. */
import { reservedPortId } from '../../api/reserved-host-ports.ts';
import { isIp, parseIp } from '../../net/ip.ts';
import type { LocalSettings } from '../model/view.ts';
import type { AgentOptions } from '../options/options.ts';

export const ownPorts = (
  { reservedHostPorts, metrics: { plain, tls } }: Pick<AgentOptions, 'reservedHostPorts' | 'metrics'>,
  server: string,
): Pick<LocalSettings, 'reservedHostPorts' | 'apiServer'> => {
  const listeners = [plain, tls?.address].flatMap((address) => (address === undefined ? [] : [address.port]));
  const ids = listeners.map((port) => reservedPortId('TCP', port));
  return { reservedHostPorts: [...new Set([...reservedHostPorts, ...ids])], apiServer: apiServerAt(server) };
};

/** @param server a URL. A name other than `localhost` may be anywhere. */
export const apiServerAt = (server: string): LocalSettings['apiServer'] => {
  const url = URL.parse(server);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  const host = url.hostname === 'localhost' ? '127.0.0.1' : url.hostname.replace(/^\[|\]$/g, '');
  if (!isIp(host)) return undefined;
  return { ip: parseIp(host), port: Number(url.port || (url.protocol === 'https:' ? 443 : 80)) };
};
