/** The shim against servers that behave and servers that don't. Needs `make build`. */
import { spawn, spawnSync } from 'node:child_process';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

const SHIM = join(import.meta.dirname, '../build/udn-cni');
const CONFIG = '{"cniVersion":"1.0.0","name":"ovn-kubernetes","type":"ovn-k8s-cni-overlay"}';

interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly milliseconds: number;
}

interface Request {
  readonly environment: Record<string, string>;
  readonly stdin: Buffer;
}

let folder: string;
let socketPath: string;
let server: Server | undefined;
const sockets = new Set<Socket>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'udn-cni-'));
  socketPath = join(folder, 's');
});
afterEach(async () => {
  const running = server;
  server = undefined;
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  if (running?.listening) await new Promise((resolve) => running.close(resolve));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const run = (stdin: string | Buffer, env: Record<string, string> = {}): Promise<Outcome> =>
  new Promise((resolve) => {
    const start = performance.now();
    const child = spawn(SHIM, [], {
      env: { CNI_COMMAND: 'ADD', UDN_CNI_SOCKET: socketPath, UDN_CNI_TIMEOUT_MS: '5000', ...env },
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk) => (stdout += chunk));
    child.stderr.on('data', (chunk) => (stderr += chunk));
    child.stdin.on('error', () => {});
    child.on('close', (status) => resolve({ status, stdout, stderr, milliseconds: performance.now() - start }));
    child.stdin.end(stdin);
  });

const listen = (onConnection: (socket: Socket) => void): Promise<void> =>
  new Promise((resolve) => {
    server = createServer({ allowHalfOpen: true }, (socket) => {
      sockets.add(socket.on('error', () => {}));
      onConnection(socket);
    });
    server.listen(socketPath, resolve);
  });

/** Reads one request, then calls back. */
const onRequest = (socket: Socket, handle: (request: Request) => void): void => {
  let bytes = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
    const newline = bytes.indexOf('\n');
    const [, environment, stdin] = /^udn-cni\/1 (\d+) (\d+)$/.exec(bytes.subarray(0, newline).toString()) ?? [];
    if (newline < 0 || bytes.length < newline + 1 + Number(environment) + Number(stdin)) return;
    const block = bytes.subarray(newline + 1, newline + 1 + Number(environment)).toString();
    const entries = block.split('\0').slice(0, -1);
    handle({
      environment: Object.fromEntries(entries.map((entry) => entry.split(/=(.*)/s).slice(0, 2))),
      stdin: bytes.subarray(newline + 1 + Number(environment)),
    });
  });
};

const answer = (body: string, status = 0): string => `udn-cni/1 ${status} ${Buffer.byteLength(body)}\n${body}`;
const errorOf = ({ stdout, status, stderr }: Outcome): unknown => {
  expect(status).toBe(1);
  expect(stderr).toBe('');
  return JSON.parse(stdout);
};

