/** Asks many targets at once who answers and as whom the client is seen, over one connection each. */
import { z } from 'zod';
import { python } from '../python.ts';
import { PATIENCE_SECONDS, type RunThere, type Target } from '../reachability/service-clients.ts';

export interface Answer {
  /** `refused`: by a reset, an ABORT or an ICMP error about the port; another error is its text. */
  readonly outcome: 'answered' | 'refused' | 'silent' | string;
  /** The name of who answered. */
  readonly who: string;
  /** The client's address there. */
  readonly seen: string;
}

/**
 * What is to be answered is asked as fast as answers come: a guest that is asked for more than it has time for answers nothing in
 * time, and would be asked the faster. What is to be silent costs a guest little.
 */
export type Expecting = 'answers' | 'silence';
const AT_ONCE: Readonly<Record<Expecting, number>> = { answers: 24, silence: 120 };

/** In the order of the targets. One program for all of them: in a guest its start takes longer than a hundred questions. */
export const askAll = async (
  run: RunThere,
  targets: readonly Target[],
  expecting: Expecting = 'answers',
): Promise<Answer[]> => {
  if (targets.length === 0) return [];
  const input = JSON.stringify({ targets, patience: PATIENCE_SECONDS, atOnce: AT_ONCE[expecting] });
  const { stdout } = await run(python(CLIENT), { input });
  return z.array(answerSchema).parse(JSON.parse(stdout));
};

const answerSchema = z
  .tuple([z.string(), z.string(), z.string()])
  .transform(([outcome, who, peer]): Answer => ({ outcome, who, seen: hostOf(peer) }));

/** `10.0.0.1:80` and `[fd00::1]:80` without the port. */
const hostOf = (endpoint: string): string => endpoint.slice(0, endpoint.lastIndexOf(':')).replaceAll(/[[\]]/g, '');

/** Sockets that wait in one thread: threads are dear where a processor is emulated. */
const CLIENT = `
import errno, json, re, selectors, socket, sys, time

asked = json.load(sys.stdin)
AGAIN = 0.6
KINDS = {'TCP': (socket.SOCK_STREAM, 0), 'UDP': (socket.SOCK_DGRAM, 0), 'SCTP': (socket.SOCK_STREAM, 132)}
HTTP = b'GET /hostname HTTP/1.1\\r\\nHost: a\\r\\n\\r\\nGET /clientip HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n'
BODY = re.compile(rb'\\r\\n\\r\\n(.*?)(?=HTTP/1\\.1 |$)', re.S)
EXPECTED = {errno.ECONNREFUSED: 'refused', errno.ECONNRESET: 'refused'}

selector = selectors.DefaultSelector()
results = {}

class Attempt:
    def __init__(self, index, target):
        self.index, self.http, self.texts, self.bytes = index, target['protocol'] == 'TCP', [], b''
        now = time.monotonic()
        self.deadline = now + asked['patience']
        self.again = now + AGAIN if target['protocol'] == 'UDP' else self.deadline
        kind, number = KINDS[target['protocol']]
        self.sock = socket.socket(socket.AF_INET6 if ':' in target['ip'] else socket.AF_INET, kind, number)
        self.sock.setblocking(False)
        self.key = None
        code = self.sock.connect_ex((target['ip'], target['port']))
        if code not in (0, errno.EINPROGRESS):
            return self.fail(code)
        self.key = selector.register(self.sock, selectors.EVENT_WRITE, self)

    def go_on(self, events):
        try:
            if events & selectors.EVENT_WRITE:
                code = self.sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                if code:
                    return self.fail(code)
                self.sock.send(HTTP if self.http else b'hostname')
                selector.modify(self.sock, selectors.EVENT_READ, self)
            else:
                self.take(self.sock.recv(4096))
        except BlockingIOError:
            pass
        except OSError as error:
            self.fail(error.errno)

    def take(self, part):
        if not self.http:
            text = part.decode()
            if text in self.texts:
                return
            self.texts.append(text)
            if len(self.texts) == 1:
                return self.sock.send(b'clientip')
        elif part:
            self.bytes += part
            return
        else:
            self.texts = [text.decode().strip() for text in BODY.findall(self.bytes)]
        self.end('answered', *self.texts) if len(self.texts) == 2 else self.end('cut off')

    # What becomes of a datagram nobody promises: clients send it again.
    def send_again(self):
        self.again += AGAIN
        try:
            self.sock.send(b'clientip' if self.texts else b'hostname')
        except OSError as error:
            self.fail(error.errno)

    def fail(self, code):
        self.end(EXPECTED.get(code, errno.errorcode.get(code, str(code))))

    def end(self, outcome, who='', seen=':'):
        results[self.index] = (outcome, who, seen)
        if self.key:
            selector.unregister(self.sock)
        self.sock.close()

waiting = list(enumerate(asked['targets']))[::-1]
going = set()
while waiting or going:
    now = time.monotonic()
    while waiting and len(going) < asked['atOnce']:
        going.add(Attempt(*waiting.pop()))
        going = {one for one in going if one.index not in results}
    moments = [moment for one in going for moment in (one.deadline, one.again) if moment > now]
    for key, events in selector.select(max(0, min(moments, default=now) - now)) if selector.get_map() else ():
        key.data.go_on(events)
    now = time.monotonic()
    going = {one for one in going if one.index not in results}
    for one in going:
        if one.deadline <= now:
            one.end('silent')
        elif one.again <= now:
            one.send_again()
    going = {one for one in going if one.index not in results}
print(json.dumps([results[index] for index in range(len(asked['targets']))]))
`;
