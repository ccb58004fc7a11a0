/**
 * What a process of the node, root's, sends by the management port of the default network, or by the node's end of a pod's interface:
 * to addresses that every pod of the node has, and by hand what only the kernel says. Each datagram has a name, by which it is found on the pod's interface.
 */
import { z } from 'zod';
import type { Sandbox } from '../../../sandbox/index.ts';
import { inBackground } from '../../e2e/support/packets/background.ts';
import type { Run } from './entry-points.ts';

/** Who is aimed at, on the default network. */
export interface Target {
  readonly ipv4: string;
  readonly ipv6: string;
  readonly linkLocal: string;
}

const SEEN = '/tmp/seen-by-link';
const seenSchema = z.record(z.string(), z.int());

/** Watches `eth0` of a pod until it ends. @returns how often each name has come so far */
export const watchDefaultInterface = async (
  sandbox: Pick<Sandbox, 'exec'>,
  pod: string,
): Promise<() => Promise<Readonly<Record<string, number>>>> => {
  await sandbox.exec(pod, ['python3', '-c', WATCH, SEEN]);
  return async () => seenSchema.parse(JSON.parse((await sandbox.exec(pod, ['cat', SEEN])).stdout));
};

/** @returns the names of those that the kernel took, sorted; it also takes what Open vSwitch or OVN drops */
export const sendByLink = async (
  run: Run,
  link: string,
  { ipv4, ipv6, linkLocal }: Target,
): Promise<readonly string[]> => {
  const { stdout } = await run(['python3', '-c', SEND, link, ipv4, ipv6, linkLocal]);
  return z.array(z.string()).parse(JSON.parse(stdout)).toSorted();
};

const WATCH = inBackground(`
import re
sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
sock.bind(('eth0', 0))
seen = {}
def write():
    with open(sys.argv[1] + '.new', 'w') as file:
        json.dump(seen, file)
    os.rename(sys.argv[1] + '.new', sys.argv[1])
write()
def serve():
    while True:
        data, sender = sock.recvfrom(65535)
        if sender[2] == socket.PACKET_OUTGOING:
            continue
        # What comes before it, a checksum, may end as it begins.
        for name in re.findall(rb'<<([^<>]*)>>', data):
            seen[name.decode()] = seen.get(name.decode(), 0) + 1
            write()
`);

const SEND = `
import ipaddress, json, socket, struct, sys
device, ipv4, ipv6, link_local = sys.argv[1:]
index = socket.if_nametoindex(device)
taken = []
def send(name, sock, *to):
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
    try:
        for _ in range(3):
            sock.sendto(b'<<%s>>' % name.encode(), *to)
        taken.append(name)
    except OSError:
        pass
def udp4(name, address):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    send(name, sock, (address, 9999))
def udp6(name, address):
    send(name, socket.socket(socket.AF_INET6, socket.SOCK_DGRAM), (address, 9999, 0, index))
def icmp6(name, kind, address):
    sock = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
    for option in (16, 18):
        sock.setsockopt(socket.IPPROTO_IPV6, option, 255)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
    message = bytes([kind]) + bytes(7) + socket.inet_pton(socket.AF_INET6, ipv6) + b'<<%s>>' % name.encode()
    try:
        sock.sendto(message, (address, 0, 0, index))
        taken.append(name)
    except OSError:
        pass
network = ipaddress.ip_interface(ipv4 + '/23').network
udp4('udp to its IPv4 address', ipv4)
udp6('udp to its IPv6 address', ipv6)
udp6('udp to its link-local address', link_local)
udp4('udp to the subnet', str(network.broadcast_address))
udp4('udp to everybody', '255.255.255.255')
udp4('udp to 224.0.0.1', '224.0.0.1')
udp4('udp to 239.1.2.3', '239.1.2.3')
udp6('udp to ff02::1', 'ff02::1')
udp6('udp to ff05::1:3', 'ff05::1:3')
icmp6('echo to ff02::1', 128, 'ff02::1')
icmp6('router advertisement', 134, 'ff02::1')
icmp6('neighbour solicitation', 135, link_local)
icmp6('neighbour advertisement', 136, 'ff02::1')
icmp6('membership report', 143, 'ff02::16')
print(json.dumps(taken))
`;
