/** A DNS server outside of the cluster, and the setting by which agents ask it. */
import type { Sandbox } from '../../../../sandbox/index.ts';
import { addressOfFamily, planNetwork } from '../../../../sandbox/plan/netplan.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';
import { python } from '../../../oracles/python.ts';

const PORT = 5353;
const LISTENING = '/tmp/name-server-listens';

/** @param nodes how many the cluster has */
export const nameServerSetting = (nodes: number): Readonly<Record<string, string>> => ({
  UDN_DNS_SERVERS: `${addressOfFamily(planNetwork('dual', nodes).outside.addresses, 4)}:${PORT}`,
});

/**
 * Everything else than these names there is not. Answers live a second.
 * @param answers addresses of both families by name, without the last dot
 * @returns what ends it
 */
export const serveNames = async (
  sandbox: Sandbox,
  answers: Readonly<Record<string, readonly string[]>>,
): Promise<() => Promise<void>> => {
  await sandbox.outside(['rm', '-f', LISTENING]);
  const end = new AbortController();
  const serving = sandbox.outside(python(SERVER, String(PORT), JSON.stringify(answers), LISTENING), {
    ...{ signal: end.signal, timeoutMs: 120_000 },
  });
  serving.catch(() => undefined);
  await eventually(() => sandbox.outside(['test', '-e', LISTENING]));
  return async () => {
    end.abort();
    await serving.catch(() => undefined);
  };
};

/** RFC 1035, section 4: the question comes back as it was, with addresses of its type that name it by a pointer. */
const SERVER = `
import ipaddress, json, socket, struct, sys
answers = json.loads(sys.argv[2])
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.bind(('0.0.0.0', int(sys.argv[1])))
open(sys.argv[3], 'w').close()
while True:
    query, peer = sock.recvfrom(512)
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1:at + 1 + query[at]].decode())
        at += 1 + query[at]
    kind = struct.unpack('>H', query[at + 1:at + 3])[0]
    found = answers.get('.'.join(labels).lower())
    ips = [ipaddress.ip_address(text) for text in found or []]
    own = [ip.packed for ip in ips if ip.version == {1: 4, 28: 6}.get(kind)]
    head = query[:2] + struct.pack('>HHHHH', 0x8183 if found is None else 0x8180, 1, len(own), 0, 0)
    records = [struct.pack('>HHHIH', 0xc00c, kind, 1, 1, len(ip)) + ip for ip in own]
    sock.sendto(head + query[12:at + 5] + b''.join(records), peer)
`;
