/** What pods of each network send while something is upgraded: pings at 10 ms, a TCP stream, and connections to a Service, over both families. */
import { z } from 'zod';
import { FAMILIES, type Ip } from '../../../../net/ip.ts';
import type { ManifestObject, Sandbox } from '../../../../sandbox/index.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';
import { readPod } from '../cluster/cluster.ts';
import { pod } from '../cluster/manifests.ts';
import { TENANTS, type Tenant } from '../cluster/one-of-each.ts';
import { addressOfFamily } from '../packets/packets.ts';
import { backend, service } from '../services/services.ts';

/** The first has the clients and a server, the second a server of each network. */
export type TwoNodes = readonly [string, string];

const CLIENT = 'client';
const SERVERS = ['beside', 'across'] as const;
const SERVICE = 'web';

/** A client and a server `beside` it on the first node, a server `across` on the second, and a Service with both, of each network. */
export const trafficManifests = ([here, there]: TwoNodes): ManifestObject[] =>
  TENANTS.flatMap((tenant) => [
    pod(tenant, `${tenant}-${CLIENT}`, here),
    backend(tenant, `${tenant}-beside`, here, SERVICE),
    backend(tenant, `${tenant}-across`, there, SERVICE),
    service(tenant, SERVICE, { app: SERVICE }),
  ]);

/** Milliseconds since the epoch. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface Pings {
  /** `NETWORK SERVER ADDRESS`. */
  readonly name: string;
  readonly sent: number;
  /** When those were sent that did not come back. */
  readonly lost: readonly number[];
}

export interface Stream {
  readonly name: string;
  readonly pieces: number;
  /** Between a piece that was sent and its return. */
  readonly longestMs: number;
  /** Null: it lasted. */
  readonly error: string | null;
}

export interface Requests {
  readonly name: string;
  readonly sent: number;
  readonly failed: readonly { readonly at: number; readonly error: string }[];
}

export interface Traffic {
  readonly pings: readonly Pings[];
  readonly streams: readonly Stream[];
  readonly requests: readonly Requests[];
}

/** Everything has had its first answer before the work begins. */
export const trafficWhile = async (sandbox: Sandbox, work: () => Promise<void>): Promise<Traffic> => {
  const clients = await Promise.all(TENANTS.map((tenant) => clientOf(sandbox, tenant)));
  await Promise.all(clients.map(({ key }) => sandbox.exec(key, ['rm', '-f', STOP, UP])));
  const running = clients.map(({ key, tenant, targets, services }) =>
    sandbox
      .exec(key, ['python3', '-c', PROGRAM, JSON.stringify({ targets, services })], { timeoutMs: 900_000 })
      .then(({ stdout }) => resultsOf(tenant, stdout)),
  );
  const settled = Promise.allSettled(running);
  try {
    await Promise.race([Promise.all(clients.map(({ key }) => untilUp(sandbox, key))), ...running]);
    await work();
  } finally {
    await Promise.all(clients.map(({ key }) => sandbox.exec(key, ['touch', STOP])));
    await settled;
  }
  const results = await Promise.all(running);
  return {
    pings: results.flatMap(({ pings }) => pings),
    streams: results.flatMap(({ streams }) => streams),
    requests: results.flatMap(({ requests }) => requests),
  };
};

interface Client {
  readonly key: string;
  readonly tenant: Tenant;
  /** Name → address, of servers and of the Service. */
  readonly targets: Readonly<Record<string, Ip>>;
  readonly services: Readonly<Record<string, string>>;
}

const clientOf = async (sandbox: Sandbox, tenant: Tenant): Promise<Client> => {
  const objects = await sandbox.objects();
  const { spec } = await objects.get('service', `${tenant}/${SERVICE}`);
  const { clusterIPs } = z.object({ clusterIPs: z.array(z.string()) }).parse(spec);
  const servers = await Promise.all(
    SERVERS.map(async (name) => [name, await readPod(sandbox, `${tenant}/${tenant}-${name}`)] as const),
  );
  const targets = servers.flatMap(([name, server]) =>
    FAMILIES.map((family) => [`${name} ${addressOfFamily(server, family)}`, addressOfFamily(server, family)] as const),
  );
  return {
    key: `${tenant}/${tenant}-${CLIENT}`,
    tenant,
    targets: Object.fromEntries(targets),
    services: Object.fromEntries(clusterIPs.map((address) => [`${SERVICE} ${address}`, address])),
  };
};

const STOP = '/tmp/upgrade-stop';
const UP = '/tmp/upgrade-up';

const untilUp = (sandbox: Sandbox, pod: string): Promise<unknown> =>
  eventually(() => sandbox.exec(pod, ['test', '-e', UP]), 60_000);

