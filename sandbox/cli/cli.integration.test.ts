/** `bin/sandbox`: what scripts rely on. Needs root and `make build`. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../kube/client/connect.ts';
import { loadConnection } from '../../kube/config/load.ts';
import { NAMESPACES } from '../../kube/resources.ts';
import { namespacesOf, tracesOf, untilNothingIsLeft } from '../leaks.ts';
import { livingOwner, stateFolder } from '../supervisor/state-folder.ts';
import { eventually } from '../testing/eventually.ts';

const PROGRAM = join(import.meta.dirname, '../../bin/sandbox');
const NAME = 'test-cli';

interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const sandbox = (args: readonly string[], input = ''): Outcome => {
  const { status, stdout, stderr } = spawnSync(PROGRAM, args, {
    input,
    env: { ...process.env, UDN_SANDBOX: NAME },
    cwd: tmpdir(),
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
};
const up = (...args: string[]): Outcome => sandbox(['up', '--programs', 'none', '--nodes', '1', ...args]);

afterEach(async () => {
  sandbox(['down']);
  await untilNothingIsLeft(NAME);
});

describe('without a cluster', () => {
  it.each([
    [['--version'], 0, /^sandbox \d+\.\d+\.\d+\n$/, /^$/],
    [['--help'], 0, /outside/, /^$/],
    [['up', '--help'], 0, /UDN_GATEWAY_MODE/, /^$/],
    [['nonsense'], 2, /^$/, /unknown command/],
    [['up', '--nodes', '0'], 2, /^$/, /^nodes: /],
    [['up', '--ip-family', '5'], 2, /^$/, /4, 6, dual/],
    [['up', '--programs', 'emacs'], 2, /^$/, /^programs: must be all, none/],
    [['up', '--name', 'Not/Good'], 2, /^$/, /^name: /],
    [['up', '--needs', 'wings'], 2, /^$/, /^needs\.0: must be some of vrf/],
    [['up', '--kubelet', 'real', '--api', 'embedded'], 2, /^$/, /^api: real kubelets need --api kube/],
    [['up', '--api', 'kube', '--nodes', '0'], 2, /^$/, /^nodes: kubelet and agent need at least 1/],
    [
      ['api', '--api', 'kube', '--kubeconfig', 'k', '--port', '1'],
      2,
      /^$/,
      /^--port is of the embedded API server only/,
    ],
    [['down'], 0, /^$/, /^the sandbox "test-cli" is not up\n$/],
    [['status'], 1, /^$/, /is not up/],
    [['node', 'node-1', '--', 'true'], 1, /^$/, /is not up/],
    [['guest', '--', 'true'], 1, /^$/, /is not up/],
    [['kill', 'node-1', 'sshd'], 2, /^$/, /"sshd" is none of/],
  ])('%j', (args, status, stdout, stderr) => {
    expect(sandbox(args)).toEqual({
      status,
      stdout: expect.stringMatching(stdout),
      stderr: expect.stringMatching(stderr),
    });
  });
});

describe('up', () => {
  it('says what it does, and a second one is refused', () => {
    expect(up()).toMatchObject({ status: 0, stdout: '', stderr: expect.stringMatching(/up after [\d.]+ s\n$/) });
    expect(up()).toMatchObject({ status: 1, stderr: expect.stringMatching(/is already up .*take it down first/) });
    const { stdout } = sandbox(['status', '-o', 'json']);
    expect(JSON.parse(stdout)).toMatchObject({ name: NAME, state: 'up', nodes: [{ name: 'node-1' }] });
  });

  it('that fails says which part, and leaves nothing', async () => {
    const { status, stderr } = up('--timeout', '20ms');
    expect(status).toBe(1);
    expect(stderr).toMatch(/is not ready: timed out/);
    expect(await tracesOf(NAME)).toEqual([]);
  });

  it('that is interrupted leaves nothing', async () => {
    const env = { ...process.env, UDN_SANDBOX: NAME };
    const child = spawn(PROGRAM, ['up', '--programs', 'none'], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    await new Promise((resolve) => child.stderr.once('data', resolve));
    child.kill('SIGINT');
    const status = await new Promise((resolve) => child.once('exit', resolve));
    expect(status).toBe(1);
    await untilNothingIsLeft(NAME);
  });
});

describe('commands inside', () => {
  it('get their arguments, stdin and terminal settings, and their exit status counts', () => {
    up();
    expect(
      sandbox(['node', 'node-1', '--', 'sh', '-c', 'echo "$1-$2"; cat; exit 3', 'x', '--name', 'a b'], 'input'),
    ).toEqual({ status: 3, stdout: '--name-a b\ninput', stderr: '' });
    expect(sandbox(['node', 'node-1', 'hostname'])).toMatchObject({ status: 0, stdout: 'node-1\n' });
    expect(sandbox(['outside', '--', 'hostname'])).toMatchObject({ status: 0, stdout: 'outside\n' });
    expect(sandbox(['node', 'node-1', '--', 'sh', '-c', 'kill -TERM $$'])).toMatchObject({ status: 143 });
    expect(sandbox(['node', 'node-1', '--', 'no-such-program'])).toMatchObject({ status: 127 });
    expect(sandbox(['exec', 'default/none', '--', 'true'])).toMatchObject({
      status: 1,
      stderr: 'no node runs a pod default/none\n',
    });
  });

  it('end when the program that runs them is ended', async () => {
    up();
    const env = { ...process.env, UDN_SANDBOX: NAME };
    const child = spawn(PROGRAM, ['node', 'node-1', '--', 'sleep', '1000'], { env, stdio: 'ignore' });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    await eventually(async () => {
      expect(sandbox(['node', 'node-1', '--', 'pgrep', '-x', 'sleep']).status).toBe(0);
    });
    child.kill('SIGTERM');
    expect(await ended).toBe(143);
    expect(sandbox(['node', 'node-1', '--', 'pgrep', '-x', 'sleep']).status).toBe(1);
  });

  it('kill reaches a daemon', async () => {
    up();
    expect(sandbox(['kill', 'node-1', 'northd', '--signal', '9'])).toEqual({ status: 0, stdout: '', stderr: '' });
    await eventually(async () => {
      expect(sandbox(['status']).stdout).toMatch(
        /northd +running +pid \d+ restarted 1 times, last ended with signal SIGKILL/,
      );
    });
  });
});

describe('a supervisor that is killed', () => {
  it('leaves nothing', async () => {
    up();
    const namespaces = await namespacesOf(NAME);
    const owner = await livingOwner(stateFolder(NAME));
    process.kill(owner ?? 0, 'SIGKILL');
    await untilNothingIsLeft(NAME, namespaces);
  });

  it('together with its janitor: the next up cleans up', async () => {
    up();
    const namespaces = await namespacesOf(NAME);
    const owner = (await livingOwner(stateFolder(NAME))) ?? 0;
    const janitors = (await tracesOf(NAME)).flatMap((trace) => /^process (\d+): \S+ janitor /.exec(trace)?.[1] ?? []);
    expect(janitors).toHaveLength(1);
    process.kill(Number(janitors[0]), 'SIGKILL');
    process.kill(owner, 'SIGKILL');
    await eventually(async () => {
      expect((await tracesOf(NAME, namespaces)).filter((trace) => trace.startsWith('process'))).toEqual([]);
    });
    expect(existsSync(stateFolder(NAME).path)).toBe(true);
    expect(up()).toMatchObject({ status: 0 });
  });

  it('together with its janitor: down cleans up as well', async () => {
    up();
    const owner = (await livingOwner(stateFolder(NAME))) ?? 0;
    const [janitor] = (await tracesOf(NAME)).flatMap((trace) => /^process (\d+): \S+ janitor /.exec(trace)?.[1] ?? []);
    process.kill(Number(janitor), 'SIGKILL');
    process.kill(owner, 'SIGKILL');
    expect(sandbox(['down'])).toMatchObject({ status: 0 });
    await untilNothingIsLeft(NAME);
  });
});

describe('api', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sandbox-api-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('serves in the foreground until SIGTERM; the kubeconfig appears when it is ready', async () => {
    const kubeconfig = join(folder, 'kubeconfig');
    const child = spawn(PROGRAM, ['api', '--kubeconfig', kubeconfig], { stdio: 'ignore' });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    await eventually(() => readFile(kubeconfig));
    const server = /server: (\S+)/.exec(await readFile(kubeconfig, 'utf8'))?.[1] ?? '';
    expect(await (await fetch(`${server}/version`)).json()).toMatchObject({ major: '1' });
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(existsSync(kubeconfig)).toBe(false);
  });

  it('serves a real one, and ends its programs', async () => {
    const kubeconfig = join(folder, 'real');
    const child = spawn(PROGRAM, ['api', '--api', 'kube', '--kubeconfig', kubeconfig], { stdio: 'ignore' });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    await eventually(() => readFile(kubeconfig), 50_000);
    const client = connect(await loadConnection({ kubeconfig, env: {} }), { userAgent: 'test' });
    expect(await client.get(NAMESPACES, { name: 'default' })).toMatchObject({ status: { phase: 'Active' } });
    client.close();
    const name = `api-${child.pid}`;
    const namespaces = await namespacesOf(name);
    expect(namespaces.ids.size).toBeGreaterThan(0);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(existsSync(kubeconfig)).toBe(false);
    await untilNothingIsLeft(name, namespaces);
  });

  it('that cannot write the kubeconfig ends', () => {
    const { status, stderr } = sandbox(['api', '--kubeconfig', join(folder, 'missing', 'kubeconfig')]);
    expect([status, stderr]).toEqual([1, expect.stringContaining('ENOENT')]);
  });

  it('with --data goes on at the same address with the same objects after it was killed', async () => {
    const kubeconfig = join(folder, 'kept');
    const serve = async (): Promise<{ child: ChildProcess; server: string }> => {
      const child = spawn(PROGRAM, ['api', '--kubeconfig', kubeconfig, '--data', join(folder, 'data')], {
        stdio: 'ignore',
      });
      const server = await eventually(async () => {
        const url = /server: (\S+)/.exec(await readFile(kubeconfig, 'utf8'))?.[1] ?? '';
        await fetch(`${url}/version`);
        return url;
      });
      return { child, server };
    };
    const end = async (child: ChildProcess, signal: NodeJS.Signals): Promise<void> => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill(signal);
      await ended;
    };
    const first = await serve();
    const path = '/api/v1/namespaces/default/configmaps';
    const body = JSON.stringify({ metadata: { name: 'a' }, data: { a: 'b' } });
    const headers = { 'content-type': 'application/json' };
    const created = await fetch(first.server + path, { method: 'POST', body, headers });
    const object: unknown = await created.json();
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      await end(first.child, signal);
      const { child, server } = await serve();
      first.child = child;
      expect(server).toBe(first.server);
      expect(await (await fetch(`${server}${path}/a`)).json()).toEqual(object);
    }
    await end(first.child, 'SIGTERM');
    expect(existsSync(kubeconfig)).toBe(true);
  });

  it('objects are applied, read, waited for and deleted', async () => {
    expect(sandbox(['up', '--programs', 'api', '--nodes', '1'])).toMatchObject({ status: 0 });
    const manifest = [
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', namespace: 'n' }, data: { key: 'v' } },
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } },
    ];
    const file = join(folder, 'm.json');
    await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: manifest }));
    expect(sandbox(['apply', '-f', file])).toEqual({
      status: 0,
      stdout: 'Namespace n applied\nConfigMap n/c applied\n',
      stderr: '',
    });
    expect(JSON.parse(sandbox(['get', 'cm', 'n/c', '-o', 'json']).stdout)).toMatchObject({ data: { key: 'v' } });
    expect(sandbox(['get', 'configmaps']).stdout).toMatch(/^n\/c$/m);
    expect(sandbox(['wait', 'cm', 'n/c', '--for', 'ready', '--timeout', '2s'])).toMatchObject({
      status: 1,
      stderr: 'ConfigMap n/c after 2 s: it has no conditions\n',
    });
    expect(sandbox(['delete', '-f', '-'], JSON.stringify(manifest[0]))).toMatchObject({
      stdout: 'ConfigMap n/c deleted\n',
    });
    expect(sandbox(['wait', 'cm', 'n/c', '--for', 'deleted'])).toMatchObject({ status: 0 });
    expect(sandbox(['get', 'cm', 'n/c'])).toMatchObject({ status: 1, stderr: expect.stringContaining('not found') });
    expect(sandbox(['get', 'gadgets'])).toMatchObject({ status: 1, stderr: 'the API server serves no "gadgets"\n' });
    expect(sandbox(['apply', '-f', '-'], 'x')).toMatchObject({ status: 2, stderr: expect.stringContaining('stdin: ') });
  });
});
