/** A client of DHCP and DHCPv6 that asks for addresses on a pod's interface, as the machine in it does, and says what it is answered. */
import { z } from 'zod';
import type { Family } from '../../../../net/ip.ts';
import type { Sandbox } from '../../../../sandbox/index.ts';

export interface DhcpAnswer {
  readonly address: string;
  /** By their numbers (RFC 2132, RFC 8415), in hexadecimal digits. */
  readonly options: Readonly<Record<string, string>>;
}

/** Asks again until it is answered. @returns undefined when nobody does */
export const askDhcp = async (
  sandbox: Pick<Sandbox, 'exec'>,
  pod: string,
  device: string,
  family: Family,
): Promise<DhcpAnswer | undefined> => {
  const { stdout } = await sandbox.exec(pod, ['python3', '-c', CLIENT, device, String(family)]);
  return answerSchema.parse(JSON.parse(stdout)) ?? undefined;
};

const answerSchema = z.object({ address: z.string(), options: z.record(z.string(), z.string()) }).nullable();

const CLIENT = `
import ipaddress, json, select, socket, struct, sys, time
device, family = sys.argv[1], int(sys.argv[2])
sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.ntohs(3))
sock.bind((device, 0))
mac = sock.getsockname()[4]

def checksum(data):
    data += b'\\0' * (len(data) % 2)
    total = sum(struct.unpack('!%dH' % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff

def discover():
    body = struct.pack('!BBBBIHH', 1, 1, 6, 0, 0x5eed, 0, 0) + b'\\0' * 16 + mac + b'\\0' * 202
    body += bytes([99, 130, 83, 99, 53, 1, 1, 55, 6, 1, 3, 6, 12, 26, 51, 255])
    udp = struct.pack('!HHHH', 68, 67, 8 + len(body), 0)
    head = struct.pack('!BBHHHBBH', 0x45, 0, 28 + len(body), 1, 0, 64, 17, 0) + b'\\0' * 4 + b'\\xff' * 4
    head = head[:10] + struct.pack('!H', checksum(head)) + head[12:]
    return b'\\xff' * 6 + mac + b'\\x08\\x00' + head + udp + body

def solicit():
    # The link-local address of the MAC, RFC 4291.
    own = b'\\xfe\\x80' + b'\\0' * 6 + bytes([mac[0] ^ 2]) + mac[1:3] + b'\\xff\\xfe' + mac[3:]
    to = ipaddress.ip_address('ff02::1:2').packed
    option = lambda code, data: struct.pack('!HH', code, len(data)) + data
    body = b'\\x01\\x00\\x5e\\xed' + option(1, b'\\0\\3\\0\\1' + mac) + option(3, struct.pack('!III', 7, 0, 0))
    # Whoever does not say its name is not told it, RFC 4704 section 6.1.
    body += option(6, struct.pack('!HH', 23, 39)) + option(39, b'\\0')
    length = 8 + len(body)
    udp = struct.pack('!HHHH', 546, 547, length, 0) + body
    total = checksum(own + to + struct.pack('!II', length, 17) + udp)
    udp = udp[:6] + struct.pack('!H', total or 0xffff) + udp[8:]
    return b'\\x33\\x33\\0\\1\\0\\2' + mac + b'\\x86\\xdd' + struct.pack('!IHBB', 6 << 28, length, 17, 64) + own + to + udp

def answer4(frame):
    if frame[12:14] != b'\\x08\\0' or frame[23] != 17: return
    udp = frame[14 + (frame[14] & 15) * 4:]
    if udp[2:4] != b'\\0\\x44' or udp[8] != 2: return
    body, at, found = udp[8:], 240, {}
    while at < len(body) and body[at] != 255:
        if body[at] == 0:
            at += 1
            continue
        found[body[at]] = body[at + 2:at + 2 + body[at + 1]].hex()
        at += 2 + body[at + 1]
    return {'address': str(ipaddress.ip_address(body[16:20])), 'options': found}

def options6(data):
    at = 0
    while at + 4 <= len(data):
        code, length = struct.unpack('!HH', data[at:at + 4])
        yield code, data[at + 4:at + 4 + length]
        at += 4 + length

def answer6(frame):
    if frame[12:14] != b'\\x86\\xdd' or frame[20] != 17 or frame[56:58] != b'\\x02\\x22': return
    if frame[62] not in (2, 7): return
    found = dict(options6(frame[66:]))
    given = dict(options6(found.get(3, b'')[12:])).get(5)
    if given is None: return
    return {'address': str(ipaddress.ip_address(given[:16])), 'options': {k: v.hex() for k, v in found.items()}}

ask, read = (discover, answer4) if family == 4 else (solicit, answer6)
answer = None
for _ in range(12):
    sock.send(ask())
    end = time.monotonic() + 0.25
    while answer is None and select.select([sock], [], [], max(0, end - time.monotonic()))[0]:
        frame, origin = sock.recvfrom(2048)
        # Its own question comes by, too.
        if origin[2] != socket.PACKET_OUTGOING: answer = read(frame)
    if answer: break
print(json.dumps(answer))
`;