describe('the exchange', () => {
  it('sends the CNI variables and stdin as they are, and prints the answer as it is', async () => {
    const seen: Request[] = [];
    await listen((socket) =>
      onRequest(socket, (request) => {
        seen.push(request);
        socket.write(answer('{"cniVersion":"1.0.0"}\n'));
      }),
    );
    const stdin = Buffer.from([0x7b, 0x00, 0xff, 0x0a, 0x7d]);
    const outcome = await run(stdin, { CNI_ARGS: 'IgnoreUnknown=1;K8S_POD_NAME=a\nb', HOME: '/x', XCNI_NO: '1' });
    expect(outcome).toMatchObject({ status: 0, stdout: '{"cniVersion":"1.0.0"}\n', stderr: '' });
    expect(seen[0]?.environment).toEqual({
      ...{ CNI_COMMAND: 'ADD', CNI_ARGS: 'IgnoreUnknown=1;K8S_POD_NAME=a\nb' },
      UDN_CNI_RUNS: '1',
    });
    expect(seen[0]?.stdin).toEqual(stdin);
  });

  it('passes the exit status on with the body', async () => {
    await listen((socket) => onRequest(socket, () => socket.end(answer('{"code":7}', 3))));
    expect(await run(CONFIG)).toMatchObject({ status: 3, stdout: '{"code":7}' });
  });

  it('takes an answer without a body', async () => {
    await listen((socket) => onRequest(socket, () => socket.end(answer(''))));
    expect(await run(CONFIG, { CNI_COMMAND: 'DEL' })).toMatchObject({ status: 0, stdout: '' });
  });

  it('takes large requests and answers in small chunks', async () => {
    const body = `"${'x'.repeat(300_000)}"`;
    const config = JSON.stringify({ cniVersion: '1.0.0', padding: 'y'.repeat(900_000) });
    let received = 0;
    await listen((socket) =>
      onRequest(socket, ({ stdin }) => {
        received = stdin.length;
        const text = answer(body);
        const send = (at: number): void => {
          if (at >= text.length) return;
          const size = at < 40 ? 1 : 30_000;
          socket.write(text.slice(at, at + size), () => setImmediate(send, at + size));
        };
        send(0);
      }),
    );
    const outcome = await run(config);
    expect(outcome).toMatchObject({ status: 0, stdout: body });
    expect(received).toBe(Buffer.byteLength(config));
  });

  it('serves a hundred at once', async () => {
    await listen((socket) => onRequest(socket, ({ environment }) => socket.end(answer(environment['CNI_ID'] ?? ''))));
    const ids = Array.from({ length: 100 }, (_, i) => `id-${i}`);
    const outcomes = await Promise.all(ids.map((id) => run(CONFIG, { CNI_ID: id })));
    expect(outcomes.map(({ stdout }) => stdout)).toEqual(ids);
  });
});

describe('VERSION is answered without an agent', () => {
  it.each([
    ['{"cniVersion":"0.4.0"}', '0.4.0'],
    ['{ "name":"cniVersion", "a":{"cniVersion":"0.3.1"}, "cniVersion" : "1.0.0" }', '1.0.0'],
    ['{"cniVersion":"9.9.9"}', '1.1.0'],
    ['', '1.1.0'],
    ['{"cniVersion":"0.4', '1.1.0'],
    ['{"cniVersion"', '1.1.0'],
    ['{"a\\"cniVersion":"0.4.0"}', '1.1.0'],
    ['["cniVersion":"0.4.0"', '0.4.0'],
    ['\u0000\u0001{"cniVersion":"0.3.1"}', '0.3.1'],
    ['"cniVersion":"0.4.0"', '1.1.0'],
  ])('%j → %s', async (stdin, version) => {
    const outcome = await run(stdin, { CNI_COMMAND: 'VERSION' });
    expect(outcome.status).toBe(0);
    expect(JSON.parse(outcome.stdout)).toEqual({
      cniVersion: version,
      supportedVersions: ['0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0'],
    });
  });
});

