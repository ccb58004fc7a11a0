/** Over a real unix socket, with a handler that only remembers. */
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CniError } from '../../api/cni/error.ts';
import type { CniRequest } from '../../api/cni/request.ts';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import type { CallFailure } from './call-failure.ts';
import { type CniServer, serveCni } from './server.ts';

const CONFIG = JSON.stringify({ cniVersion: '1.0.0', name: 'net', type: 'ovn-k8s-cni-overlay' });
const ENV = {
  CNI_COMMAND: 'ADD',
  CNI_CONTAINERID: 'sandbox1',
  CNI_NETNS: '/run/netns/x',
  CNI_IFNAME: 'eth0',
  CNI_PATH: '/opt/cni/bin',
  CNI_ARGS: 'K8S_POD_NAMESPACE=ns;K8S_POD_NAME=pod;K8S_POD_UID=uid',
};

let folder: string;
let server: CniServer | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'udn-cni-'));
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  rmSync(folder, { recursive: true, force: true });
});

const start = async ({
  handle = (_request: CniRequest, _signal: AbortSignal): Promise<string> => Promise.resolve('{}'),
  uid = 0,
  maxCalls = 10,
} = {}) => {
  const path = join(folder, 'run', 'cni.sock');
  const rejected: string[] = [];
  const failures: CallFailure[] = [];
  const clock = createFakeClock();
  server = await serveCni({
    path,
    handler: { handle },
    peerCredentials: () => ({ pid: 1, uid, gid: 0 }),
    clock,
    maxCalls,
    pluginMs: 1_000,
    requestMs: 10_000,
    onRejected: (reason) => rejected.push(reason),
    onFailed: (failure) => failures.push(failure),
  });
  return { path, rejected, failures, clock };
};

const requestOf = (env: Readonly<Record<string, string>>, stdin: string): Buffer => {
  const environment = Object.entries(env)
    .map(([name, value]) => `${name}=${value}\0`)
    .join('');
  return Buffer.from(`udn-cni/1 ${environment.length} ${Buffer.byteLength(stdin)}\n${environment}${stdin}`);
};

/** What the server says until it closes. */
const read = (socket: Socket): Promise<string> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(Buffer.concat(chunks).toString()));
  });

const call = (path: string, bytes: Buffer): Promise<string> => {
  const socket = connect(path);
  const answer = read(socket);
  socket.write(bytes);
  return answer;
};

const bodyOf = (response: string): Record<string, unknown> => JSON.parse(response.slice(response.indexOf('\n') + 1));

