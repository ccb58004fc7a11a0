/** How fast a pod gets what another one sends as fast as it can. */
import type { Ip } from '../../../../net/ip.ts';
import type { Sandbox } from '../../../../sandbox/index.ts';

export interface Transfer {
  /** Pods. */
  readonly from: string;
  readonly to: string;
  /** Of `to`. */
  readonly address: Ip;
}

/** Of about a second by TCP. @returns megabits per second, as the receiver counts them */
export const throughput = async (sandbox: Sandbox, { from, to, address }: Transfer): Promise<number> => {
  const receiver = sandbox.exec(to, ['python3', '-c', RECEIVE, address], { timeoutMs: PATIENCE_MS });
  const sender = sandbox.exec(from, ['python3', '-c', SEND, address], { timeoutMs: PATIENCE_MS });
  const [received] = await Promise.all([receiver, sender]);
  return Number(received.stdout.trim());
};

const PATIENCE_MS = 60_000;

/** What a limit lets through at once is over by then. */
const RECEIVE = `
import socket, sys, time
server = socket.create_server((sys.argv[1], 9099), family=socket.AF_INET6 if ':' in sys.argv[1] else socket.AF_INET)
server.settimeout(30)
sock, _ = server.accept()
sock.settimeout(30)
start, end, count = time.monotonic() + 0.5, time.monotonic() + 2, 0
while time.monotonic() < end:
    size = len(sock.recv(65536))
    if time.monotonic() >= start:
        count += size
print(count * 8 / 1.5 / 1e6)
`;

const SEND = `
import socket, sys, time
end = time.monotonic() + 30
while True:
    try:
        sock = socket.create_connection((sys.argv[1], 9099), 5)
        break
    except OSError:
        if time.monotonic() > end:
            raise
        time.sleep(0.05)
sock.settimeout(30)
try:
    while True:
        sock.sendall(bytes(65536))
except OSError:
    pass
`;
