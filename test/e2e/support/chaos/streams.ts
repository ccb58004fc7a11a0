/** UDP and TCP between pods, and to the outside, until they are stopped. Every datagram and every byte comes back. */
import { z } from 'zod';
import type { Sandbox } from '../../../../sandbox/index.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';
import type { DatagramStream } from './losses.ts';

export interface Path {
  /** `namespace/name`. */
  readonly from: string;
  /** What it is, for people. */
  readonly name: string;
  /** An address. */
  readonly to: string;
  /** The sender's address is, on its way. */
  readonly isTranslated: boolean;
}

export interface StreamResults {
  readonly datagrams: readonly DatagramStream[];
  /** Connections that did not last. */
  readonly broken: readonly BrokenConnection[];
}

export interface BrokenConnection {
  readonly path: Path;
  readonly why: string;
}

export interface Streams {
  /** Ends them, and waits for what is still on its way. */
  stop(): Promise<StreamResults>;
}

const STOP_FILE = '/tmp/chaos-stop';
/** A folder in which every program says that it had its first answer. */
const UP = '/tmp/chaos-up';
const UP_MS = 60_000;
const HOUR_MS = 3_600_000;
/** Datagrams a second, of each stream. */
const RATE = 50;

export const startStreams = async (sandbox: Sandbox, paths: readonly Path[]): Promise<Streams> => {
  const pods = [...new Set(paths.map(({ from }) => from))];
  await Promise.all(pods.map((pod) => sandbox.exec(pod, ['sh', '-c', `rm -rf ${STOP_FILE} ${UP} && mkdir ${UP}`])));
  const run = async ({ from, to }: Path, program: string): Promise<unknown> => {
    const argv = ['python3', '-c', program, to, STOP_FILE, String(RATE)];
    return JSON.parse((await sandbox.exec(from, argv, { timeoutMs: HOUR_MS })).stdout);
  };
  const datagrams = Promise.all(
    paths.map(async (path): Promise<DatagramStream> => {
      const result = datagramsSchema.parse(await run(path, DATAGRAMS));
      return { name: path.name, ...result };
    }),
  );
  const broken = Promise.all(
    paths.map(async (path) => {
      const { error } = connectionSchema.parse(await run(path, CONNECTION));
      return error === null ? [] : [{ path, why: error }];
    }),
  );
  // What fails before it is waited for is no rejection that nobody handles.
  const settled = Promise.allSettled([datagrams, broken]);
  await Promise.race([untilUp(sandbox, paths), datagrams, broken]);
  return {
    stop: async () => {
      await Promise.all(pods.map((pod) => sandbox.exec(pod, ['touch', STOP_FILE])));
      await settled;
      return { datagrams: await datagrams, broken: (await broken).flat() };
    },
  };
};

const untilUp = async (sandbox: Sandbox, paths: readonly Path[]): Promise<void> => {
  for (const [pod, own] of Map.groupBy(paths, ({ from }) => from)) {
    await eventually(async () => {
      const { stdout } = await sandbox.exec(pod, ['ls', UP]);
      if (stdout.split('\n').length <= 2 * own.length) throw new Error(`no answers yet in ${pod}`);
    }, UP_MS);
  }
};

const datagramsSchema = z.object({ from: z.number(), to: z.number(), sent: z.int(), lost: z.array(z.number()) });
const connectionSchema = z.object({ error: z.string().nullable() });

/** Answers are `echo`'s of the toolbox's server. The clock is the machine's, as that of whoever kills. */
const DATAGRAMS = `
import json, os, select, socket, sys, time
host, stop, rate = sys.argv[1], sys.argv[2], float(sys.argv[3])
sock = socket.socket(socket.AF_INET6 if ':' in host else socket.AF_INET, socket.SOCK_DGRAM)
sock.connect((host, 8081))
sock.setblocking(False)
waiting = {}
count = 0
is_up = False
begin = due = time.time()
end = None
while True:
    now = time.time()
    if end is None and os.path.exists(stop):
        end = now
    if end is not None and (not waiting or now > end + 2):
        break
    if end is None and now >= due:
        try:
            sock.send(b'echo %d' % count)
        except OSError:
            pass
        waiting[count] = now
        count += 1
        # A machine that is busy sends less, and not all at once later.
        due = max(due + 1 / rate, now)
    if select.select([sock], [], [], max(0, due - time.time()) if end is None else 0.1)[0]:
        try:
            waiting.pop(int(sock.recv(100)), None)
            if not is_up:
                # What came before is the start's, not a loss.
                waiting.clear()
                is_up = True
                open('/tmp/chaos-up/%d' % os.getpid(), 'w').close()
        except (OSError, ValueError):
            pass
lost = sorted(1000 * at for at in waiting.values())
print(json.dumps({'from': 1000 * begin, 'to': 1000 * end, 'sent': count, 'lost': lost}))
`;

/** One connection: a piece is sent when the last one has come back. What is lost TCP sends again, for as long as it takes. */
const CONNECTION = `
import json, os, socket, sys, time
error = None
try:
    sock = socket.create_connection((sys.argv[1], 8082), 30)
    sock.settimeout(60)
    open('/tmp/chaos-up/%d' % os.getpid(), 'w').close()
    while not os.path.exists(sys.argv[2]):
        sock.sendall(b'x' * 100)
        left = 100
        while left > 0:
            piece = sock.recv(left)
            if not piece:
                raise OSError('closed')
            left -= len(piece)
        time.sleep(0.05)
except OSError as failure:
    error = str(failure)
print(json.dumps({'error': error}))
`;
