/**
 * Large packets between pods and hosts outside: behind a router with a smaller MTU, larger than the network's own, and in
 * fragments. Pods are those of north-south.ts, which has to be called first.
 */
import { randomInt } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { FAMILIES, type Family, type Ip, parseIp } from '../../../../net/ip.ts';
import type { ManifestObject, Sandbox } from '../../../../sandbox/index.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';
import { applyAndWait } from '../cluster/cluster.ts';
import { nodeAddress, outside, pings } from '../networks/north-south.ts';
import { podKey } from '../networks/north-south-tenants.ts';
import { backend, service } from '../services/services.ts';
import { inBackground } from './background.ts';

const TENANTS = ['red', 'green', 'plain'] as const;
/** Of networks; that of the nodes is 1500. */
const NETWORK_MTU = 1400;

/** Behind the outside, which answers for these addresses on the nodes' network and forwards. */
const FAR: Readonly<Record<Family, Ip>> = { 4: parseIp('172.20.0.77'), 6: parseIp('fd00:172:20::77') };
const FAR_MTU = 1300;

/** Without limits on ICMP errors: all tenants are one host to the outside. */
const ROUTER = `
set -e
cd /proc/sys/net
echo 1 > ipv4/ip_forward
echo 1 > ipv6/conf/all/forwarding
echo 1 > ipv6/conf/eth0/proxy_ndp
echo 0 > ipv4/icmp_ratelimit
echo 0 > ipv6/icmp/ratelimit
ip netns add far
ip link add far type veth peer name near netns far
ip addr add 203.0.113.1/24 dev far
ip addr add fd00:203::1/64 dev far nodad
ip link set far up
ip -n far link set lo up
ip -n far link set near up
ip -n far addr add 203.0.113.2/24 dev near
ip -n far addr add fd00:203::2/64 dev near nodad
ip -n far addr add ${FAR[4]}/32 dev near
ip -n far addr add ${FAR[6]}/128 dev near nodad
ip -n far route add default via 203.0.113.1 src ${FAR[4]}
ip -n far -6 route add default via fd00:203::1 src ${FAR[6]}
ip route add ${FAR[4]}/32 via 203.0.113.2 mtu ${FAR_MTU}
ip -6 route add ${FAR[6]}/128 via fd00:203::2 mtu ${FAR_MTU}
ip neigh add proxy ${FAR[4]} dev eth0
ip neigh add proxy ${FAR[6]} dev eth0
setsid ip netns exec far toolbox serve > /dev/null 2>&1 < /dev/null &
`;

/**
 * Call it where tests are declared.
 * @param isReported whether the sender of answers that are too large gets an error
 * @param ofServices families in which errors about answers of Services arrive
 */
export const pathMtu = (
  cluster: () => Sandbox,
  {
    isReported = false,
    ofServices = FAMILIES,
  }: { readonly isReported?: boolean; readonly ofServices?: readonly Family[] } = {},
): void => {
  const python = async (pod: string, ...args: readonly string[]): Promise<string> =>
    (await cluster().exec(pod, ['python3', '-c', ...args])).stdout.trim();

  beforeAll(async () => {
    await cluster().outside(['sh', '-c', ROUTER]);
    for (const server of [ECHO, DARING]) await cluster().outside(['python3', '-c', inBackground(server)]);
    await applyAndWait(
      cluster(),
      TENANTS.flatMap((tenant) => [echoService(tenant), backend(tenant, `${tenant}-echo`, 'node-1', `${tenant}-echo`)]),
    );
    for (const tenant of TENANTS) {
      for (const to of [...FAMILIES.map(outside), FAR[4], FAR[6]]) {
        await eventually(async () => expect(await pings(cluster(), podKey(tenant, 'node-1'), to)).toBe(true), 60_000);
      }
    }
  });

  describe.each(TENANTS)('large packets of a pod of %s', (tenant) => {
    const from = podKey(tenant, 'node-1');

    const ping = async (to: Ip, family: Family, size: number): Promise<string> => {
      // OVS's userspace conntrack does not translate identifiers: two tenants with the same one look the same.
      const identifier = String(randomInt(1, 65_536));
      const payload = String(size - HEADERS[family]);
      const argv = ['ping', '-c', '1', '-W', '2', '-e', identifier, '-M', 'do', '-s', payload, to];
      const { stdout } = await cluster().exec(from, ['sh', '-c', '"$@" 2>&1 || true', '-', ...argv]);
      return stdout;
    };

    it.each(FAMILIES)('a router outside says when they are too large, and TCP gets through, IPv%s', async (family) => {
      expect(await ping(FAR[family], family, FAR_MTU)).toMatch(/ 1 received/);
      // TCP learns it by itself.
      expect(await python(from, TCP_ECHO, FAR[family])).toBe('same');
      await cluster().exec(from, ['ip', `-${family}`, 'route', 'flush', 'cache']);
      const answer = await ping(FAR[family], family, FAR_MTU + 1);
      expect(answer).toMatch(family === 4 ? /Frag needed and DF set \(mtu = 1300\)/ : /Packet too big: mtu=1300/);
      const { stdout } = await cluster().exec(from, ['ip', 'route', 'get', FAR[family]]);
      expect(stdout).toContain(`mtu ${FAR_MTU}`);
    });

    // The router's error names the node's address alone: conntrack knows by what the Service has answered whose it is.
    it.each(ofServices)('and so do answers of its node port to a client behind it, IPv%s', async (family) => {
      const nodePort = String(NODE_PORTS + TENANTS.indexOf(tenant));
      const argv = ['python3', '-c', TCP_ECHO, nodeAddress('node-1', family), nodePort];
      await eventually(async () => {
        const { stdout } = await cluster().outside(['ip', 'netns', 'exec', 'far', ...argv]);
        expect(stdout.trim()).toBe('same');
      });
    });

    it.runIf(isReported).each(FAMILIES)(
      'answers larger than the network’s MTU: their sender gets an error, IPv%s',
      async (family) => {
        await cluster().outside(['ip', `-${family}`, 'route', 'flush', 'cache']);
        const sizes = [NETWORK_MTU, NETWORK_MTU + 1, NETWORK_MTU].map((size) => String(size - HEADERS[family]));
        const fits = `${NETWORK_MTU - HEADERS[family]} bytes`;
        const answers = await python(from, ASK_DARING, outside(family), String(DARING_PORT), ...sizes);
        expect(answers.split('\n')).toEqual([fits, `mtu ${NETWORK_MTU}`, fits]);
      },
    );

    it.each(FAMILIES)('fragments pass, both ways, IPv%s', async (family) => {
      await cluster().outside(['ip', `-${family}`, 'route', 'flush', 'cache']);
      const sizes = [100, 1420, 4000].map(String);
      const answers = await python(from, UDP_ECHO, outside(family), String(ECHO_PORT), ...sizes);
      expect(answers.split('\n')).toEqual(sizes.map((size) => `${size} same`));
    });
  });
};