const resultsSchema = z.object({
  pings: z.array(z.object({ name: z.string(), sent: z.int(), lost: z.array(z.number()) })),
  streams: z.array(
    z.object({ name: z.string(), pieces: z.int(), longestMs: z.number(), error: z.string().nullable() }),
  ),
  requests: z.array(
    z.object({ name: z.string(), sent: z.int(), failed: z.array(z.object({ at: z.number(), error: z.string() })) }),
  ),
});

const resultsOf = (tenant: Tenant, text: string): Traffic => {
  const { pings, streams, requests } = resultsSchema.parse(JSON.parse(text));
  const named = <Item extends { readonly name: string }>(items: readonly Item[]): Item[] =>
    items.map((item) => ({ ...item, name: `${tenant} ${item.name}` }));
  return { pings: named(pings), streams: named(streams), requests: named(requests) };
};

/**
 * ping(8) prints each answer with its time; what was sent in the last second may still be under way when it is ended, and is not counted. The time of
 * a lost one is that of its number, from the nearest answer. A piece of a stream has a minute to come back, as TCP sends it again; a connection to the
 * Service has ten seconds, for SYNs that are sent again.
 */
const PROGRAM = `
import json, os, re, signal, socket, subprocess, sys, threading, time
given = json.loads(sys.argv[1])
PACE = 0.01
stop = lambda: os.path.exists('${STOP}')
ended = threading.Event()
up = []

def family(address):
    return socket.AF_INET6 if ':' in address else socket.AF_INET

def stream(address, result):
    try:
        sock = socket.create_connection((address, 8082), 30)
        sock.settimeout(60)
        while not ended.is_set():
            start = time.time()
            sock.sendall(b'x' * 100)
            left = 100
            while left > 0:
                piece = sock.recv(left)
                if not piece:
                    raise OSError('closed')
                left -= len(piece)
            result['pieces'] += 1
            result['longestMs'] = max(result['longestMs'], 1000 * (time.time() - start))
            if result['pieces'] == 1:
                up.append(address)
            ended.wait(0.02)
    except OSError as failure:
        result['error'] = str(failure)

def requests(address, result):
    while not ended.is_set():
        start = time.time()
        result['sent'] += 1
        try:
            with socket.create_connection((address, 80), 10) as sock:
                sock.settimeout(10)
                sock.sendall(b'GET /hostname HTTP/1.0\\r\\n\\r\\n')
                answer = sock.recv(100)
                if not answer.startswith(b'HTTP/1.'):
                    raise OSError('answered %r' % answer)
            if result['sent'] == 1:
                up.append(address)
        except OSError as failure:
            result['failed'].append({'at': 1000 * start, 'error': '%s after %.1f s' % (failure, time.time() - start)})
        ended.wait(max(0, 0.1 - (time.time() - start)))

def counted(name, text):
    sent = int(re.search(r'(\\d+) packets transmitted', text)[1])
    answers = {int(number): float(at) for at, number in re.findall(r'\\[(\\d+\\.\\d+)\\].*icmp_seq=(\\d+) .*time=', text)}
    if not answers:
        raise SystemExit('no answer of ' + name)
    last = max(max(answers), sent - round(1 / PACE))
    lost = []
    known = None
    for number in range(1, last + 1):
        at = answers.get(number)
        if at is None:
            lost.append(1000 * (known + PACE if known else min(answers.values())))
        known = at if at is not None else (known + PACE if known else None)
    return {'name': name, 'sent': last, 'lost': lost}

pings = []
for name, address in given['targets'].items():
    output = open('/tmp/ping-' + str(len(pings)), 'w+')
    command = ['ping', '-n', '-D', '-i', str(PACE), address]
    pings.append((name, output, subprocess.Popen(command, stdout=output)))
streams = [{'name': name, 'address': address, 'pieces': 0, 'longestMs': 0, 'error': None} for name, address in given['targets'].items()]
asked = [{'name': name, 'address': address, 'sent': 0, 'failed': []} for name, address in given['services'].items()]
threads = [threading.Thread(target=stream, args=(one['address'], one)) for one in streams]
threads += [threading.Thread(target=requests, args=(one['address'], one)) for one in asked]
for thread in threads:
    thread.start()
is_up = False
while not stop():
    if not is_up and len(up) == len(threads) and all('time=' in open(output.name).read(4096) for _, output, _ in pings):
        is_up = True
        open('${UP}', 'w').close()
    time.sleep(0.1)
ended.set()
for _, _, process in pings:
    process.send_signal(signal.SIGINT)
for thread in threads:
    thread.join()
results = []
for name, output, process in pings:
    process.wait()
    output.seek(0)
    results.append(counted(name, output.read()))
    os.unlink(output.name)
for one in streams + asked:
    del one['address']
print(json.dumps({'pings': results, 'streams': streams, 'requests': asked}))
`;
