/** Names of Services, as pods and nodes ask for them: by their own resolver, and one DNS server at a time. */
import { z } from 'zod';
import type { Sandbox } from '../../../sandbox/index.ts';
import type { RunThere } from '../../../sandbox/reachability/service-clients.ts';

/** What the resolver of the C library finds, of both families, by the `/etc/resolv.conf` of the place. */
export const resolve = async (
  sandbox: Pick<Sandbox, 'exec'>,
  pod: string,
  name: string,
  { overTcp = false }: { readonly overTcp?: boolean } = {},
): Promise<readonly string[]> => {
  const env = overTcp ? ['env', 'RES_OPTIONS=use-vc'] : [];
  const { stdout } = await sandbox.exec(pod, [...env, 'python3', '-c', RESOLVE, name]);
  return addressesSchema.parse(JSON.parse(stdout));
};

const addressesSchema = z.array(z.string());

/** A name without an address is none; a server that does not answer is an error. */
const RESOLVE = `
import json, socket, sys
try:
    found = socket.getaddrinfo(sys.argv[1], 80, type=socket.SOCK_STREAM)
except socket.gaierror as error:
    if error.errno not in (socket.EAI_NONAME, socket.EAI_NODATA):
        raise
    found = []
print(json.dumps(sorted({info[4][0] for info in found})))
`;

export interface DnsQuestion {
  readonly server: string;
  readonly name: string;
  readonly type: 'A' | 'AAAA';
  readonly protocol: 'TCP' | 'UDP';
}

/** One message and its answer (RFC 1035 §4), from anywhere. @returns addresses @throws CommandError without an answer */
export const query = async (run: RunThere, question: DnsQuestion): Promise<readonly string[]> => {
  const { stdout } = await run(['python3', '-c', QUERY], { input: JSON.stringify(question) });
  return addressesSchema.parse(JSON.parse(stdout));
};

const QUERY = `
import json, os, socket, struct, sys
asked = json.load(sys.stdin)
number = int.from_bytes(os.urandom(2), 'big')
kind = {'A': 1, 'AAAA': 28}[asked['type']]
labels = b''.join(bytes([len(part)]) + part.encode() for part in asked['name'].split('.'))
message = struct.pack('!6H', number, 0x0100, 1, 0, 0, 0) + labels + b'\\0' + struct.pack('!2H', kind, 1)
family = socket.AF_INET6 if ':' in asked['server'] else socket.AF_INET

def over_udp():
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        sock.connect((asked['server'], 53))
        for _ in range(3):
            sock.settimeout(2)
            sock.send(message)
            try:
                return sock.recv(4096)
            except socket.timeout:
                pass
    raise SystemExit('no answer over UDP')

def over_tcp():
    with socket.create_connection((asked['server'], 53), 6) as sock:
        sock.sendall(struct.pack('!H', len(message)) + message)
        stream = sock.makefile('rb')
        return stream.read(struct.unpack('!H', stream.read(2))[0])

answer = over_tcp() if asked['protocol'] == 'TCP' else over_udp()
assert struct.unpack('!H', answer[:2])[0] == number and answer[3] & 15 in (0, 3), answer

def after_name(at):
    while answer[at] != 0:
        if answer[at] >= 192:
            return at + 2
        at += 1 + answer[at]
    return at + 1

at = after_name(12) + 4
found = []
for _ in range(struct.unpack('!H', answer[6:8])[0]):
    at = after_name(at)
    of, _, _, length = struct.unpack('!HHIH', answer[at:at + 10])
    if of == kind:
        found.append(socket.inet_ntop(socket.AF_INET6 if of == 28 else socket.AF_INET, answer[at + 10:at + 10 + length]))
    at += 10 + length
print(json.dumps(sorted(found)))
`;
