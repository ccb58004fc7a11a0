/** The static helper program, in a machine of its own. Needs root and `make build`. */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCommandRunner } from '../../datapath/exec/node-runner.ts';
import type { CommandOutput } from '../../datapath/exec/types.ts';
import { findArtifacts } from '../artifacts.ts';
import { cgroupsFolder } from '../machine/cgroups.ts';
import { startNamespaces } from '../machine/namespaces.ts';
import type { Machine } from '../machine/types.ts';
import { commandRunner } from '../process/runner.ts';
import { startJanitor } from '../supervisor/janitor.ts';
import { eventually } from '../testing/eventually.ts';
import { treePath } from '../tree/tree.ts';

const { toolbox } = findArtifacts();
const runner = createCommandRunner();
const stop = new AbortController();
let folder: string;
let machine: Machine;
let clean: () => Promise<void>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolbox-'));
  await mkdir(join(folder, 'root'));
  const cgroup = join(await cgroupsFolder(), `test-toolbox-${process.pid}`);
  await mkdir(cgroup, { recursive: true });
  clean = startJanitor({ toolbox, cgroup, folder }).clean;
  machine = await startNamespaces(
    {
      ...{ name: 'pod-a', toolbox, cgroupRoot: cgroup, log: join(folder, 'log'), hasNetwork: true },
      sysctls: ['net.ipv6.conf.default.accept_dad=0', 'no.such.key=1'],
      root: {
        ...{ staging: join(folder, 'root'), lower: treePath(), folders: ['/made/deep'] },
        binds: [{ source: toolbox, target: '/usr/local/bin/toolbox' }],
      },
    },
    stop.signal,
  );
  for (const address of ['10.0.0.1/32', '10.0.0.2/32', 'fd00::1/128', 'fd00::2/128']) {
    await run(['ip', 'addr', 'add', address, 'dev', 'lo']);
  }
});
afterAll(async () => {
  stop.abort();
  await clean?.();
});

const run = (argv: readonly string[], input?: string): Promise<CommandOutput> =>
  runner.run({ ...machine.enter(argv), ...(input === undefined ? {} : { input }) });
const shell = async (script: string, input?: string): Promise<string> =>
  (await run(['bash', '-c', script], input)).stdout;

interface Result {
  id: string;
  answered: boolean;
  who: string | null;
  error: string | null;
  rtt_us: number | null;
  tries: number;
  nonce: string;
}
const probe = async (lines: readonly string[], ...options: string[]): Promise<Map<string, Result>> => {
  const { stdout } = await run(['toolbox', 'probe', ...options], lines.join('\n'));
  const results = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Result);
  return new Map(results.map((result) => [result.id, result]));
};
const seen = async (...nonces: string[]): Promise<string[]> => {
  const { stdout } = await run(['toolbox', 'seen'], nonces.join('\n'));
  const answers = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { nonce: string; seen: boolean });
  return answers.filter((answer) => answer.seen).map(({ nonce }) => nonce);
};

