/** The shim runs plugins for the agent: what they get, what it says of how they ended, and what is left of them. Needs `make build`. */
import { spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PluginCall, PluginHost, PluginOutcome } from '../agent/cni/foreign/plugin-host.ts';
import { type CniServer, serveCni } from '../agent/cni/server.ts';
import { CniError } from '../api/cni/error.ts';
import { systemClock } from '../base/clock.ts';

const SHIM = join(import.meta.dirname, '../build/udn-cni');
const CONFIG = JSON.stringify({ cniVersion: '1.1.0', name: 'ovn-kubernetes', type: 'ovn-k8s-cni-overlay' });

let folder: string;
let agent: CniServer | undefined;
let plain: Server | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'udn-run-'));
  await mkdir(join(folder, 'bin'));
});
afterEach(async () => {
  await agent?.close();
  plain?.close();
  [agent, plain] = [undefined, undefined];
  await rm(folder, { recursive: true, force: true });
});

const socketPath = (): string => join(folder, 's');

/** A plugin in the shell. */
const plugin = async (name: string, script: string): Promise<void> => {
  const path = join(folder, 'bin', name);
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
};

const call = (
  env: Readonly<Record<string, string>> = {},
): Promise<{ status: number | null; stdout: string; stderr: string }> =>
  new Promise((resolve) => {
    const child = spawn(SHIM, [], {
      env: {
        ...{ CNI_COMMAND: 'ADD', CNI_CONTAINERID: 'abc', CNI_NETNS: '/n', CNI_IFNAME: 'eth0', HOME: '/home' },
        ...{ CNI_ARGS: 'K8S_POD_NAMESPACE=ns;K8S_POD_NAME=a', CNI_PATH: `/nowhere:${join(folder, 'bin')}` },
        ...{ UDN_CNI_SOCKET: socketPath(), UDN_CNI_TIMEOUT_MS: '20000', PATH: process.env['PATH'] ?? '' },
        ...env,
      },
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk) => (stdout += chunk));
    child.stderr.on('data', (chunk) => (stderr += chunk));
    child.on('close', (status) => resolve({ status, stdout, stderr }));
    child.stdin.end(CONFIG);
  });

/** An agent that runs what the test says, and answers with what it returns. */
const serve = async (work: (host: PluginHost) => Promise<string>, pluginMs = 10_000): Promise<void> => {
  agent = await serveCni({
    ...{ path: socketPath(), clock: systemClock, maxCalls: 10, requestMs: 5_000, pluginMs },
    peerCredentials: () => ({ pid: 1, uid: 0, gid: 0 }),
    handler: { handle: (_request, _signal, host) => work(host) },
    onRejected: () => undefined,
    onFailed: () => undefined,
  });
};

const outcomeOf = async (
  script: string,
  given: Partial<PluginCall> = {},
  pluginMs?: number,
): Promise<PluginOutcome> => {
  await plugin('bridge', script);
  let outcome: PluginOutcome | undefined;
  await serve(async (host) => {
    outcome = await host.run({ type: 'bridge', env: { CNI_COMMAND: 'ADD' }, stdin: '{}', ...given });
    return '{}';
  }, pluginMs);
  expect(await call()).toMatchObject({ status: 0, stdout: '{}' });
  if (outcome === undefined) throw new Error('the agent was not asked');
  return outcome;
};

