/** As `holdConnections`, over SCTP (RFC 9260): the server answers nobody before everybody has associated with it. */
import { z } from 'zod';
import type { Family, Ip } from '../../../../net/ip.ts';
import type { Sandbox } from '../../../../sandbox/index.ts';
import type { HeldConnection } from '../../../oracles/reachability/held-connections.ts';
import type { ReachabilityPod } from '../../../oracles/reachability/types.ts';
import { addressOfFamily } from './packets.ts';

const PORT = 9132;

interface HeldAssociationOptions {
  readonly pods: readonly ReachabilityPod[];
  readonly family: Family;
  readonly sourcePort: number;
  readonly server: Ip;
}

/** In the order of the pods. */
export const holdAssociations = async (
  sandbox: Pick<Sandbox, 'exec' | 'outside'>,
  { pods, family, sourcePort, server }: HeldAssociationOptions,
): Promise<HeldConnection[]> => {
  await sandbox.outside(['python3', '-c', SERVER, server, String(PORT), String(pods.length)]);
  return await Promise.all(
    pods.map(async (pod) => {
      const args = [addressOfFamily(pod, family), String(sourcePort), server, String(PORT)];
      const { stdout } = await sandbox.exec(pod.key, ['python3', '-c', CLIENT, ...args]);
      return schema.parse(JSON.parse(stdout));
    }),
  );
};

const schema = z.object({ first: z.string(), second: z.string() });

const COMMON = `
import json, os, socket, sys, threading
def sctp(address):
    sock = socket.socket(socket.AF_INET6 if ':' in address else socket.AF_INET, socket.SOCK_STREAM, 132)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.settimeout(60)
    return sock
`;

/** It listens when it returns, and ends by itself. */
const SERVER = `${COMMON}
address, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
server = sctp(address)
server.bind((address, port))
server.listen(count)
if os.fork() == 0:
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    peers = [server.accept() for _ in range(count)]
    server.close()
    def answer(sock, peer):
        sock.settimeout(60)
        while sock.recv(10):
            sock.sendall(('%s:%d' % peer[:2]).encode())
    for peer in peers:
        threading.Thread(target=answer, args=peer).start()
`;

/** Bound to one address: with more it would send the server all of them, for times when one does not work. */
const CLIENT = `${COMMON}
own, source, address, port = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
sock = sctp(address)
sock.bind((own, source))
sock.connect((address, port))
def ask():
    sock.sendall(b'who am I?')
    return sock.recv(100).decode()
print(json.dumps({'first': ask(), 'second': ask()}))
`;
