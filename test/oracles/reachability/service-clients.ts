/** Clients of Services: what became of each attempt, and how long it took. */
import { z } from 'zod';
import type { ServiceProtocol } from '../../../api/service.ts';
import type { Sandbox } from '../../../sandbox/index.ts';
import { python } from '../python.ts';

export interface Target {
  readonly ip: string;
  readonly port: number;
  readonly protocol: ServiceProtocol;
  /** Default: any that is free. */
  readonly sourcePort?: number;
  /** Default: who answers. `clientip`: as whom the client is seen, with its port. */
  readonly question?: 'hostname' | 'clientip';
}

/** Runs a command where the client is. */
export type RunThere = (
  argv: readonly string[],
  options: { readonly input: string },
) => Promise<{ readonly stdout: string }>;

export interface Attempt {
  /** `refused`: by a reset, or by an ICMP error. */
  readonly outcome: 'answered' | 'refused' | 'silent';
  /** The name of who answered, or what went wrong. */
  readonly text: string;
  readonly seconds: number;
}

/** How long silence is waited for: much longer than an answer takes. */
export const PATIENCE_SECONDS = 2;

/**
 * Asks each target for the name of the pod behind it, all at once, each from a port of its own where none is named. The toolbox's server answers
 * `hostname` over UDP and SCTP, and HTTP over TCP.
 */
export const ask = (sandbox: Pick<Sandbox, 'exec'>, pod: string, targets: readonly Target[]): Promise<Attempt[]> =>
  askFrom((argv, options) => sandbox.exec(pod, argv, options), targets);

/** The same from anywhere. */
export const askFrom = async (run: RunThere, targets: readonly Target[]): Promise<Attempt[]> => {
  const input = JSON.stringify({ targets, patience: PATIENCE_SECONDS });
  const { stdout } = await run(python(CLIENT), { input });
  return z.array(attemptSchema).parse(JSON.parse(stdout));
};

const attemptSchema = z.object({
  outcome: z.enum(['answered', 'refused', 'silent']),
  text: z.string(),
  seconds: z.number(),
});

const CLIENT = `
import json, socket, sys, threading, time

asked = json.load(sys.stdin)
KINDS = {'TCP': (socket.SOCK_STREAM, 0), 'UDP': (socket.SOCK_DGRAM, 0), 'SCTP': (socket.SOCK_STREAM, 132)}

def talk(target):
    family = socket.AF_INET6 if ':' in target['ip'] else socket.AF_INET
    kind, number = KINDS[target['protocol']]
    with socket.socket(family, kind, number) as sock:
        sock.settimeout(asked['patience'])
        if 'sourcePort' in target:
            sock.bind(('', target['sourcePort']))
        sock.connect((target['ip'], target['port']))
        http = target['protocol'] == 'TCP'
        question = target.get('question', 'hostname')
        sock.sendall(('GET /%s HTTP/1.0\\r\\n\\r\\n' % question if http else question).encode())
        text = b''
        while True:
            part = sock.recv(4096)
            text += part
            if not http or not part:
                break
        return text.decode().split('\\r\\n\\r\\n')[-1].strip()

def attempt(index, target):
    start = time.monotonic()
    try:
        outcome, text = 'answered', talk(target)
    except TimeoutError as error:
        outcome, text = 'silent', str(error)
    except OSError as error:
        outcome, text = 'refused', str(error)
    attempts[index] = {'outcome': outcome, 'text': text, 'seconds': time.monotonic() - start}

targets = asked['targets']
attempts = [None] * len(targets)
threads = [threading.Thread(target=attempt, args=numbered) for numbered in enumerate(targets)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps(attempts))
`;
