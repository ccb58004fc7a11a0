/** A connection that nobody else's coming and going may interrupt. */
import type { Ip } from '../../../../net/ip.ts';
import type { Sandbox } from '../../../../sandbox/index.ts';

/** To the TCP echo server of a pod. @returns `whole` @throws when a piece did not come back within three seconds */
export const streamWhile = async (
  sandbox: Sandbox,
  { from, to }: { readonly from: string; readonly to: Ip },
  work: () => Promise<void>,
): Promise<string> => {
  await sandbox.exec(from, ['rm', '-f', '/tmp/stop']);
  const stream = sandbox.exec(from, ['python3', '-c', STREAM, to], { timeoutMs: 300_000 });
  const settled = Promise.allSettled([stream]);
  try {
    await work();
  } finally {
    await sandbox.exec(from, ['touch', '/tmp/stop']);
    await settled;
  }
  return (await stream).stdout.trim();
};

const STREAM = `
import os, socket, sys, time
sock = socket.create_connection((sys.argv[1], 8082), 5)
sock.settimeout(3)
while not os.path.exists('/tmp/stop'):
    sock.sendall(b'x')
    if sock.recv(1) != b'x':
        raise OSError('closed')
    time.sleep(0.02)
print('whole')
`;