describe('a plugin', () => {
  it('gets the configuration, the variables of the agent, and the environment of the runtime', async () => {
    const stdin = JSON.stringify({ padding: 'x'.repeat(300_000) });
    const env = { CNI_COMMAND: 'DEL', CNI_IFNAME: 'net1', CNI_ARGS: 'A=b\nc', CNI_PATH: '/evil' };
    const { how, number, stdout } = await outcomeOf('cat; env', { env, stdin });
    expect([how, number]).toEqual(['exit', 0]);
    expect(stdout.startsWith(stdin)).toBe(true);
    const variables = stdout.slice(stdin.length).split('\n');
    expect(variables).toEqual(
      expect.arrayContaining(['CNI_COMMAND=DEL', 'CNI_IFNAME=net1', 'CNI_ARGS=A=b', 'c', 'HOME=/home']),
    );
    expect(variables).toContain(`CNI_PATH=/nowhere:${join(folder, 'bin')}`);
    expect(variables.filter((one) => one.startsWith('CNI_CONTAINERID') || one.startsWith('UDN_'))).toEqual([]);
  });

  it('need not read its configuration', async () => {
    const outcome = await outcomeOf('echo done', { stdin: JSON.stringify('x'.repeat(900_000)) });
    expect(outcome).toEqual({ how: 'exit', number: 0, stdout: 'done\n' });
  });

  it.each([
    ['echo no; exit 7', { how: 'exit', number: 7, stdout: 'no\n' }],
    ['kill -9 $$', { how: 'signal', number: 9 }],
    ['head -c 1048576 /dev/zero', { how: 'exit', number: 0 }],
    ['head -c 1048577 /dev/zero; sleep 60', { how: 'long', number: 0, stdout: '' }],
  ])('that does `%s` is told so', async (script, outcome) => {
    expect(await outcomeOf(script)).toMatchObject(outcome);
  });

  it('that takes too long is killed, with what it has started', async () => {
    const file = join(folder, 'pid');
    expect(await outcomeOf(`sleep 60 & echo $! > ${file}; wait`, {}, 300)).toMatchObject({ how: 'late' });
    const pid = Number(await readFile(file, 'utf8'));
    await expect
      .poll(() =>
        readFile(`/proc/${pid}/stat`, 'utf8').then(
          (text) => text.split(' ')[2],
          () => 'gone',
        ),
      )
      .toMatch(/^(Z|gone)$/);
  });

  it('that closes its output and goes on is killed as well', async () => {
    expect(await outcomeOf('exec >&-; sleep 60', {}, 300)).toMatchObject({ how: 'late' });
  });

  it.each([
    ['absent', 'macvlan'],
    ['refused', '../bin/bridge'],
    ['refused', '/bin/sh'],
    ['refused', '..'],
    ['refused', ''],
  ])('is %s by its name: %j', async (how, type) => {
    expect(await outcomeOf('true', { type })).toMatchObject({ how });
  });

  it('writes its complaints to the runtime', async () => {
    await plugin('bridge', 'echo trouble >&2');
    await serve(async (host) => {
      await host.run({ type: 'bridge', env: {}, stdin: '' });
      return '{}';
    });
    expect(await call()).toEqual({ status: 0, stdout: '{}', stderr: 'trouble\n' });
  });
});

it('several run one after the other, in one call', async () => {
  await plugin('count', `echo x >> ${join(folder, 'count')}; wc -l < ${join(folder, 'count')}`);
  const seen: string[] = [];
  await serve(async (host) => {
    for (let i = 0; i < 20; i++) seen.push((await host.run({ type: 'count', env: {}, stdin: '' })).stdout.trim());
    throw new CniError('foreignPlugin', 'enough');
  });
  expect(JSON.parse((await call()).stdout)).toMatchObject({ code: 103, msg: 'enough' });
  expect(seen).toEqual(Array.from({ length: 20 }, (_, i) => String(i + 1)));
});

it('an agent that ends while a plugin runs is followed by the next, which is asked everything again', async () => {
  await plugin('bridge', `echo x >> ${join(folder, 'ran')}; echo '{}'`);
  let requests = 0;
  plain = createServer((socket) => {
    requests += 1;
    socket.on('error', () => undefined);
    let sent = false;
    socket.on('data', () => {
      if (sent) return;
      sent = true;
      const env = 'bridge\0';
      if (requests === 1) socket.write(`udn-cni/1 run 5000 ${env.length} 0\n${env}`, () => socket.destroySoon());
      else socket.end('udn-cni/1 0 2\n{}');
    });
  }).listen(socketPath());
  expect(await call()).toMatchObject({ status: 0, stdout: '{}' });
  expect(requests).toBe(2);
  expect(await readFile(join(folder, 'ran'), 'utf8')).toBe('x\n');
});

it.each(['udn-cni/1 run 5 9999999 0\n', 'udn-cni/1 run -1 1 0\n', 'udn-cni/1 run 1 1\n'])(
  '%j is not of the protocol',
  async (frame) => {
    plain = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.write(frame);
    }).listen(socketPath());
    expect(JSON.parse((await call()).stdout)).toMatchObject({ code: 100 });
  },
);
