/**
 * Large packets between pods and hosts outside: behind a router with a smaller MTU, and in fragments. Needs root and
 * `make build`.
 */
import { randomInt } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { FAMILIES, type Family, type Ip, parseIp } from '../../net/ip.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { applyAndWait, useCluster } from './support/cluster.ts';
import { layer2, layer3, namespace, plainNamespace, pod } from './support/manifests.ts';
import { outside, pings } from './support/north-south.ts';

const cluster = useCluster({ name: 'test-path-mtu' });
const TENANTS = ['red', 'green', 'plain'] as const;

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

beforeAll(async () => {
  await applyAndWait(cluster(), [
    namespace('red'),
    namespace('green'),
    plainNamespace('plain'),
    layer3('red', 'net', ['10.84.0.0/16/24', 'fd00:84::/48/64']),
    layer2('green', 'net', ['10.85.0.0/16', 'fd00:85::/64']),
    ...TENANTS.map((name) => pod(name, 'a', 'node-1')),
  ]);
  await cluster().outside(['sh', '-c', ROUTER]);
  await cluster().outside(['python3', '-c', ECHO_START]);
  for (const tenant of TENANTS) {
    for (const to of [...FAMILIES.map(outside), FAR[4], FAR[6]]) {
      await eventually(async () => expect(await pings(cluster(), `${tenant}/a`, to)).toBe(true), 60_000);
    }
  }
});

const UDP_PORT = 9000;

/** Sends back what it gets, whatever its size: in the background, as long as the outside is there. */
const ECHO_START = `
import os, socket
sock = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
sock.bind(('::', ${UDP_PORT}))
if os.fork() == 0:
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    while True:
        data, sender = sock.recvfrom(65535)
        sock.sendto(data, sender)
`;

/** Until it has come back once: the first ones teach senders the path's MTU. */
const UDP_ECHO = `
import socket, sys
address, port, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
sock = socket.socket(socket.AF_INET6 if ':' in address else socket.AF_INET, socket.SOCK_DGRAM)
sock.settimeout(1)
sock.connect((address, port))
for attempt in range(10):
    message = bytes([attempt]) + bytes(index % 251 for index in range(size - 1))
    try:
        sock.send(message)
        if sock.recv(65535) == message:
            print('same')
            break
    except OSError:
        pass
`;

const TCP_ECHO = `
import socket, sys, threading
sock = socket.create_connection((sys.argv[1], 8082), 10)
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

const python = async (pod: string, ...args: readonly string[]): Promise<string> =>
  (await cluster().exec(pod, ['python3', '-c', ...args])).stdout.trim();

describe.each(TENANTS)('a pod of %s', (tenant) => {
  const from = `${tenant}/a`;
  const HEADERS: Readonly<Record<Family, number>> = { 4: 28, 6: 48 };

  const ping = async (to: Ip, family: Family, size: number): Promise<string> => {
    // OVS's userspace conntrack does not translate identifiers: two tenants with the same one are not told apart.
    const identifier = String(randomInt(1, 65_536));
    const argv = ['ping', '-c', '1', '-W', '2', '-e', identifier, '-M', 'do', '-s', String(size - HEADERS[family]), to];
    const { stdout } = await cluster().exec(from, ['sh', '-c', '"$@" 2>&1 || true', '-', ...argv]);
    return stdout;
  };

  it.each(FAMILIES)(
    'is told by a router outside that a packet is too large, and TCP gets through, IPv%s',
    async (family) => {
      expect(await ping(FAR[family], family, FAR_MTU)).toMatch(/ 1 received/);
      // TCP learns it by itself.
      expect(await python(from, TCP_ECHO, FAR[family])).toBe('same');
      await cluster().exec(from, ['ip', `-${family}`, 'route', 'flush', 'cache']);
      const answer = await ping(FAR[family], family, FAR_MTU + 1);
      expect(answer).toMatch(family === 4 ? /Frag needed and DF set \(mtu = 1300\)/ : /Packet too big: mtu=1300/);
      const { stdout } = await cluster().exec(from, ['ip', 'route', 'get', FAR[family]]);
      expect(stdout).toContain(`mtu ${FAR_MTU}`);
    },
  );

  it.each(FAMILIES)('exchanges packets in fragments with a host outside, both ways, IPv%s', async (family) => {
    for (const size of [100, 1420, 4000]) {
      expect(await python(from, UDP_ECHO, outside(family), String(UDP_PORT), String(size))).toBe('same');
    }
  });
});