describe('serve', () => {
  const stopServer = new AbortController();
  beforeAll(async () => {
    const { file, args } = machine.enter(['toolbox']);
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    stopServer.signal.addEventListener('abort', () => child.kill('SIGTERM'));
    await new Promise((resolve) => child.stdout.once('data', resolve));
  });
  afterAll(() => stopServer.abort());

  it.each([
    ['http://10.0.0.1:8080/', /^pod-a$/],
    ['http://10.0.0.1:8080/hostname', /^pod-a$/],
    ['http://[fd00::1]:8080/hostName', /^pod-a$/],
    ['http://10.0.0.2:8080/clientip', /^10\.0\.0\.\d:\d+$/],
    ['http://[fd00::2]:8080/clientip', /^\[fd00::\d\]:\d+$/],
    ['http://127.0.0.1:8080/healthz', /^ok$/],
    ['http://127.0.0.1:8080/echo?msg=a%20b%2Bc', /^a b\+c$/],
    ['http://127.0.0.1:8080/seen?nonce=never', /"seen":false/],
  ])('answers %s', async (url, expected) => expect((await run(['curl', '-sf', url])).stdout).toMatch(expected));

  /** As agnhost's `connect` answers. */
  it.each([
    ['10.0.0.1:8080', '0'],
    ['[fd00::1]:8080', '0'],
    ['localhost:8080', '0'],
    ['10.0.0.1:9', '1 REFUSED'],
    ['--timeout=100ms 10.0.0.9:80', '1 OTHER'],
    ['no..name:80', '1 DNS'],
    ['--protocol=udp --timeout=5s 10.0.0.1:8081', '0'],
    ['--protocol=udp --timeout=100ms --udp-data=nonsense [fd00::1]:8081', '1 TIMEOUT'],
    ['--protocol=udp --timeout=5s 10.0.0.1:9', '1 REFUSED'],
    ['--timeout=3 10.0.0.1:8080', '125 toolbox'],
  ])('connect %s: %s', async (args, expected) => {
    const said = await shell(`toolbox connect ${args} 2>/tmp/said; echo $? $(cut -d: -f1 /tmp/said)`);
    expect(said.trim()).toBe(expected);
  });

  it('keeps connections open as HTTP/1.1 has it', async () => {
    const urls = Array<string>(3).fill('http://10.0.0.1:8080/healthz');
    const { stdout } = await run(['curl', '-s', '-w', ' %{num_connects}\n', ...urls]);
    expect(stdout).toBe('ok 1\nok 0\nok 0\n');
    const once = await run(['curl', '-s', '-0', '-w', ' %{num_connects}\n', ...urls]);
    expect(once.stdout).toBe('ok 1\nok 1\nok 1\n');
  });

  it('answers pipelined and fragmented requests', async () => {
    const script =
      'exec 3<>/dev/tcp/127.0.0.1/8080; printf "GET /healthz HTTP/1.1\\r\\n" >&3; sleep 0.05; printf "\\r\\nGET /hostname HTTP/1.0\\r\\n\\r\\n" >&3; cat <&3';
    expect((await shell(script)).match(/200 OK/g)).toHaveLength(2);
  });

  it.each([
    ['nonsense\\r\\n\\r\\n', '400'],
    ['GET nothing HTTP/1.1\\r\\n\\r\\n', '400'],
    ['DELETE / HTTP/1.1\\r\\n\\r\\n', '405'],
    ['GET /nothing HTTP/1.1\\r\\n\\r\\n', '404'],
    ['POST / HTTP/1.1\\r\\nContent-Length: 3\\r\\n\\r\\nabc', '200'],
    [`GET /${'x'.repeat(9000)}`, '400'],
  ])('%.40s is answered with %s', async (request, status) => {
    const text = await shell(`exec 3<>/dev/tcp/127.0.0.1/8080; printf '${request}' >&3; timeout 1 head -1 <&3`);
    expect(text).toContain(` ${status} `);
  });

  it.each([
    ['10.0.0.1', 'hostname', /^pod-a$/],
    ['fd00::1', 'HostName\n', /^pod-a$/],
    ['10.0.0.2', 'clientip', /^10\.0\.0\.\d:\d+$/],
    ['10.0.0.2', 'echo some text', /^some text$/],
    ['fd00::2', 'echo  x', /^ x$/],
    ['10.0.0.1', 'nonsense', /^$/],
  ])('UDP at %s answers %j', async (address, text, expected) => {
    const script = `exec 3<>/dev/udp/${address}/8081; printf '${text}' >&3; timeout 0.2 cat <&3 || true`;
    expect(await shell(script)).toMatch(expected);
  });

  it('TCP echoes', async () => {
    expect(await shell('echo something | timeout 1 ncat fd00::1 8082')).toBe('something\n');
  });

  it('TCP echoes more than buffers hold to who does not read at once', async () => {
    const caller = `
import socket
sock = socket.create_connection(('fd00::1', 8082), 10)
sock.setblocking(False)
sent = 0
try:
    while True: sent += sock.send(bytes(1 << 16))
except BlockingIOError:
    sock.setblocking(True)
sock.shutdown(socket.SHUT_WR)
received = 0
while piece := sock.recv(1 << 16): received += len(piece)
print(sent > 1 << 18, sent - received)`;
    expect(await shell(`python3 -c "${caller}"`)).toBe('True 0\n');
  });

  it('records the nonce of every probe that arrives, and no other', async () => {
    const lines = ['icmp', 'tcp', 'udp'].flatMap((protocol) => [
      `${protocol}4 4 ${protocol} 10.0.0.1`,
      `${protocol}6 6 ${protocol} fd00::1 - nonce.${protocol}6`,
    ]);
    const results = await probe(lines);
    for (const { id, answered, who, rtt_us } of results.values()) {
      expect({ id, answered, who }).toEqual({ id, answered: true, who: id.startsWith('icmp') ? null : 'pod-a' });
      expect(rtt_us).toBeGreaterThan(0);
    }
    expect(await seen('icmp4', 'tcp4', 'udp4', 'nonce.icmp6', 'nonce.tcp6', 'nonce.udp6', 'icmp6', 'other')).toEqual([
      ...['icmp4', 'tcp4', 'udp4'],
      ...['nonce.icmp6', 'nonce.tcp6', 'nonce.udp6'],
    ]);
  });

  it('does so for a thousand at once', async () => {
    const lines = Array.from({ length: 1000 }, (_, i) => `n${i} 4 ${['icmp', 'udp', 'tcp'][i % 3]} 10.0.0.2`);
    const results = await probe(lines);
    expect([...results.values()].filter(({ answered }) => answered)).toHaveLength(1000);
    expect(await seen(...results.keys())).toHaveLength(1000);
  });
});

