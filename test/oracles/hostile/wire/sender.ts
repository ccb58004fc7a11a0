/** Sends thousands of frames and datagrams: one program per place and user. */
import type { Sandbox } from '../../../../sandbox/index.ts';
import { runAt } from '../../../e2e/support/packets/capture.ts';
import type { Shot } from '../cases.ts';

export type Runner = Pick<Sandbox, 'exec' | 'node' | 'outside'>;

export interface Sender {
  readonly place: string;
  readonly uid?: number | undefined;
}

/** In this order. What the kernel does not let out is none of the sender's business. */
export const sendShots = async (sandbox: Runner, { place, uid }: Sender, shots: readonly Shot[]): Promise<void> => {
  const lines = shots.map((shot) => JSON.stringify('frames' in shot ? frameLine(shot) : datagramLine(shot)));
  await runAt(sandbox, place, ['python3', '-c', SENDER, String(uid ?? '')], `${lines.join('\n')}\n`);
};

const frameLine = ({ device, frames, mark = 0 }: Extract<Shot, { frames: unknown }>) => ({
  ...{ device, mark },
  frames: frames.map((one) => one.toString('hex')),
});

const datagramLine = ({ address, port, scope = '', payload, mark = 0 }: Extract<Shot, { address: unknown }>) => ({
  ...{ address, port, scope, mark },
  payload: payload.toString('hex'),
});

/** At most 2,000 a second, about: OVS asks its main thread about each new flow. packet(7), ip(7), ipv6(7). */
const SENDER = `
import json, os, socket, sys, time
if sys.argv[1]:
    os.setgroups([]); os.setgid(int(sys.argv[1])); os.setuid(int(sys.argv[1]))
sockets = {}
def raw(mark):
    if mark not in sockets:
        sockets[mark] = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        if mark:
            sockets[mark].setsockopt(socket.SOL_SOCKET, socket.SO_MARK, mark)
    return sockets[mark]
def udp(family, scope, mark):
    if (family, scope, mark) not in sockets:
        sock = socket.socket(family, socket.SOCK_DGRAM)
        if mark:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, mark)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        if scope:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, scope.encode() + b'\\0')
        sockets[(family, scope, mark)] = sock
    return sockets[(family, scope, mark)]
def send(one):
    if 'frames' in one:
        for frame in one['frames']:
            raw(one['mark']).sendto(bytes.fromhex(frame), (one['device'], 0))
        return
    family = socket.AF_INET6 if ':' in one['address'] else socket.AF_INET
    to = (one['address'], one['port'])
    if family == socket.AF_INET6:
        to += (0, socket.if_nametoindex(one['scope']) if one['scope'] else 0)
    udp(family, one['scope'], one['mark']).sendto(bytes.fromhex(one['payload']), to)
for index, line in enumerate(sys.stdin):
    try:
        send(json.loads(line))
    except OSError:
        pass
    if index % 8 == 7:
        time.sleep(0.004)
`;