describe('a call', () => {
  it('is answered with what the handler says, whatever the chunks', async () => {
    const seen: CniRequest[] = [];
    const { path } = await start({
      handle: (request) => {
        seen.push(request);
        return Promise.resolve('{"done":true}');
      },
    });
    const socket = connect(path);
    const answer = read(socket);
    for (const byte of requestOf(ENV, CONFIG)) socket.write(Buffer.of(byte));
    expect(await answer).toBe('udn-cni/1 0 13\n{"done":true}');
    expect(seen).toEqual([expect.objectContaining({ command: 'ADD', containerId: 'sandbox1' })]);
  });

  it('that fails is answered with the error in the version that was asked for', async () => {
    const { path, failures } = await start({ handle: () => Promise.reject(new CniError('podGone', 'no such pod')) });
    const response = await call(path, requestOf(ENV, CONFIG));
    expect(response).toMatch(/^udn-cni\/1 1 /);
    expect(bodyOf(response)).toMatchObject({ cniVersion: '1.0.0', msg: 'no such pod' });
    expect(failures).toEqual([
      {
        command: 'ADD',
        pod: 'ns/pod',
        sandbox: 'sandbox1',
        cause: 'deleted',
        message: 'no such pod',
        details: undefined,
      },
    ]);
  });

  it('that cannot be read names the field', async () => {
    const { path, failures } = await start();
    const { CNI_CONTAINERID: _, ...env } = ENV;
    expect(bodyOf(await call(path, requestOf(env, CONFIG)))['msg']).toContain('CNI_CONTAINERID');
    expect(bodyOf(await call(path, requestOf(ENV, '{"cniVersion":')))).toMatchObject({ code: 6 });
    expect(failures.map(({ cause }) => cause)).toEqual(['refused', 'refused']);
  });

  it('gets the answer to retry when too many are under way', async () => {
    const release = Promise.withResolvers<string>();
    const { path, failures } = await start({ handle: () => release.promise, maxCalls: 1 });
    const first = call(path, requestOf(ENV, CONFIG));
    expect(bodyOf(await call(path, requestOf(ENV, CONFIG)))).toMatchObject({ code: 11 });
    expect(failures).toEqual([expect.objectContaining({ cause: 'busy', pod: 'ns/pod' })]);
    release.resolve('{}');
    expect(await first).toBe('udn-cni/1 0 2\n{}');
  });

  it('ends when its caller goes away', async () => {
    const started = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<unknown>();
    const { path } = await start({
      handle: (_, signal) => {
        signal.addEventListener('abort', () => ended.resolve(signal.reason));
        started.resolve();
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    });
    const socket = connect(path);
    socket.write(requestOf(ENV, CONFIG));
    await started.promise;
    socket.destroy();
    expect(String(await ended.promise)).toContain('the caller closed the connection');
  });
});

describe('a request that cannot be read is answered with what is wrong', () => {
  it.each([
    ['another protocol', Buffer.from('GET / HTTP/1.1\r\n\r\n'), 6, /not a udn-cni\/1 request/],
    ['a request that never ends its header', Buffer.alloc(100, 'x'), 6, /no header line/],
    ['too much configuration', Buffer.from('udn-cni/1 10 1048577\n'), 7, /configuration of 1048577 bytes is too long/],
    ['too much environment', Buffer.from('udn-cni/1 65537 10\n'), 4, /CNI_ARGS/],
    ['more than it announced', Buffer.from('udn-cni/1 0 1\nabc'), 6, /bytes after the end/],
  ])('%s', async (_, bytes, code, reason) => {
    const { path, rejected } = await start();
    const response = await call(path, bytes);
    expect(response).toMatch(/^udn-cni\/1 1 /);
    expect(bodyOf(response)).toMatchObject({ code, msg: expect.stringMatching(reason) });
    expect(rejected).toEqual([expect.stringMatching(reason)]);
  });

  it('also when the caller sends all of it before it listens', async () => {
    const { path } = await start();
    const bytes = Buffer.concat([Buffer.from('udn-cni/1 200000 10\n'), Buffer.alloc(200_010, 'x')]);
    expect(bodyOf(await call(path, bytes))).toMatchObject({ code: 4 });
  });
});

describe('a caller is turned away', () => {
  it('who is not root', async () => {
    const { path, rejected } = await start({ uid: 1000 });
    expect(await call(path, requestOf(ENV, CONFIG))).toBe('');
    expect(rejected).toEqual([expect.stringMatching(/user 1000 may not call/)]);
  });

  it('who says nothing for too long', async () => {
    const { path, rejected, clock } = await start();
    const answer = call(path, Buffer.from('udn-cni/1 10 10\nCNI_'));
    while (clock.pending === 0) await new Promise(setImmediate);
    await clock.advance(10_000);
    expect(await answer).toBe('');
    expect(rejected).toEqual(['no complete request in time']);
  });
});

it('its socket is for root only, and takes the place of what a dead agent left', async () => {
  const first = await start();
  await server?.close();
  writeFileSync(first.path, '');
  const { path } = await start();
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, 'run')).mode & 0o777).toBe(0o700);
  expect(await call(path, requestOf(ENV, CONFIG))).toBe('udn-cni/1 0 2\n{}');
});

it('closing ends calls and idle callers at once', async () => {
  const started = Promise.withResolvers<void>();
  const { path } = await start({
    handle: (_, signal) => {
      started.resolve();
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    },
  });
  const idle = call(path, Buffer.from('udn-cni/1 '));
  const busy = call(path, requestOf(ENV, CONFIG));
  await started.promise;
  await server?.close();
  expect(await idle).toBe('');
  expect(bodyOf(await busy)).toMatchObject({ code: 11, msg: 'the agent is stopping' });
});