describe('probe', () => {
  it('says why there was no answer', async () => {
    await shell('nft -f -', 'table inet t {\nchain i {\ntype filter hook input priority 0\nudp dport 99 drop\n}\n}\n');
    const results = await probe(
      [
        'refused 4 tcp 10.0.0.1:9',
        'refused6 6 udp [fd00::1]:9',
        'unreachable 4 icmp 10.9.9.9',
        'silent 4 udp 10.0.0.1:99',
        'nolink 4 icmp 10.0.0.1 nolink',
        'bound 6 icmp fd00::1 lo',
      ],
      ...['--timeout', '50', '--tries', '2'],
    );
    expect([...results.values()].map(({ id, answered, error, tries }) => [id, answered, error, tries]).sort()).toEqual([
      ['bound', true, null, 1],
      ['nolink', false, 'No such device', 2],
      ['refused', false, 'Connection refused', 2],
      ['refused6', false, 'Connection refused', 2],
      ['silent', false, 'timed out', 2],
      ['unreachable', false, 'Network unreachable', 2],
    ]);
  });

  it('tries again: a rule that goes away in time', async () => {
    await shell(
      'nft -f -',
      'table inet u {\nchain i {\ntype filter hook input priority 0\nicmp type echo-request drop\n}\n}\n',
    );
    const pending = probe(['late 4 icmp 10.0.0.1'], '--timeout', '100', '--tries', '50');
    await shell('sleep 0.25; nft delete table inet u');
    expect((await pending).get('late')).toMatchObject({ answered: true });
    expect((await pending).get('late')?.tries).toBeGreaterThan(1);
  });

  it.each(['x', 'a 5 tcp 10.0.0.1', 'a 4 dccp 10.0.0.1', 'a 4 tcp fd00::1', 'a 4 tcp 10.0.0.1:0', 'a 6 tcp [fd00::1'])(
    'refuses %j, and says so',
    async (line) => {
      await expect(probe([line])).rejects.toMatchObject({ exitCode: 2, stderr: expect.stringContaining(line) });
    },
  );
});

describe('pause and enter', () => {
  it('makes a machine of its own', async () => {
    expect(
      await shell('hostname; cat /proc/1/comm; ls -d /made/deep; cat /proc/sys/net/ipv6/conf/default/accept_dad'),
    ).toBe('pod-a\ntoolbox\n/made/deep\n0\n');
    expect(await shell('ls /dev | tr "\\n" " "')).toBe(
      'fd full net null ptmx pts random shm stderr stdin stdout tty urandom zero ',
    );
    expect(await shell('echo x > /etc/new; cat /etc/new')).toBe('x\n');
    await expect(run(['chmod', '600', '/usr/local/bin/toolbox'])).rejects.toThrow(/Read-only file system/);
  });

  it('reaps orphans', async () => {
    await shell('(setsid sh -c "sleep 0.05 & exit" &)');
    await eventually(async () => expect(await shell('ps -eo stat= | grep -c Z || true')).toBe('0\n'));
  });

  it('hands signals on from the first word of the command, and ends as the command does', async () => {
    const { file, args } = machine.enter(['sh', '-c', 'trap "exit 9" USR1; echo ready; while :; do sleep 0.01; done']);
    const signalled = Array.from({ length: 20 }, async () => {
      const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)));
      child.stdout.once('data', () => child.kill('SIGUSR1'));
      return await ended;
    });
    expect(new Set(await Promise.all(signalled))).toEqual(new Set([9]));
  });

  it('what a command leaves in the background holds up nobody who waits for its end', async () => {
    const script = 'sleep 1000 < /dev/null > /dev/null 2>&1 & echo $!';
    const { stdout } = await commandRunner().run({ ...machine.enter(['sh', '-c', script]), timeoutMs: 10_000 });
    expect(stdout).toMatch(/^\d+\n$/);
    await run(['kill', stdout.trim()]);
  });

  it('the command ends when the process that entered is killed', async () => {
    const { file, args } = machine.enter(['sh', '-c', 'echo $$; exec sleep 1000']);
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const pid = String(await new Promise((resolve) => child.stdout.once('data', resolve))).trim();
    child.kill('SIGKILL');
    await eventually(async () => expect(await shell(`kill -0 ${pid} 2>&1 || true`)).toContain('No such process'));
  });
});

