/** Associations of SCTP that are held while others decide about them: each sends a message whenever its last one was answered. */
import { expect } from 'vitest';
import type { Sandbox } from '../../../../sandbox/index.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';
import { inBackground } from './background.ts';

export interface HeldEnds {
  /** A pod. */
  readonly from: string;
  readonly own: string;
  readonly to: string;
  readonly port: number;
}

/** So many messages of those that go on are the time in which the others must be silent: a second on a quiet machine. */
const ENOUGH = 10;
const PATIENCE_MS = 60_000;

export class HeldMessages {
  readonly #sandbox: Sandbox;
  readonly #byPod: ReadonlyMap<string, readonly HeldEnds[]>;

  private constructor(sandbox: Sandbox, byPod: ReadonlyMap<string, readonly HeldEnds[]>) {
    this.#sandbox = sandbox;
    this.#byPod = byPod;
  }

  /** To servers that send back what they get. Resolves when each has answered. */
  static async open(sandbox: Sandbox, all: readonly HeldEnds[]): Promise<HeldMessages> {
    const byPod = Map.groupBy(all, ({ from }) => from);
    await Promise.all(
      [...byPod].map(async ([pod, ends]) => {
        const input = JSON.stringify({ folder: folderOf(pod), ends });
        await sandbox.exec(pod, ['python3', '-c', inBackground(HOLD)], { input });
      }),
    );
    return new HeldMessages(sandbox, byPod);
  }

  /** Some carry messages on, and all others none in the same time. */
  async expectOnly(isAllowed: (ends: HeldEnds) => boolean): Promise<void> {
    const patience = PATIENCE_MS * (await this.#sandbox.slowdown());
    await eventually(async () => {
      const before = await this.#answered();
      const since = async (): Promise<readonly (readonly [HeldEnds, number])[]> => {
        const now = await this.#answered();
        return now.map(([ends, count], index) => [ends, count - (before[index]?.[1] ?? 0)] as const);
      };
      await eventually(async () => {
        const slow = (await since()).filter(([ends, count]) => isAllowed(ends) && count < ENOUGH);
        expect(slow.map(describeOne)).toEqual([]);
      }, patience / 4);
      const open = (await since()).filter(([ends, count]) => !isAllowed(ends) && count > 0);
      expect(open.map(describeOne)).toEqual([]);
    }, patience);
  }

  async close(): Promise<void> {
    await Promise.all(
      [...this.#byPod.keys()].map((pod) => this.#sandbox.exec(pod, ['rm', '-r', folderOf(pod)]).catch(() => undefined)),
    );
  }

  /** How many messages of each were answered. */
  async #answered(): Promise<readonly (readonly [HeldEnds, number])[]> {
    const counts = await Promise.all(
      [...this.#byPod].map(async ([pod, ends]) => {
        const files = ends.map((_, index) => `${folderOf(pod)}/${index}`);
        const { stdout } = await this.#sandbox.exec(pod, ['stat', '-c', '%s', ...files]);
        const sizes = stdout.trim().split('\n').map(Number);
        return ends.map((one, index) => [one, sizes[index] ?? Number.NaN] as const);
      }),
    );
    return counts.flat();
  }
}

const folderOf = (pod: string): string => `/tmp/held-${pod.replace('/', '-')}`;

const describeOne = ([{ from, to, port }, count]: readonly [HeldEnds, number]): string =>
  `${from} → ${to} SCTP ${port}: ${count} messages`;

/**
 * Each association has a file with a byte for each answer. They are bound to one address: with more, the server would be sent all of them,
 * for times when one does not work. It ends when its folder is gone.
 */
const HOLD = `
given = json.load(sys.stdin)
os.mkdir(given['folder'])
socks = []
for ends in given['ends']:
    sock = socket.socket(socket.AF_INET6 if ':' in ends['to'] else socket.AF_INET, socket.SOCK_STREAM, 132)
    sock.settimeout(20)
    sock.bind((ends['own'], 0))
    sock.connect((ends['to'], ends['port']))
    socks.append(sock)
def note(index, text):
    with open('%s/%d' % (given['folder'], index), 'ab') as file:
        file.write(text)
for index, sock in enumerate(socks):
    sock.sendall(b'x')
    if sock.recv(1) != b'x':
        raise OSError('closed')
    note(index, b'x')
    sock.sendall(b'x')
    sock.settimeout(0)
def serve():
    while os.path.isdir(given['folder']):
        time.sleep(0.1)
        for index, sock in enumerate(socks):
            try:
                if sock.recv(1) == b'x':
                    note(index, b'x')
                    sock.send(b'x')
            except OSError:
                pass
`;
