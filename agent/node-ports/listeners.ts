/** Who listens in the network namespace of this process: proc_net(5), `/proc/net/tcp` and its like. */
import { open } from 'node:fs/promises';
import { endianness } from 'node:os';
import { type Family, type Ip, ipFromWords } from '../../net/ip.ts';
import type { PortClaim } from '../model/node-ports.ts';

export interface Listener {
  readonly protocol: PortClaim['protocol'];
  readonly ip: Ip;
  readonly port: number;
}

const TABLES = [
  { file: 'tcp', protocol: 'TCP' },
  { file: 'tcp6', protocol: 'TCP' },
  { file: 'udp', protocol: 'UDP' },
  { file: 'udp6', protocol: 'UDP' },
] as const;

/** @param folder where the tables are; those that are not there (no IPv6) are empty @throws what keeps it from reading others */
export const readListeners = async (folder = '/proc/net'): Promise<Listener[]> => {
  const found = await Promise.all(TABLES.map(({ file, protocol }) => readTable(`${folder}/${file}`, protocol)));
  return found.flat();
};

const readTable = async (path: string, protocol: Listener['protocol']): Promise<Listener[]> => {
  const found: Listener[] = [];
  try {
    await using file = await open(path);
    for await (const line of file.readLines({ autoClose: false })) {
      const socket = parseSocket(line);
      if (socket?.state === WAITING[protocol]) found.push({ protocol, ip: socket.ip, port: socket.port });
      // Linux lists those that listen first. A node may have a hundred thousand connections after them.
      else if (socket !== undefined && protocol === 'TCP') break;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return found;
};

/** As the kernel numbers states of TCP, which it uses for UDP, too: `TCP_LISTEN`, and `TCP_CLOSE` of one that is not connected. */
const WAITING = { TCP: 0x0a, UDP: 0x07 } as const;

/** `  0: 0100007F:6139 00000000:0000 0A …`: address, port, peer and state, in hexadecimal. Undefined: the headline. */
const parseSocket = (line: string): { readonly ip: Ip; readonly port: number; readonly state: number } | undefined => {
  const [, address, port, state] =
    /^\s*\d+: ((?:[0-9A-F]{8}){1,4}):([0-9A-F]{4}) [0-9A-F]+:[0-9A-F]{4} ([0-9A-F]{2}) /.exec(line) ?? [];
  if (address === undefined || port === undefined || state === undefined) return undefined;
  return { ip: parseAddress(address), port: Number.parseInt(port, 16), state: Number.parseInt(state, 16) };
};

/** Words of 32 bits, each as a number of this machine. One of IPv4 in a socket of IPv6 is one of IPv4. */
const parseAddress = (text: string): Ip => {
  const words = (text.match(/.{8}/g) ?? []).map((word) => networkOrder(Number.parseInt(word, 16)));
  const [a = 0, b = 0, c = 0, d = 0] = words.length === 1 ? [0, 0, 0, ...words] : words;
  const family: Family = words.length === 1 || (a === 0 && b === 0 && c === 0xffff) ? 4 : 6;
  return ipFromWords(family, [a, b, c, d]);
};

const networkOrder = (word: number): number => {
  if (endianness() === 'BE') return word;
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(word);
  return bytes.readUInt32BE();
};