describe('container', () => {
  const container = (more: string, command: string): string =>
    `mkdir -p /c/mount; toolbox container --pid-file /c/pid --exit-file /c/exit --cgroup /sys/fs/cgroup/c --hostname inside \
       --staging /c/mount --lower /opt/none ${more} -- ${command}`;
  const exitFile = async (): Promise<unknown> => JSON.parse(await shell('cat /c/exit'));

  it('leaves how it ended in a file, also when it could not start', async () => {
    await shell(container('--log /c/log', 'true'));
    expect(await exitFile()).toEqual({ started: false, code: 125, signal: 0 });
    expect(await shell('cat /c/log')).toContain("can't mount overlay");
  });

  it('needs its options', async () => {
    await expect(run(['toolbox', 'container', '--', 'true'])).rejects.toMatchObject({
      exitCode: 125,
      stderr: expect.stringContaining('container needs --pid-file'),
    });
  });
});

describe('netns', () => {
  it('is kept by a file until it is deleted, which may be repeated', async () => {
    await shell('mkdir -p /run/netns; toolbox netns add /run/netns/x');
    expect(await shell('ip -n x -br link')).toMatch(/^lo +UNKNOWN/);
    await expect(run(['toolbox', 'netns', 'add', '/run/netns/x'])).rejects.toThrow(/File exists/);
    expect(await shell('toolbox netns delete /run/netns/x && toolbox netns delete /run/netns/x; ls /run/netns')).toBe(
      '',
    );
  });
});

describe('proxy', () => {
  let upstream: Server;
  afterAll(() => upstream?.close());

  it('hands bytes on in both directions, large and half-closed', async () => {
    const path = join(folder, 'upstream.sock');
    upstream = createServer({ allowHalfOpen: true }, (socket) => {
      const chunks: Buffer[] = [];
      socket.on('data', (chunk) => chunks.push(chunk));
      socket.on('end', () => socket.end(Buffer.concat(chunks)));
    });
    await new Promise<void>((resolve) => upstream.listen(path, resolve));
    const { file, args } = machine.enter(['true']);
    const network = [...args.slice(0, args.indexOf('--ns')), '--ns', 'net', '--', toolbox];
    const child = spawn(file, [...network, 'proxy', '127.0.0.1:7000', '[::1]:7000', `unix:${path}`]);
    await new Promise((resolve) => child.stdout.once('data', resolve));
    await writeFile(join(folder, 'data'), Buffer.alloc(3_000_000, 'abcdefg'));
    const data = await readFile(join(folder, 'data'), 'utf8');
    const hosts = ['127.0.0.1', '::1', '127.0.0.1', '::1'];
    const copies = await Promise.all(hosts.map((host) => run(['ncat', host, '7000'], data)));
    for (const { stdout } of copies) expect(stdout === data).toBe(true);
    child.kill();
  });

  it('closes when nobody listens behind it', async () => {
    const { file, args } = machine.enter(['true']);
    const network = [...args.slice(0, args.indexOf('--ns')), '--ns', 'net', '--', toolbox];
    const child = spawn(file, [...network, 'proxy', '127.0.0.1:7001', `unix:${join(folder, 'nobody')}`]);
    await new Promise((resolve) => child.stdout.once('data', resolve));
    expect(await shell('timeout 2 ncat 127.0.0.1 7001 < /dev/null; echo $?')).toMatch(/^[01]\n$/);
    child.kill();
  });
});

it('features are known', async () => {
  const { stdout } = await runner.run({ file: toolbox, args: ['features'] });
  const features: unknown = JSON.parse(stdout);
  const truth = expect.any(Boolean);
  expect(features).toEqual({ openvswitch: truth, geneve: truth, vrf: truth, sctp: truth });
});

it('help is there, and what is unknown is refused', async () => {
  const { stdout } = await runner.run({ file: toolbox, args: ['--help'] });
  expect(stdout).toMatch(/^usage: toolbox/);
  await expect(runner.run({ file: toolbox, args: ['nonsense'] })).rejects.toMatchObject({ exitCode: 2 });
  await expect(runner.run({ file: toolbox, args: ['serve', '--nonsense'] })).rejects.toMatchObject({ exitCode: 125 });
});
