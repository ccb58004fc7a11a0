/** A DNS server for tests, on one port by UDP and TCP. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { decode, encode, type Packet } from 'dns-packet';

export interface DnsQuery {
  readonly id: number;
  /** As it was sent, without the last dot. */
  readonly name: string;
  readonly type: string;
  readonly transport: 'udp' | 'tcp';
  /** Port of who asks. */
  readonly from: number;
}

/** Bytes are sent as they are. */
export type DnsAnswering = (query: DnsQuery) => readonly Uint8Array[] | Promise<readonly Uint8Array[]>;

export interface DnsTestServer {
  readonly port: number;
  /** All so far. */
  readonly queries: readonly DnsQuery[];
  close(): Promise<void>;
}

export const startDnsServer = async (host: string, answering: DnsAnswering): Promise<DnsTestServer> => {
  const queries: DnsQuery[] = [];
  const answersTo = (bytes: Uint8Array, origin: Pick<DnsQuery, 'transport' | 'from'>): ReturnType<DnsAnswering> => {
    const { id = 0, questions: [{ name, type } = { name: '', type: 'A' }] = [] } = decode(Buffer.from(bytes));
    const query = { id, name, type, ...origin };
    queries.push(query);
    return answering(query);
  };
  const tcp = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', async (bytes) => {
      for (const answer of await answersTo(bytes.subarray(2), { transport: 'tcp', from: socket.remotePort ?? 0 })) {
        // In two pieces, as a stream may be.
        socket.write(Buffer.from([answer.length >> 8, answer.length & 0xff]));
        socket.write(answer);
      }
    });
  });
  tcp.listen(0, host);
  await once(tcp, 'listening');
  const { port } = tcp.address() as AddressInfo;
  const udp = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  udp.on('message', async (bytes, { address, port: from }) => {
    for (const answer of await answersTo(bytes, { transport: 'udp', from })) udp.send(answer, from, address);
  });
  udp.bind(port, host);
  await once(udp, 'listening');
  return {
    port,
    queries,
    close: async () => {
      udp.close();
      tcp.close();
      await once(tcp, 'close');
    },
  };
};

/** An answer to a query. */
export const dnsReply = ({ id, name, type }: DnsQuery, packet: Partial<Packet> = {}): Uint8Array =>
  encode({ type: 'response', id, flags: 0x180, questions: [{ type: type as 'A', name }], ...packet });