describe('failures are CNI errors', () => {
  it('4 without CNI_COMMAND', async () => {
    expect(errorOf(await run(CONFIG, { CNI_COMMAND: '' }))).toMatchObject({ code: 4, cniVersion: '1.1.0' });
  });

  it('4 when the path of the socket is too long', async () => {
    expect(errorOf(await run(CONFIG, { UDN_CNI_SOCKET: `/${'x'.repeat(200)}` }))).toMatchObject({ code: 4 });
  });

  it('6 when stdin is longer than 1 MiB, and not before', async () => {
    expect(errorOf(await run('x'.repeat((1 << 20) + 1)))).toMatchObject({ code: 6 });
    expect(errorOf(await run('x'.repeat(1 << 20)))).toMatchObject({ code: 11 });
  });

  it('5 when stdin is held open', async () => {
    const child = spawn(SHIM, [], { env: { CNI_COMMAND: 'ADD', UDN_CNI_TIMEOUT_MS: '150' } });
    child.stdin.write(CONFIG);
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    const status = await new Promise((resolve) => child.once('close', resolve));
    expect([status, JSON.parse(Buffer.concat(chunks).toString())]).toEqual([
      1,
      expect.objectContaining({ code: 5, msg: 'the network configuration has not come in time' }),
    ]);
  });

  it('11 when there is no socket, 50 for STATUS', async () => {
    const soon = { UDN_CNI_TIMEOUT_MS: '150' };
    expect(errorOf(await run(CONFIG, soon))).toMatchObject({ code: 11, cniVersion: '1.0.0' });
    const status = await run(CONFIG, { CNI_COMMAND: 'STATUS' });
    expect(errorOf(status)).toMatchObject({ code: 50 });
    expect(status.milliseconds).toBeLessThan(2000);
  });

  it('11 when nobody listens on the socket', async () => {
    const path = join(folder, 'dead');
    await writeFile(path, '');
    expect(errorOf(await run(CONFIG, { UDN_CNI_SOCKET: path, UDN_CNI_TIMEOUT_MS: '150' }))).toMatchObject({
      code: 11,
      msg: expect.stringContaining('Connection refused'),
    });
  });

  it('11 when the agent is silent for too long, 50 for STATUS', async () => {
    await listen(() => {});
    const outcome = await run(CONFIG, { UDN_CNI_TIMEOUT_MS: '150' });
    expect(errorOf(outcome)).toMatchObject({ code: 11, msg: expect.stringContaining('timed out') });
    expect(outcome.milliseconds).toBeLessThan(2000);
    expect(errorOf(await run(CONFIG, { UDN_CNI_TIMEOUT_MS: '150', CNI_COMMAND: 'STATUS' }))).toMatchObject({
      code: 50,
    });
  });

  it('11 when the agent stops in the middle of its answer without closing', async () => {
    await listen((socket) => onRequest(socket, () => socket.write('udn-cni/1 0 100\nabc')));
    expect(errorOf(await run(CONFIG, { UDN_CNI_TIMEOUT_MS: '150' }))).toMatchObject({ code: 11 });
  });

  it('11 when the agent closes without an answer', async () => {
    await listen((socket) => socket.destroy());
    expect(errorOf(await run(CONFIG, { UDN_CNI_TIMEOUT_MS: '150' }))).toMatchObject({ code: 11 });
  });

  it.each([
    ['breaks off', 'udn-cni/1 0 100\nabc', 'broke off'],
    ['breaks off in the header', 'udn-cni/1 0', 'broke off'],
    ['speaks HTTP', 'HTTP/1.1 200 OK\r\n\r\n{}', 'protocol'],
    ['speaks another version', 'udn-cni/2 0 2\n{}', 'protocol'],
    ['has no newline', 'x'.repeat(100), 'protocol'],
    ['has a negative status', 'udn-cni/1 -1 2\n{}', 'protocol'],
    ['has a status above 255', 'udn-cni/1 256 2\n{}', 'protocol'],
    ['has a length that is no number', 'udn-cni/1 0 two\n{}', 'protocol'],
    ['has a length above the limit', 'udn-cni/1 0 2000000\n{}', 'protocol'],
    ['has more than it says', 'udn-cni/1 0 2\n{}{}', 'longer'],
    ['has bytes that are not text', Buffer.from([0, 255, 10, 0]), 'protocol'],
  ])('100 when the answer %s', async (_, text, message) => {
    await listen((socket) => onRequest(socket, () => socket.end(text)));
    expect(errorOf(await run(CONFIG))).toMatchObject({
      code: 100,
      cniVersion: '1.0.0',
      msg: expect.stringContaining(message),
    });
  });

  it('an answer that came before the request was read counts', async () => {
    await listen((socket) => socket.end(answer('{"code":11}', 1), () => socket.destroy()));
    const outcome = await run('x'.repeat(1 << 20));
    expect(outcome).toMatchObject({ status: 1 });
    expect([11, 100]).toContain(JSON.parse(outcome.stdout).code);
  });

  it('a path with quotes is escaped', async () => {
    expect(errorOf(await run(CONFIG, { UDN_CNI_SOCKET: `${folder}/"\\\n`, UDN_CNI_TIMEOUT_MS: '150' }))).toMatchObject({
      msg: expect.stringContaining(`${folder}/"\\\n`),
    });
  });
});

describe('an agent that was killed', () => {
  const served = (socket: Socket): void => onRequest(socket, () => socket.end(answer('{}')));

  it.each(['ADD', 'DEL', 'CHECK', 'GC'])('is waited for by %s', async (command) => {
    const outcome = run(CONFIG, { CNI_COMMAND: command });
    await new Promise((resolve) => setTimeout(resolve, 200));
    await listen(served);
    expect(await outcome).toMatchObject({ status: 0, stdout: '{}' });
  });

  it('while it worked: the next one gets the whole request', async () => {
    const requests: string[] = [];
    await listen((socket) =>
      onRequest(socket, ({ stdin }) => {
        if (requests.push(stdin.toString()) === 1) socket.destroy();
        else socket.end(answer('{}'));
      }),
    );
    expect(await run(CONFIG)).toMatchObject({ status: 0, stdout: '{}' });
    expect(requests).toEqual([CONFIG, CONFIG]);
  });
});

