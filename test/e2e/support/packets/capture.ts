/** Frames as they are on interfaces, of the nodes, the outside and pods, while a test sends some. */
import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { z } from 'zod';
import type { Sandbox } from '../../../../sandbox/index.ts';
import { SANDBOX_FOLDER } from '../../../../sandbox/kubelet/paths.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';

/** `outside`, the name of a node, or `NAMESPACE/NAME` of a pod. */
export type Place = string;

export interface CapturedFrame {
  readonly place: Place;
  readonly device: string;
  /** It was sent there, not received. */
  readonly isOutgoing: boolean;
  readonly bytes: Buffer;
}

type Runner = Pick<Sandbox, 'exec' | 'node' | 'outside'>;

export const runAt = (sandbox: Runner, place: Place, argv: readonly string[], input?: string) => {
  const options = { timeoutMs: 120_000, ...(input === undefined ? {} : { input }) };
  if (place === 'outside') return sandbox.outside(argv, options);
  return place.includes('/') ? sandbox.exec(place, argv, options) : sandbox.node(place, argv, options);
};

export interface FrameToSend {
  readonly device: string;
  readonly frame: Buffer;
}

/** Three times each, as a single one may get lost, in this order. It needs CAP_NET_RAW, which pods have. */
export const sendFrames = async (sandbox: Runner, place: Place, frames: readonly FrameToSend[]): Promise<void> => {
  const lines = frames.map(({ device, frame }) => JSON.stringify({ device, frame: frame.toString('hex') }));
  await runAt(sandbox, place, ['python3', '-c', SENDER], `${lines.join('\n')}\n`);
};

const SENDER = `
import json, socket, sys, time
sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
frames = [json.loads(line) for line in sys.stdin if line.strip()]
for _ in range(3):
    for one in frames:
        sock.sendto(bytes.fromhex(one['frame']), (one['device'], 0))
    time.sleep(0.1)
`;

/**
 * Everything that is on interfaces of the places from before the work until `isEnough` says so: then what is waited for has
 * come, and what was sent before it. `again` is done as long as it has not: a busy machine loses frames. One program per node looks into the network namespaces of its pods, too.
 */
export const capture = async (
  sandbox: Runner & Pick<Sandbox, 'status'>,
  places: readonly Place[],
  work: () => Promise<unknown>,
  isEnough: (frames: readonly CapturedFrame[]) => boolean,
  again: () => Promise<unknown> = () => Promise.resolve(),
): Promise<readonly CapturedFrame[]> => {
  const file = `/tmp/capture-${randomBytes(4).toString('hex')}`;
  const pods = places.filter((place) => place.includes('/'));
  const hosts = await hostsOf(sandbox, places);
  const running = hosts.map((host) => {
    const own = places.includes(host) ? host : '';
    return runAt(sandbox, host, ['python3', '-c', SNIFFER, file, SANDBOX_FOLDER, own, ...pods]);
  });
  const ended = Promise.all(running).then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  const read = async (): Promise<Captured> => {
    const parts = await Promise.all(hosts.map((host) => readCaptured(sandbox, host, file)));
    return { places: parts.flatMap((part) => part.places), frames: parts.flatMap((part) => part.frames) };
  };
  try {
    await eventually(async () => expect((await read()).places.toSorted()).toEqual(places.toSorted()), 30_000);
    await work();
    await eventually(async () => {
      const isThere = isEnough((await read()).frames);
      if (!isThere) await again();
      expect(isThere).toBe(true);
    }, 30_000);
  } finally {
    await Promise.all(hosts.map((host) => runAt(sandbox, host, ['touch', `${file}.stop`])));
  }
  const failed = await ended;
  if (failed !== undefined) throw failed.error;
  return (await read()).frames;
};

/** Where a program has to run for the places. */
const hostsOf = async (sandbox: Pick<Sandbox, 'status'>, places: readonly Place[]): Promise<readonly Place[]> => {
  const hosts = places.filter((place) => !place.includes('/'));
  if (hosts.length === places.length) return hosts;
  const { nodes } = await sandbox.status();
  return [...new Set([...hosts, ...nodes.map(({ name }) => name)])];
};

interface Captured {
  /** Those that it listens at. */
  readonly places: readonly Place[];
  readonly frames: readonly CapturedFrame[];
}

const readCaptured = async (sandbox: Runner, host: Place, file: string): Promise<Captured> => {
  const { stdout } = await runAt(sandbox, host, ['cat', file]);
  const [first = '', ...rest] = stdout.split('\n').filter((line) => line.endsWith(']'));
  const frames = rest.map((line): CapturedFrame => {
    const [place, device, isOutgoing, bytes] = frameSchema.parse(JSON.parse(line));
    return { place, device, isOutgoing, bytes: Buffer.from(bytes, 'hex') };
  });
  return { places: z.array(z.string()).parse(JSON.parse(first)), frames };
};

const frameSchema = z.tuple([z.string(), z.string(), z.boolean(), z.string()]);

/** packet(7): PACKET_OUTGOING is 4. A socket stays in the namespace that it was made in, network_namespaces(7). */
const SNIFFER = `
import glob, json, os, select, socket, sys
path, folder, own, *pods = sys.argv[1:]
places = {}
def listen(place):
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    places[sock] = place
if own:
    listen(own)
for file in glob.glob(folder + '/*.json'):
    with open(file) as text:
        record = json.load(text)
    pod = record['pod']['namespace'] + '/' + record['pod']['name']
    if pod in pods and 'netns' in record:
        with open(record['netns']) as namespace:
            os.setns(namespace.fileno(), os.CLONE_NEWNET)
        listen(pod)
out = open(path, 'w', buffering=1)
out.write(json.dumps(list(places.values())) + '\\n')
while not os.path.exists(path + '.stop'):
    for sock in select.select(list(places), [], [], 0.1)[0]:
        data, address = sock.recvfrom(65535)
        out.write(json.dumps([places[sock], address[0], address[2] == 4, data[:200].hex()]) + '\\n')
`;
