/** Packets that flow until a test has seen enough: which of them did not come back. */
import { z } from 'zod';
import { FAMILIES, type Family, type Ip } from '../../../../net/ip.ts';
import type { Sandbox } from '../../../../sandbox/index.ts';
import { readPod } from '../cluster/cluster.ts';
import { outside } from '../networks/north-south.ts';
import { addressOfFamily } from '../packets/packets.ts';

/** Pods of one network, as `namespace/name`, on two nodes. */
export interface Pair {
  readonly from: string;
  readonly to: string;
}

/** What runs until the test has seen enough looks for this file, in the pods and on the node. */
const STOP_FILE = '/tmp/steady-stop';

export interface Loss {
  readonly what: string;
  /** Which of them. */
  readonly missing: readonly number[];
  readonly isStream: boolean;
}

export interface Volume {
  /** Of each pair and family. */
  readonly pings: number;
  /** Between the pieces of a stream. */
  readonly pauseMs: number;
}

export const startTraffic = (sandbox: Sandbox, pairs: readonly Pair[], volume: Volume): Promise<Loss[]> =>
  Promise.all(pairs.flatMap((pair) => FAMILIES.map((family) => send(sandbox, pair, family, volume)))).then((losses) =>
    losses.flat(),
  );

/** To the pod on the other node pings and a stream at once; to the outside a stream. @returns what was lost */
const send = async (sandbox: Sandbox, { from, to }: Pair, family: Family, volume: Volume): Promise<Loss[]> => {
  const address = addressOfFamily(await readPod(sandbox, to), family);
  const pings = Array.from({ length: volume.pings }, () => ping(sandbox, from, address));
  const streams = [address, outside(family)].map((target) => stream(sandbox, from, target, volume.pauseMs));
  const sent = await Promise.all([...pings, ...streams]);
  return sent.filter(({ missing }) => missing.length > 0);
};

export const TIMEOUT = { timeoutMs: 300_000 };

const ping = async (sandbox: Sandbox, from: string, to: Ip): Promise<Loss> => {
  const command = untilStopped(`ping -n -i 0.1 ${to}`, 'INT');
  const { stdout } = await sandbox.exec(from, command, TIMEOUT);
  return { what: `${from} ping ${to}`, missing: lostPings(stdout), isStream: false };
};

/** Without the last second's, whose answers may still be on their way when ping is ended. @returns sequence numbers */
const lostPings = (output: string): readonly number[] => {
  const sent = Number(/(\d+) packets transmitted/.exec(output)?.[1] ?? Number.NaN);
  const answered = new Set([...output.matchAll(/icmp_seq=(\d+) .*time=/g)].map(([, sequence]) => Number(sequence)));
  if (Number.isNaN(sent) || answered.size === 0) throw new Error(`ping said: ${output}`);
  const settled = Math.max(sent - 10, ...answered);
  return Array.from({ length: settled }, (_, index) => index + 1).filter((sequence) => !answered.has(sequence));
};

/** One connection to the TCP echo server; every piece has to come back within two seconds. */
const stream = async (sandbox: Sandbox, from: string, to: Ip, pauseMs: number): Promise<Loss> => {
  const argv = ['python3', '-c', STREAM, to, STOP_FILE, String(pauseMs / 1000)];
  const { stdout } = await sandbox.exec(from, argv, TIMEOUT);
  const pieces = z.array(z.int()).parse(JSON.parse(stdout));
  return { what: `${from} tcp ${to}`, missing: pieces, isStream: true };
};

/**
 * Runs a command until there is the file, and ends it with the signal. Bash waits by itself, at a pipe that nobody writes to: a
 * hundred that start a `sleep` five times a second take a processor from what is tested.
 */
export const untilStopped = (command: string, signal: 'INT' | 'TERM'): readonly string[] => [
  ...['bash', '-c'],
  `${command} & ended=$!; exec {never}<> <(:); until [ -e ${STOP_FILE} ]; do read -r -t 0.2 -u $never; done; kill -${signal} $ended; wait $ended; true`,
];

export const stopAll = (sandbox: Sandbox, node: string, pairs: readonly Pair[]): Promise<void> =>
  onEverybody(sandbox, node, pairs, ['touch', STOP_FILE]);

export const clearStop = (sandbox: Sandbox, node: string, pairs: readonly Pair[]): Promise<void> =>
  onEverybody(sandbox, node, pairs, ['rm', '-f', STOP_FILE]);

const onEverybody = async (
  sandbox: Sandbox,
  node: string,
  pairs: readonly Pair[],
  argv: readonly string[],
): Promise<void> => {
  await Promise.all([sandbox.node(node, argv), ...pairs.map(({ from }) => sandbox.exec(from, argv))]);
};

export const pingsThatRun = async (sandbox: Sandbox, node: string): Promise<number> =>
  Number((await sandbox.node(node, ['pgrep', '-cx', 'ping'])).stdout);

const STREAM = `
import json, os, socket, sys, time
sock = socket.create_connection((sys.argv[1], 8082), 5)
sock.settimeout(2)
count = 0
missing = []
while not os.path.exists(sys.argv[2]):
    count += 1
    sock.sendall(b'x' * 1000)
    left = 1000
    try:
        while left > 0:
            piece = sock.recv(left)
            if not piece:
                raise OSError('closed')
            left -= len(piece)
    except OSError:
        missing.append(count)
        break
    time.sleep(float(sys.argv[3]))
print(json.dumps(missing))
`;
