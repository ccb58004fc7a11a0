/** Hears what carries markers, on all links of nodes, of the host outside and of pods. */
import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { z } from 'zod';
import type { Sandbox } from '../../../../sandbox/index.ts';
import { SANDBOX_FOLDER } from '../../../../sandbox/kubelet/paths.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';
import { runAt } from '../../../e2e/support/packets/capture.ts';

export interface Sighting {
  /** Of the marker. */
  readonly index: number;
  readonly place: string;
  readonly device: string;
  /** It was sent there, not received. */
  readonly isOutgoing: boolean;
  /** The first of it. */
  readonly bytes: Buffer;
}

export interface Listener extends AsyncDisposable {
  /** Since the last time. The same headers are reported once for each frame, link and direction. */
  hear(): Promise<readonly Sighting[]>;
}

/** @param pods `namespace/name` @throws when a place cannot be listened at */
export const listen = async (
  sandbox: Sandbox,
  run: string,
  hosts: readonly string[],
  pods: readonly string[],
): Promise<Listener> => {
  const file = `/tmp/hostile-${randomBytes(4).toString('hex')}`;
  const running = hosts.map((host) =>
    runAt(sandbox, host, ['python3', '-c', LISTENER, file, run, SANDBOX_FOLDER, host, ...pods]),
  );
  const ended = Promise.allSettled(running);
  const read = new Map(hosts.map((host) => [host, 0]));
  const linesOf = async (host: string): Promise<readonly string[]> => {
    const start = read.get(host) ?? 0;
    const { stdout } = await runAt(sandbox, host, ['sh', '-c', `tail -c +${start + 1} ${file} 2> /dev/null || true`]);
    const text = stdout.slice(0, stdout.lastIndexOf('\n') + 1);
    read.set(host, start + text.length);
    return text.split('\n').filter((line) => line !== '');
  };
  const places: string[] = [];
  await eventually(async () => {
    const first = await Promise.all(hosts.map(linesOf));
    places.push(...first.flat().flatMap((line) => z.array(z.string()).parse(JSON.parse(line))));
    expect(places.toSorted()).toEqual([...hosts, ...pods].toSorted());
  }, 30_000);
  return {
    hear: async () => (await Promise.all(hosts.map(linesOf))).flat().map(readSighting),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(hosts.map((host) => runAt(sandbox, host, ['touch', `${file}.stop`])));
      await ended;
      await Promise.all(hosts.map((host) => runAt(sandbox, host, ['rm', '-f', file, `${file}.stop`])));
    },
  };
};

const sightingSchema = z.tuple([z.number(), z.string(), z.string(), z.boolean(), z.string()]);

const readSighting = (line: string): Sighting => {
  const [index, place, device, isOutgoing, bytes] = sightingSchema.parse(JSON.parse(line));
  return { index, place, device, isOutgoing, bytes: Buffer.from(bytes, 'hex') };
};

/**
 * packet(7): PACKET_OUTGOING is 4. A socket stays in the namespace that it was made in, network_namespaces(7). SO_RCVBUFFORCE is 33.
 * Two sightings are one where the first headers are the same.
 */
const LISTENER = `
import glob, json, os, re, select, socket, sys, time
path, run, folder, own, *pods = sys.argv[1:]
marker = re.compile(b'<' + run.encode() + b':([0-9a-f]{6})>')
places = {}
def listen(place):
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    sock.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)
    sock.setblocking(False)
    places[sock] = place
listen(own)
for file in glob.glob(folder + '/*.json'):
    with open(file) as text:
        record = json.load(text)
    pod = record['pod']['namespace'] + '/' + record['pod']['name']
    if pod in pods and 'netns' in record:
        with open(record['netns']) as namespace:
            os.setns(namespace.fileno(), os.CLONE_NEWNET)
        listen(pod)
out = open(path, 'w')
out.write(json.dumps(list(places.values())) + '\\n')
out.flush()
seen = set()
poller = select.epoll()
by_fd = {sock.fileno(): sock for sock in places}
for fd in by_fd:
    poller.register(fd, select.EPOLLIN)
def drain(sock):
    for _ in range(500):
        try:
            data, address = sock.recvfrom(65535)
        except BlockingIOError:
            return
        for found in set(marker.findall(data)):
            key = (found, sock, address[0], address[2] == 4, data[:54])
            if key not in seen:
                seen.add(key)
                out.write(json.dumps([int(found, 16), places[sock], address[0], address[2] == 4, data[:220].hex()]) + '\\n')
while not os.path.exists(path + '.stop'):
    for fd, _ in poller.poll(0.05):
        drain(by_fd[fd])
    out.flush()
`;
