/** Unix sockets that programs of the node listen on: a process of another user opens none of ours, and root does. */
import { expect } from 'vitest';
import { z } from 'zod';
import type { Sandbox } from '../../../sandbox/index.ts';

const NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
/** The agent, its CNI server and the four databases: what is there at least. */
const LEAST = 6;

export const socketsOfRoot = async (sandbox: Sandbox, node: string): Promise<void> => {
  const opened = async (...prefix: readonly string[]): Promise<readonly string[]> => {
    const { stdout } = await sandbox.node(node, [...prefix, 'python3', '-c', OPEN]);
    return z.array(z.string()).parse(JSON.parse(stdout));
  };
  const byRoot = await opened();
  expect(byRoot.length).toBeGreaterThanOrEqual(LEAST);
  expect(await opened(...NOBODY)).toEqual([]);
};

/** unix(7), proc_pid_net(5): a stream (0001) or sequence of packets (0005) that listens has the flag 10000; names that begin with @ are of no file. */
const OPEN = `
import json, socket
opened = []
with open('/proc/net/unix') as table:
    lines = [line.split() for line in list(table)[1:]]
for path in sorted({line[7] for line in lines if len(line) > 7 and line[3] == '00010000'}):
    for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
        with socket.socket(socket.AF_UNIX, kind) as one:
            one.settimeout(2)
            try:
                one.connect('\\0' + path[1:] if path.startswith('@') else path)
                opened.append(path)
            except OSError:
                pass
print(json.dumps(opened))
`;
