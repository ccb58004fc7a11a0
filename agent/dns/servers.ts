/** Which servers are asked: those of the agent's flag, else those of resolv.conf(5), whenever that changes. */
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { FolderWatch } from '../../base/folder-watch.ts';
import { type Ip, parseIp } from '../../net/ip.ts';

export interface DnsServer {
  readonly ip: Ip;
  readonly port: number;
}

export interface DnsServers {
  /** In the order in which they are asked; none: there are none. */
  list(): readonly DnsServer[];
  /** @returns what ends it */
  onChange(listener: () => void): () => void;
  close(): void;
}

/** @throws NetError @param text `192.0.2.1`, `192.0.2.1:5353`, `2001:db8::1`, `[2001:db8::1]:5353` */
export const parseDnsServer = (text: string): DnsServer => {
  const [, bracketed, dotted, digits] = /^(?:\[(.*)\]|([\d.]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const port = digits === undefined ? DNS_PORT : Number(digits);
  const ip = parseIp(bracketed ?? dotted ?? text);
  if (port < 1 || port > 65_535) throw new RangeError(`"${text}" has no port from 1 to 65535`);
  return { ip, port };
};

/** Those that can be read: of a zone (`fe80::1%eth0`) none is. */
export const serversIn = (resolvConf: string): readonly DnsServer[] =>
  resolvConf
    .split('\n')
    .flatMap((line) => /^nameserver\s+(\S+)/.exec(line)?.[1] ?? [])
    .flatMap((text) => {
      try {
        return [{ ip: parseIp(text), port: DNS_PORT }];
      } catch {
        return [];
      }
    })
    .slice(0, MAX_SERVERS);

export const fixedServers = (servers: readonly DnsServer[]): DnsServers => ({
  list: () => servers,
  onChange: () => () => {},
  close: () => {},
});

/** @param path of the file: that of the node, as the agent is on its network */
export const followResolvConf = (path = '/etc/resolv.conf'): DnsServers => {
  const listeners = new Set<() => void>();
  let servers = read(path);
  const watch = new FolderWatch({
    // It is replaced rather than written, and may be a bind mount.
    folder: dirname(path),
    onChange: () => {
      const before = servers;
      servers = read(path);
      if (JSON.stringify(before) !== JSON.stringify(servers)) for (const listener of [...listeners]) listener();
    },
  });
  return {
    list: () => servers,
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => watch.close(),
  };
};

const read = (path: string): readonly DnsServer[] => {
  try {
    return serversIn(readFileSync(path, 'utf8'));
  } catch {
    return [];
  }
};

const DNS_PORT = 53;
/** As many does the C library ask: resolv.conf(5). */
const MAX_SERVERS = 3;
