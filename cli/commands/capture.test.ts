import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { PodStatus } from '../../api/agent-status.ts';
import { readTar } from '../../base/tar-reader.ts';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { FakeCommandRunner, type FakeProgram } from '../../datapath/exec/fake.ts';
import { captureOutput } from '../capture/output.ts';
import { capturePod } from './capture.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'capture-test-'));
});
afterEach(() => rm(folder, { recursive: true }));

const POD: PodStatus = {
  ...{ namespace: 'red', name: 'a', uid: 'u', state: 'ready' },
  // lo is on every machine.
  attachments: [{ network: 'red', nad: 'n', role: 'primary', interface: 'eth0', hostInterface: 'lo' }].map((one) => ({
    ...{ ...one, addresses: ['10.0.0.3/24'], port: 'p', installed: true },
  })),
};

const start = (programs: Readonly<Record<string, FakeProgram>>, pod = 'red/a', count = 1) => {
  const runner = new FakeCommandRunner(programs);
  const written: Uint8Array[] = [];
  const fail = () => Promise.reject(new Error('no database'));
  const result = capturePod(
    {
      agent: { node: async () => ({ name: 'node-1' }), networks: async () => [], pods: async () => [POD] },
      ...{ northbound: fail, southbound: fail, runner, clock: createFakeClock() },
    },
    {
      ...{ pod, filter: 'icmp', durationMs: 1_000, count, agentSocket: join(folder, 'agent.sock') },
      output: captureOutput('-', pod, new Date(0)),
    },
    { signal: new AbortController().signal, stdout: (bytes) => void written.push(bytes), tell: () => {} },
  );
  return { result, runner, written };
};

const compiles: FakeProgram = () => ({});

it('without tcpdump says what to install', async () =>
  await expect(start({}).result).rejects.toThrow(/tcpdump is not installed on this node: install the package tcpdump/));

it('a filter that tcpdump does not know is refused before anything is captured', async () => {
  const stderr = "Warning: assuming Ethernet\ntcpdump: can't parse filter expression: syntax error\n";
  const { result, runner } = start({ tcpdump: () => ({ exitCode: 1, stderr }) });
  await expect(result).rejects.toMatchObject({
    exitStatus: 2,
    message: "--filter: can't parse filter expression: syntax error (see pcap-filter(7))",
  });
  expect(runner.commands).toHaveLength(1);
});

it('a pod of another node is named with this one', async () =>
  await expect(start({ tcpdump: compiles }, 'red/b').result).rejects.toThrow(/pod red\/b is not on node node-1/));

it('more packets than memory has room for are refused before anything is captured', async () => {
  const { result, runner } = start({ tcpdump: compiles }, 'red/a', 1_000_000);
  await expect(result).rejects.toMatchObject({
    exitStatus: 2,
    message: expect.stringMatching(/^--count: 1000000 packets at 1 hops .* may store \S+ MiB: at most \d+$/),
  });
  expect(runner.commands).toHaveLength(1);
});

it('an archive has the index, with what could not be captured and why', async () => {
  const { result, written } = start({
    tcpdump: compiles,
    timeout: () => ({ exitCode: 1, stderr: 'tcpdump: lo: no permission to capture' }),
  });
  expect((await result).captured).toEqual([]);
  const [index, ...others] = readTar(Buffer.concat(written));
  expect(others).toEqual([]);
  expect(index?.path).toBe('index.json');
  expect(JSON.parse(String(Buffer.from(index?.content ?? [])))).toMatchObject({
    pod: 'red/a',
    captured: [],
    missed: expect.arrayContaining([
      { name: 'pod eth0 (red)', because: expect.stringContaining('no permission to capture') },
      { name: 'uplink', because: 'this node has no gateway bridge' },
    ]),
  });
});

it('a folder that has files is not written to', async () => {
  expect(() => captureOutput(tmpdir(), 'red/a', new Date(0))).toThrow(/is not empty/);
  expect(captureOutput(undefined, 'red/a', new Date(0))).toEqual({
    kind: 'folder',
    path: 'udn-capture-red-a-19700101-000000',
  });
});
