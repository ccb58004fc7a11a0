/** Ports of a pod's interface on the default network, and who gets an answer there: over TCP, UDP, SCTP and ICMP. */
import { z } from 'zod';
import { type Ip, ipFamily } from '../../../net/ip.ts';
import type { Sandbox } from '../../../sandbox/index.ts';
import { inBackground } from '../../e2e/support/packets/background.ts';

/** Runs a program as somebody. */
export type Run = (
  argv: readonly string[],
  options?: { readonly input?: string },
) => Promise<{ readonly stdout: string }>;

/** IP protocols with ports, of which only some kernels have SCTP. */
export type PortProtocol = 'tcp' | 'udp' | 'sctp';

export interface EntryPoint {
  readonly protocol: PortProtocol | 'icmp';
  readonly address: Ip;
  /** 0 for ICMP. */
  readonly port: number;
}

export const entryPointName = ({ protocol, address, port }: EntryPoint): string =>
  protocol === 'icmp' ? `icmp ${address}` : `${protocol} ${address} ${port}`;

/** Has a pod answer at all of them, as long as it is there. */
export const serveEntryPoints = async (
  sandbox: Pick<Sandbox, 'exec'>,
  pod: string,
  entryPoints: readonly EntryPoint[],
): Promise<void> => {
  await sandbox.exec(pod, ['python3', '-c', SERVER, JSON.stringify(entryPoints.filter(({ port }) => port > 0))]);
};

/**
 * All at once; twice, as a first packet may be lost while a neighbour is asked for.
 * @returns the names of those that answered, sorted
 */
export const openEntryPoints = async (run: Run, entryPoints: readonly EntryPoint[]): Promise<string[]> => {
  const input = entryPoints.map((entryPoint, id) => `${id} ${probeLine(entryPoint)}\n`).join('');
  const { stdout } = await run(['toolbox', 'probe', '--timeout', '1000', '--tries', '2'], { input });
  const answers = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => answerSchema.parse(JSON.parse(line)));
  if (answers.length !== entryPoints.length)
    throw new Error(`${answers.length} of ${entryPoints.length} probes have ended`);
  return answers
    .flatMap(({ id, answered }) => {
      const entryPoint = entryPoints[Number(id)];
      return answered && entryPoint !== undefined ? [entryPointName(entryPoint)] : [];
    })
    .sort();
};

const probeLine = ({ protocol, address, port }: EntryPoint): string => {
  const family = ipFamily(address);
  const host = family === 6 ? `[${address}]` : address;
  return `${family} ${protocol} ${protocol === 'icmp' ? address : `${host}:${port}`}`;
};

const answerSchema = z.object({ id: z.string(), answered: z.boolean() });

const heldSchema = z.object({ answered: z.int(), missed: z.int(), isAlive: z.boolean() });

/** Of one connection: a message is sent again and again, each when the one before was answered or five seconds are over. */
export type Held = z.infer<typeof heldSchema>;

export interface HeldEntryPoints {
  readonly who: string;
  /** By name of the entry point. */
  look(): Promise<Readonly<Record<string, Held>>>;
  end(): Promise<void>;
}

/** Connects to all of them, and goes on until it is ended. @throws CommandError when one does not answer at once */
export const holdEntryPoints = async (
  run: Run,
  who: string,
  entryPoints: readonly EntryPoint[],
): Promise<HeldEntryPoints> => {
  const file = `/tmp/held-doors-${who.replaceAll(' ', '-')}`;
  const named = entryPoints.map((entryPoint) => ({ ...entryPoint, name: entryPointName(entryPoint) }));
  await run(['python3', '-c', HOLD, JSON.stringify(named), file]);
  return {
    who,
    look: async () => z.record(z.string(), heldSchema).parse(JSON.parse((await run(['cat', file])).stdout)),
    end: async () => {
      await run(['rm', '-f', `${file}.wanted`]);
    },
  };
};

/** An SCTP endpoint sends its peer every address of the host unless it is bound to one (RFC 9260, section 3.3.2). */
const COMMON = `
KINDS = {'tcp': (socket.SOCK_STREAM, 0), 'udp': (socket.SOCK_DGRAM, 0), 'sctp': (socket.SOCK_STREAM, 132)}
def opened(door):
    family = socket.AF_INET6 if ':' in door['address'] else socket.AF_INET
    kind, number = KINDS[door['protocol']]
    return socket.socket(family, kind, number)
def received(sock, size):
    data = b''
    while len(data) < size:
        piece = sock.recv(size - len(data))
        if not piece:
            raise OSError('closed')
        data += piece
    return data
def connected(door, seconds):
    sock = opened(door)
    sock.settimeout(seconds)
    sock.connect((door['address'], door['port']))
    return sock
def ask(sock, message):
    sock.sendall(message)
    while received(sock, len(message)) != message:
        pass
`;

/** Sends back what it gets, and answers what `toolbox probe` asks. */
const SERVER = inBackground(`${COMMON}
def echo(sock):
    try:
        while data := sock.recv(200):
            if data.startswith(b'GET '):
                sock.sendall(b'HTTP/1.0 200 OK\\r\\n\\r\\nopen')
                sock.close()
                return
            sock.sendall(data)
    except OSError:
        pass
def accept(sock):
    while True:
        threading.Thread(target=echo, args=(sock.accept()[0],)).start()
def answer(sock):
    while True:
        data, sender = sock.recvfrom(100)
        sock.sendto(data, sender)
servers = []
for door in json.loads(sys.argv[1]):
    sock = opened(door)
    if door['protocol'] != 'udp':
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((door['address'], door['port']))
    if door['protocol'] != 'udp':
        sock.listen(20)
    servers.append((answer if door['protocol'] == 'udp' else accept, sock))
def serve():
    for work, sock in servers:
        threading.Thread(target=work, args=(sock,)).start()
`);

/** Its file says how they are; when somebody deletes the one beside it, it ends. */
const HOLD = inBackground(`${COMMON}
doors, path = json.loads(sys.argv[1]), sys.argv[2]
held = {door['name']: {'answered': 0, 'missed': 0, 'isAlive': True} for door in doors}
socks = [(door['name'], connected(door, 5)) for door in doors]
for name, sock in socks:
    ask(sock, b'%8d' % 0)
    sock.settimeout(5)
lock = threading.Lock()
def write():
    with open(path + '.new', 'w') as file:
        json.dump(held, file)
    os.rename(path + '.new', path)
write()
open(path + '.wanted', 'w').close()
def tell(name, is_alive):
    with lock:
        held[name]['answered' if is_alive else 'missed'] += 1
        held[name]['isAlive'] = is_alive
        write()
    return os.path.exists(path + '.wanted')
def go_on(name, sock):
    number = 1
    is_wanted = True
    while is_wanted:
        started = time.monotonic()
        try:
            ask(sock, b'%8d' % number)
            is_alive = True
        except OSError:
            is_alive = False
        number += 1
        is_wanted = tell(name, is_alive)
        time.sleep(max(0, 0.3 - (time.monotonic() - started)))
def serve():
    for pair in socks:
        threading.Thread(target=go_on, args=pair).start()
`);
