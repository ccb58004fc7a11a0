/** Where a server listens: the active connection methods of ovsdb(7). */
import { isIP } from 'node:net';
import { OvsdbError } from '../errors.ts';

export type Remote =
  | { readonly transport: 'unix'; readonly path: string }
  | { readonly transport: 'tcp' | 'ssl'; readonly host: string; readonly port: number };

/** The port that IANA registered for OVSDB. */
export const DEFAULT_PORT = 6640;

/**
 * Reads `unix:PATH`, `tcp:HOST[:PORT]` and `ssl:HOST[:PORT]`, with IPv6 addresses in brackets; several are separated by
 * commas, as in `ssl:10.0.0.1:6641,ssl:[fd00::2]:6641`.
 * @throws OvsdbError ERR_OVSDB_REMOTE
 */
export const parseRemotes = (text: string): Remote[] => text.split(',').map((part) => parseRemote(part.trim()));

/** @throws OvsdbError ERR_OVSDB_REMOTE */
export const parseRemote = (text: string): Remote => {
  const colon = text.indexOf(':');
  const transport = text.slice(0, colon);
  const address = text.slice(colon + 1);
  if (transport === 'unix' && address !== '') return { transport, path: address };
  if (transport === 'tcp' || transport === 'ssl') return { transport, ...parseAddress(text, address) };
  throw badRemote(text, 'expected unix:PATH, tcp:HOST:PORT or ssl:HOST:PORT');
};

export const formatRemote = (remote: Remote): string => {
  if (remote.transport === 'unix') return `unix:${remote.path}`;
  return `${remote.transport}:${remote.host.includes(':') ? `[${remote.host}]` : remote.host}:${remote.port}`;
};

const parseAddress = (text: string, address: string): { host: string; port: number } => {
  const [, bracketed, plain, port] = /^(?:\[([^\]]*)\]|([^:[\]]+))(?::([0-9]{1,5}))?$/.exec(address) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || host === '') throw badRemote(text, 'expected HOST:PORT, with an IPv6 address in brackets');
  if (bracketed !== undefined && isIP(bracketed.split('%')[0] ?? '') !== 6)
    throw badRemote(text, `"${bracketed}" is not an IPv6 address`);
  const number = port === undefined ? DEFAULT_PORT : Number(port);
  if (number < 1 || number > 65_535) throw badRemote(text, `${number} is not a port`);
  return { host, port: number };
};

const badRemote = (text: string, reason: string): OvsdbError =>
  new OvsdbError('ERR_OVSDB_REMOTE', `remote "${text}": ${reason}`);
