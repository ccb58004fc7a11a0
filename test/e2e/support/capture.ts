/** Frames as they are on interfaces, of the nodes, the outside and pods, while a test sends some. */
import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { z } from 'zod';
import type { Sandbox } from '../../../sandbox/index.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';

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
 * come, and what was sent before it.
 */
export const capture = async (
  sandbox: Runner,
  places: readonly Place[],
  work: () => Promise<unknown>,
  isEnough: (frames: readonly CapturedFrame[]) => boolean,
): Promise<readonly CapturedFrame[]> => {
  const file = `/tmp/capture-${randomBytes(4).toString('hex')}`;
  const running = places.map((place) => runAt(sandbox, place, ['python3', '-c', SNIFFER, file]));
  const ended = Promise.all(running).then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  const read = async (): Promise<readonly CapturedFrame[]> =>
    (await Promise.all(places.map((place) => readFrames(sandbox, place, file)))).flat();
  try {
    await eventually(read, 30_000);
    await work();
    await eventually(async () => expect(isEnough(await read())).toBe(true), 30_000);
  } finally {
    await Promise.all(places.map((place) => runAt(sandbox, place, ['touch', `${file}.stop`])));
  }
  const failed = await ended;
  if (failed !== undefined) throw failed.error;
  return await read();
};

const readFrames = async (sandbox: Runner, place: Place, file: string): Promise<readonly CapturedFrame[]> => {
  const { stdout } = await runAt(sandbox, place, ['cat', file]);
  const lines = stdout.split('\n').filter((line) => line.endsWith(']'));
  return lines.map((line) => {
    const [device, isOutgoing, bytes] = frameSchema.parse(JSON.parse(line));
    return { place, device, isOutgoing, bytes: Buffer.from(bytes, 'hex') };
  });
};

const frameSchema = z.tuple([z.string(), z.boolean(), z.string()]);

/** packet(7): PACKET_OUTGOING is 4. */
const SNIFFER = `
import json, os, select, socket, sys
path = sys.argv[1]
sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
out = open(path, 'w', buffering=1)
while not os.path.exists(path + '.stop'):
    if not select.select([sock], [], [], 0.1)[0]:
        continue
    data, address = sock.recvfrom(65535)
    out.write(json.dumps([address[0], address[2] == 4, data[:200].hex()]) + '\\n')
`;
