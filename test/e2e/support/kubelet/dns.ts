/** Names of Services, as pods and nodes ask for them: by their own resolver, and one DNS server at a time. */
import { z } from 'zod';
import type { Sandbox } from '../../../../sandbox/index.ts';
import type { RunThere } from '../../../oracles/reachability/service-clients.ts';

/** By name, what the resolver of the C library finds, of both families, by the `/etc/resolv.conf` of the place. */
export const resolve = async (
  sandbox: Pick<Sandbox, 'exec'>,
  pod: string,
  names: readonly string[],
  { overTcp = false }: { readonly overTcp?: boolean } = {},
): Promise<Readonly<Record<string, readonly string[]>>> => {
  const env = overTcp ? ['env', 'RES_OPTIONS=use-vc'] : [];
  const { stdout } = await sandbox.exec(pod, [...env, 'python3', '-c', RESOLVE, ...names]);
  return z.record(z.string(), z.array(z.string())).parse(JSON.parse(stdout));
};

/** A name without an address is none; a server that does not answer is an error. */
const RESOLVE = `
import json, socket, sys

def addresses(name):
    try:
        return sorted({info[4][0] for info in socket.getaddrinfo(name, 80, type=socket.SOCK_STREAM)})
    except socket.gaierror as error:
        if error.errno in (socket.EAI_NONAME, socket.EAI_NODATA):
            return []
        raise

print(json.dumps({name: addresses(name) for name in sys.argv[1:]}))
`;

export interface DnsQuestion {
  readonly server: string;
  readonly name: string;
  readonly type: 'A' | 'AAAA';
  readonly protocol: 'TCP' | 'UDP';
}

/**
 * One message and its answer each (RFC 1035 §4), from anywhere.
 * @returns the addresses that each question was answered with
 * @throws CommandError when one was not answered
 */
export const query = async (run: RunThere, questions: readonly DnsQuestion[]): Promise<readonly string[][]> => {
  const { stdout } = await run(['python3', '-c', QUERY], { input: JSON.stringify(questions) });
  return z.array(z.array(z.string())).parse(JSON.parse(stdout));
};

const QUERY = `
import json, os, socket, struct, sys
from concurrent.futures import ThreadPoolExecutor

KINDS = {'A': 1, 'AAAA': 28}

def over_udp(family, server, message):
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        sock.connect((server, 53))
        for _ in range(3):
            sock.settimeout(2)
            sock.send(message)
            try:
                return sock.recv(4096)
            except socket.timeout:
                pass
    raise TimeoutError('no answer over UDP from ' + server)

def over_tcp(family, server, message):
    with socket.create_connection((server, 53), 6) as sock:
        sock.sendall(struct.pack('!H', len(message)) + message)
        stream = sock.makefile('rb')
        return stream.read(struct.unpack('!H', stream.read(2))[0])

def after_name(answer, at):
    while answer[at] != 0:
        if answer[at] >= 192:
            return at + 2
        at += 1 + answer[at]
    return at + 1

def addresses(asked):
    number = int.from_bytes(os.urandom(2), 'big')
    kind = KINDS[asked['type']]
    labels = b''.join(bytes([len(part)]) + part.encode() for part in asked['name'].split('.'))
    message = struct.pack('!6H', number, 0x0100, 1, 0, 0, 0) + labels + b'\\0' + struct.pack('!2H', kind, 1)
    family = socket.AF_INET6 if ':' in asked['server'] else socket.AF_INET
    answer = (over_tcp if asked['protocol'] == 'TCP' else over_udp)(family, asked['server'], message)
    assert struct.unpack('!H', answer[:2])[0] == number and answer[3] & 15 in (0, 3), answer
    at = after_name(answer, 12) + 4
    found = []
    for _ in range(struct.unpack('!H', answer[6:8])[0]):
        at = after_name(answer, at)
        of, _, _, length = struct.unpack('!HHIH', answer[at:at + 10])
        if of == kind:
            family = socket.AF_INET6 if of == 28 else socket.AF_INET
            found.append(socket.inet_ntop(family, answer[at + 10:at + 10 + length]))
        at += 10 + length
    return sorted(found)

questions = json.load(sys.stdin)
with ThreadPoolExecutor(max(1, len(questions))) as pool:
    print(json.dumps(list(pool.map(addresses, questions))))
`;
