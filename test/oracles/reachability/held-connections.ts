/**
 * Connections from several pods to a host outside that are open at the same time and look the same: each sender binds the
 * same source port, opens, waits until the others have opened theirs, and asks again on the first one.
 */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { messageOf } from '../../../base/error-message.ts';
import type { Ip } from '../../../net/ip.ts';
import type { Sandbox } from '../../../sandbox/index.ts';

export interface HeldConnection {
  /** `address:port` of the sender as the server saw it, when it was opened and when all were open. */
  readonly first: string;
  readonly second: string;
}

interface HeldConnectionOptions {
  /** `namespace/name` of the senders. */
  readonly pods: readonly string[];
  readonly protocol: 'tcp' | 'udp';
  readonly sourcePort: number;
  readonly server: Ip;
}

/** In the order of the pods. @throws Error that names those which did not get through */
export const holdConnections = async (
  sandbox: Pick<Sandbox, 'exec'>,
  { pods, protocol, sourcePort, server }: HeldConnectionOptions,
): Promise<HeldConnection[]> => {
  const run = randomBytes(4).toString('hex');
  const nonces = pods.map((_, index) => `${run}.${index}`);
  const results = await Promise.allSettled(
    pods.map(async (pod, index) => {
      const args = [protocol, server, String(sourcePort), nonces[index] ?? '', nonces.join(',')];
      const { stdout } = await sandbox.exec(pod, ['python3', '-c', SENDER, ...args]);
      return schema.parse(JSON.parse(stdout));
    }),
  );
  const lost = pods.flatMap((pod, index) => {
    const result = results[index];
    return result?.status === 'rejected' ? [`${pod}: ${lastLine(result.reason)}`] : [];
  });
  if (lost.length > 0) throw new Error(lost.join('; '));
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
};

/** Of what the sender wrote: the reason. */
const lastLine = (error: unknown): string => messageOf(error).trim().split('\n').at(-1) ?? '';

const schema = z.object({ first: z.string(), second: z.string() });

/** The server remembers each nonce that it was asked with (sandbox/README.md, toolbox). */
const SENDER = `
import json, socket, sys, time
protocol, server, port, own, everybody = sys.argv[1:]
family = socket.AF_INET6 if ':' in server else socket.AF_INET
any_address = '::' if family == socket.AF_INET6 else '0.0.0.0'

def http(sock, path):
    sock.sendall(('GET %s HTTP/1.1\\r\\nHost: outside\\r\\n\\r\\n' % path).encode())
    data = b''
    while b'\\r\\n\\r\\n' not in data:
        data += sock.recv(4096)
    head, body = data.split(b'\\r\\n\\r\\n', 1)
    length = [int(line.split(b':')[1]) for line in head.split(b'\\r\\n') if line.lower().startswith(b'content-length')][0]
    while len(body) < length:
        body += sock.recv(4096)
    return body.decode().strip()

def udp(sock, text):
    for _ in range(5):
        sock.send(text.encode())
        try:
            return sock.recv(4096).decode().strip()
        except socket.timeout:
            pass
    raise SystemExit('no answer over UDP')

kind = socket.SOCK_STREAM if protocol == 'tcp' else socket.SOCK_DGRAM
sock = socket.socket(family, kind)
sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
sock.settimeout(20 if protocol == 'tcp' else 2)
sock.bind((any_address, int(port)))
sock.connect((server, 8080 if protocol == 'tcp' else 8081))
ask = (lambda: http(sock, '/clientip')) if protocol == 'tcp' else (lambda: udp(sock, 'clientip'))
first = ask()
control = socket.create_connection((server, 8080), 20)
http(control, '/hostname?nonce=' + own)
deadline = time.monotonic() + 30
for nonce in everybody.split(','):
    while '"seen":true' not in http(control, '/seen?nonce=' + nonce):
        if time.monotonic() > deadline:
            raise SystemExit('the others did not open theirs')
print(json.dumps({'first': first, 'second': ask()}))
`;
