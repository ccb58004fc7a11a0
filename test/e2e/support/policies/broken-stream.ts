/** A connection that is to end because somebody forbids it. */
import type { Ip } from '../../../../net/ip.ts';
import type { Sandbox } from '../../../../sandbox/index.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';
import { python } from '../../../oracles/python.ts';

const FLOWING = '/tmp/flowing';
/** The userspace datapath has the flows of a connection for a second or two after OVN has others. */
const PATIENCE_MS = 60_000;

export interface BrokenStream {
  /** @returns `silence`, or how else it ended; rejects when it still flows after a minute */
  readonly broken: Promise<string>;
}

/** To the TCP echo server of a pod. Resolves when it flows. */
export const streamToBreak = async (
  sandbox: Sandbox,
  { from, to }: { readonly from: string; readonly to: Ip },
): Promise<BrokenStream> => {
  await sandbox.exec(from, ['rm', '-f', FLOWING]);
  const broken = sandbox.exec(from, python(STREAM, to, FLOWING), { timeoutMs: PATIENCE_MS });
  broken.catch(() => undefined);
  await eventually(() => sandbox.exec(from, ['test', '-e', FLOWING]));
  return { broken: broken.then(({ stdout }) => stdout.trim()) };
};

const STREAM = `
import socket, sys, time
sock = socket.create_connection((sys.argv[1], 8082), 5)
sock.settimeout(3)
try:
    while True:
        sock.sendall(b'x')
        if sock.recv(1) != b'x':
            raise OSError('closed')
        open(sys.argv[2], 'w').close()
        time.sleep(0.02)
except TimeoutError:
    print('silence')
except OSError as error:
    print(error)
`;