const NODE_PORTS = 30_500;

/** Of a pod on the node that is asked, for its port that sends back what it gets. */
const echoService = (tenant: (typeof TENANTS)[number]): ManifestObject => {
  const made = service(tenant, 'echo', { app: `${tenant}-echo` });
  const port = { protocol: 'TCP', port: 8082, targetPort: 8082, nodePort: NODE_PORTS + TENANTS.indexOf(tenant) };
  return { ...made, spec: { ...(made['spec'] as object), type: 'NodePort', ports: [port] } };
};

const HEADERS: Readonly<Record<Family, number>> = { 4: 28, 6: 48 };
const ECHO_PORT = 9000;
const DARING_PORT = 9001;

/** Sends back what it gets, whatever its size. */
const ECHO = `
sock = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
sock.bind(('::', ${ECHO_PORT}))
def serve():
    while True:
        data, sender = sock.recvfrom(65535)
        sock.sendto(data, sender)
`;

/**
 * Answers with as many bytes as it is asked for, in one packet that nobody may split, and then with the errors that it got
 * about it: ip(7) and ipv6(7), `IP_RECVERR` and `IP_PMTUDISC_PROBE`, which sends whatever was learned before.
 */
const DARING = `
def bound(family, any_address):
    sock = socket.socket(family, socket.SOCK_DGRAM)
    if family == socket.AF_INET6:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.setsockopt(socket.IPPROTO_IPV6, 23, 3)
        sock.setsockopt(socket.IPPROTO_IPV6, 25, 1)
    else:
        sock.setsockopt(socket.IPPROTO_IP, 10, 3)
        sock.setsockopt(socket.IPPROTO_IP, 11, 1)
    sock.bind((any_address, ${DARING_PORT}))
    return sock
socks = [bound(socket.AF_INET, '0.0.0.0'), bound(socket.AF_INET6, '::')]
def told(sock):
    _, ancillary, _, _ = sock.recvmsg(1, 200, socket.MSG_ERRQUEUE | socket.MSG_DONTWAIT)
    return [struct.unpack('IBBBBI', data[:12])[5] for level, kind, data in ancillary if (level, kind) in ((0, 11), (41, 25))]
def serve():
    poll = select.poll()
    by_number = {sock.fileno(): sock for sock in socks}
    askers = {}
    for sock in socks:
        poll.register(sock, select.POLLIN)
    while True:
        for number, event in poll.poll():
            sock = by_number[number]
            try:
                if event & select.POLLERR:
                    for mtu in told(sock):
                        sock.sendto(b'mtu %d' % mtu, askers[number])
                if event & select.POLLIN:
                    data, askers[number] = sock.recvfrom(100)
                    sock.sendto(bytes(int(data)), askers[number])
            except OSError:
                pass
`;

const ASK_DARING = `
import socket, sys
address, port, sizes = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
for size in sizes:
    sock = socket.socket(socket.AF_INET6 if ':' in address else socket.AF_INET, socket.SOCK_DGRAM)
    sock.settimeout(5)
    sock.connect((address, port))
    sock.send(size.encode())
    answer = sock.recv(65535)
    print(answer.decode() if answer.startswith(b'mtu') else '%d bytes' % len(answer))
`;

/** Until it has come back once: the first ones teach senders the path's MTU. */
const UDP_ECHO = `
import socket, sys
address, port, sizes = sys.argv[1], int(sys.argv[2]), [int(size) for size in sys.argv[3:]]
def is_echoed(sock, attempt, size):
    message = bytes([attempt]) + bytes(index % 251 for index in range(size - 1))
    try:
        sock.send(message)
        return sock.recv(65535) == message
    except OSError:
        return False
for size in sizes:
    sock = socket.socket(socket.AF_INET6 if ':' in address else socket.AF_INET, socket.SOCK_DGRAM)
    sock.settimeout(1)
    sock.connect((address, port))
    print(size, 'same' if any(is_echoed(sock, attempt, size) for attempt in range(10)) else 'different')
`;

/** Some 200 kB to an address (and port) and back: `same`, or not. */
export const TCP_ECHO = `
import socket, sys, threading
sock = socket.create_connection((sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 8082), 10)
sock.settimeout(10)
data = bytes(range(256)) * 800
def send():
    sock.sendall(data)
    sock.shutdown(socket.SHUT_WR)
threading.Thread(target=send).start()
received = b''
while piece := sock.recv(65536):
    received += piece
print('same' if received == data else 'different')
`;