describe('what it costs', () => {
  it('at most 1,024 KiB resident while it waits', async () => {
    let resident = Number.NaN;
    await listen((socket) =>
      onRequest(socket, () => {
        const status = spawnSync('grep', ['-h', 'VmHWM', `/proc/${child.pid}/status`]).stdout.toString();
        resident = Number(/(\d+) kB/.exec(status)?.[1]);
        socket.end(answer('{}'));
      }),
    );
    const child = spawn(SHIM, [], { env: { CNI_COMMAND: 'ADD', UDN_CNI_SOCKET: socketPath } });
    child.stdin.end(CONFIG);
    await new Promise((resolve) => child.on('close', resolve));
    expect(resident).toBeLessThanOrEqual(1024);
  });

  it('VERSION at most twice as long as /bin/true', () => {
    const once = (file: string): number => {
      const start = performance.now();
      spawnSync(file, [], { input: CONFIG, env: { CNI_COMMAND: 'VERSION' } });
      return performance.now() - start;
    };
    // Interleaved, so that a busy machine is as busy for both; the least is what it takes.
    const [shim, nothing]: [number[], number[]] = [[], []];
    for (let i = 0; i < 60; i++) {
      shim.push(once(SHIM));
      nothing.push(once('/bin/true'));
    }
    expect(Math.min(...shim)).toBeLessThanOrEqual(2 * Math.min(...nothing));
  });
});

describe('called loopback', () => {
  const NETNS = `udn-loopback-${process.pid}`;
  const ip = (...args: string[]): string => {
    const { status, stdout, stderr } = spawnSync('ip', args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
    return stdout;
  };
  const flags = (): string => /<([^>]*)>/.exec(ip('-netns', NETNS, 'link', 'show', 'lo'))?.[1] ?? '';
  let plugin: string;
  beforeAll(async () => {
    plugin = join(folder, 'loopback');
    await copyFile(SHIM, plugin);
    ip('netns', 'add', NETNS);
  });
  afterAll(() => void ip('netns', 'delete', NETNS));

  const call = (command: string, version = '1.0.0', netns = `/run/netns/${NETNS}`) => {
    const env = { CNI_COMMAND: command, CNI_NETNS: netns, CNI_IFNAME: 'lo', UDN_CNI_SOCKET: '/nobody' };
    const input = JSON.stringify({ cniVersion: version, name: 'cni-loopback', type: 'loopback' });
    const { status, stdout } = spawnSync(plugin, [], { env, input, encoding: 'utf8' });
    return { status, result: stdout === '' ? undefined : (JSON.parse(stdout) as unknown) };
  };

  it('it sets lo up, twice if it must, and asks no agent', () => {
    expect(flags()).not.toContain('UP');
    expect(call('CHECK')).toMatchObject({ status: 1, result: { code: 5, msg: 'lo is down' } });
    for (const version of ['0.3.1', '1.0.0']) {
      const sandbox = `/run/netns/${NETNS}`;
      const interfaces = [{ name: 'lo', mac: '00:00:00:00:00:00', sandbox }];
      expect(call('ADD', version)).toEqual({ status: 0, result: { cniVersion: version, interfaces } });
    }
    expect(flags()).toContain('UP');
    for (const command of ['CHECK', 'DEL', 'GC', 'STATUS']) {
      expect(call(command)).toEqual({ status: 0, result: undefined });
    }
    expect(ip('-netns', NETNS, 'address', 'show', 'lo')).toMatch(/127\.0\.0\.1\/8[\s\S]*::1\/128/);
  });

  it('it refuses a namespace that does not exist, and answers VERSION', () => {
    expect(call('ADD', '1.0.0', '/run/netns/none')).toMatchObject({ status: 1, result: { code: 4 } });
    expect(call('VERSION')).toMatchObject({ status: 0, result: { cniVersion: '1.0.0' } });
  });
});
