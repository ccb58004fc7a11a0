/** `--kernel guest`: what works on this machine's kernel works in a guest's, and there is what this one may lack. */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { findArtifacts } from '../../sandbox/artifacts.ts';
import { openSandbox, type Sandbox, type SandboxStatus, startSandbox } from '../../sandbox/index.ts';
import { namespacesOf, untilNothingIsLeft } from '../../sandbox/leaks.ts';
import { cgroupsFolder } from '../../sandbox/machine/cgroups.ts';
import { readFeatures } from '../../sandbox/machine/features.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { useCluster } from '../e2e/support/cluster/cluster.ts';
import { layer3, namespace, pod } from '../e2e/support/cluster/manifests.ts';

const PROGRAM = join(import.meta.dirname, '../../bin/sandbox');
const NAME = 'test-guest';
/** Only for these is there an emulator (sandbox/guest/recipe.ts). */
const hasGuest = process.arch === 'x64';

/** A cluster of its own guest, not of the one that tests share. */
const environment = { ...process.env, UDN_SANDBOX: NAME, UDN_SHARED_GUEST: '' };

const sandbox = (args: readonly string[], input = '') => {
  const options = { input, env: environment, cwd: tmpdir(), encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync(PROGRAM, args, options);
  return { status, stdout, stderr };
};
const stdoutOf = (...args: string[]): string => {
  const { status, stdout, stderr } = sandbox(args);
  expect([status, stderr]).toEqual([0, '']);
  return stdout;
};
const onNode = (node: string, ...argv: string[]): string => stdoutOf('node', node, '--', ...argv);

const SMALL = ['--programs', 'none', '--nodes', '1'] as const;

/** Of the guest's kernel: one process of QEMU, or one of user-mode Linux and those that it has processes in. */
const kernelGroup = async (): Promise<string> => join(await cgroupsFolder(), NAME, 'guest/kernel.service');
const kernelPids = async (): Promise<string[]> => {
  const pids = await readFile(join(await kernelGroup(), 'cgroup.procs'), 'utf8').catch(() => '');
  return pids.split('\n').filter((pid) => pid !== '');
};

describe.runIf(hasGuest)('bin/sandbox --kernel guest', () => {
  afterAll(async () => {
    sandbox(['down']);
    await untilNothingIsLeft(NAME);
  });

  it('brings two nodes up, on a kernel with VRF and with the kernel’s datapath', () => {
    const { status, stderr } = sandbox(['up', '--kernel', 'guest', '--needs', 'vrf,kernel-datapath,sctp']);
    expect([status, stderr]).toEqual([0, expect.stringMatching(/node-2 is Ready\n[\s\S]*up after [\d.]+ s\n$/)]);
    const found = JSON.parse(stdoutOf('status', '-o', 'json')) as SandboxStatus;
    expect(found).toMatchObject({ name: NAME, state: 'up', datapath: 'system', kernel: { vrf: true, geneve: true } });
    expect(found.guest?.accelerator).toMatch(/^(kvm|uml|tcg)$/);
    expect(stdoutOf('status')).toContain('in a guest (');
    onNode('node-1', 'ip', 'link', 'add', 'red', 'type', 'vrf', 'table', '4242');
    expect(onNode('node-1', 'ip', '-o', 'link', 'show', 'type', 'vrf')).toContain('red');
    expect(onNode('node-1', 'ovs-appctl', 'dpctl/show')).toMatch(/^system@ovs-system:/);
  });

  it('is what a kernel that lacks something leads to', async () => {
    const { vrf } = await readFeatures(findArtifacts().toolbox);
    const { status, stderr } = sandbox([
      'up',
      '--name',
      'test-guest-host',
      '--kernel',
      'host',
      '--needs',
      'vrf',
      ...SMALL,
    ]);
    sandbox(['down', '--name', 'test-guest-host']);
    if (vrf) expect(status).toBe(0);
    else expect([status, stderr]).toEqual([1, 'the kernel of this machine has no vrf: use --kernel guest\n']);
  });

  it('commands get arguments, stdin and signals, and their exit status counts', async () => {
    expect(
      sandbox(['node', 'node-1', '--', 'sh', '-c', 'echo "$1-$2"; cat; exit 3', 'x', '--name', 'a b'], 'input'),
    ).toEqual({ status: 3, stdout: '--name-a b\ninput', stderr: '' });
    expect(sandbox(['node', 'node-1', '--', 'sh', '-c', 'kill -TERM $$'])).toMatchObject({ status: 143 });
    expect(stdoutOf('outside', '--', 'hostname')).toBe('outside\n');
    expect(stdoutOf('guest', '--', 'hostname')).toBe('guest\n');
    expect(sandbox(['node', 'node-9', '--', 'true'])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('only node-1, node-2'),
    });
    const child = spawn(PROGRAM, ['node', 'node-1', '--', 'sleep', '1000'], { env: environment, stdio: 'ignore' });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    await eventually(async () => expect(onNode('node-1', 'pgrep', '-x', 'sleep')).not.toBe(''), 60_000);
    child.kill('SIGTERM');
    expect(await ended).toBe(143);
  });

  it('pods of a network on two nodes reach each other', () => {
    const manifests = [
      namespace('blue'),
      layer3('blue', 'net', ['10.150.0.0/16/24', 'fd00:150::/48/64']),
      pod('blue', 'a', 'node-1'),
      pod('blue', 'b', 'node-2'),
    ];
    expect(sandbox(['apply', '-f', '-'], JSON.stringify({ kind: 'List', items: manifests }))).toMatchObject({
      status: 0,
    });
    for (const name of ['a', 'b']) stdoutOf('wait', 'pod', `blue/${name}`, '--for', 'ready', '--timeout', '120s');
    const addresses = JSON.parse(
      stdoutOf('exec', 'blue/b', '--', 'ip', '-j', 'address', 'show', 'dev', 'ovn-udn1', 'scope', 'global'),
    ) as [{ addr_info: { local?: string }[] }];
    const targets = addresses[0].addr_info.flatMap(({ local }) => local ?? []);
    expect(targets).toHaveLength(2);
    for (const target of targets) {
      expect(stdoutOf('exec', 'blue/a', '--', 'ping', '-c2', '-W5', target)).toContain('2 received');
    }
    expect(stdoutOf('get', 'pods')).toMatch(/^blue\/a$/m);
  });

  it('a daemon that is killed is started again', async () => {
    stdoutOf('kill', 'node-1', 'northd', '--signal', '9');
    await eventually(async () => expect(stdoutOf('status')).toMatch(/northd +running .*restarted 1 times/), 60_000);
  });

  it('says so when its guest is gone, and down leaves nothing', async () => {
    const namespaces = await namespacesOf(NAME);
    expect(await kernelPids()).not.toEqual([]);
    await writeFile(join(await kernelGroup(), 'cgroup.kill'), '1');
    await eventually(async () => {
      expect(sandbox(['status'])).toMatchObject({
        status: 1,
        stderr: expect.stringMatching(/^the guest ended: .*down/),
      });
    });
    expect(sandbox(['node', 'node-1', '--', 'true'])).toMatchObject({ status: 1 });
    expect(sandbox(['down'])).toEqual({ status: 0, stdout: '', stderr: '' });
    await untilNothingIsLeft(NAME, namespaces);
  });

  it('that is interrupted while it starts leaves nothing', async () => {
    const args = ['up', '--kernel', 'guest', '--nodes', '1'];
    const child = spawn(PROGRAM, args, { env: environment, stdio: 'ignore' });
    await eventually(async () => expect(await kernelPids()).not.toEqual([]));
    child.kill('SIGINT');
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(1);
    await untilNothingIsLeft(NAME);
  });
});

describe.runIf(hasGuest)('a cluster that needs VRF', () => {
  const cluster = useCluster({ name: 'test-guest-vrf', needs: ['vrf', 'kernel-datapath'], programs: 'api' });

  it('has it, on whichever kernel', async () => {
    await cluster().node('node-1', ['ip', 'link', 'add', 'red', 'type', 'vrf', 'table', '4242']);
    expect((await cluster().node('node-1', ['ip', 'vrf', 'show'])).stdout).toContain('red');
    expect((await cluster().status()).kernel.vrf).toBe(true);
  });

  it('has objects, and the next process finds it', async () => {
    const objects = await cluster().objects();
    await objects.apply([
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', namespace: 'default' }, data: {} },
    ]);
    expect(await objects.get('cm', 'default/c')).toMatchObject({ metadata: { name: 'c' } });
    const other = openSandbox('test-guest-vrf');
    expect((await other.node('node-2', ['hostname'])).stdout).toBe('node-2\n');
    await expect(other.node('node-2', ['sh', '-c', 'exit 9'])).rejects.toMatchObject({ exitCode: 9 });
    const { kubeconfig = '' } = await other.status();
    expect(await readFile(kubeconfig, 'utf8')).toMatch(/server: http:\/\/127\.0\.0\.1:\d+/);
  });
});

describe.runIf(hasGuest)('the guest that tests share', () => {
  const start = (name: string): Promise<Sandbox> => startSandbox({ name, kernel: 'guest', programs: 'none', nodes: 1 });

  it('has several clusters at once, and nothing of one that is down', async () => {
    const [one, two] = await Promise.all([start('test-guest-one'), start('test-guest-two')]);
    try {
      const sockets = await Promise.all([one, two].map(async (cluster) => (await cluster.status()).guest?.socket));
      expect(sockets[0]).toBe(sockets[1]);
      await one.down();
      await untilNothingIsLeft('test-guest-one');
      expect((await two.node('node-1', ['hostname'])).stdout).toBe('node-1\n');
      // Not synchronously: the supervisor is this process.
      const argv = [
        'guest',
        '--name',
        'test-guest-two',
        '--',
        'ls',
        '/run/ovn-udn-sandbox',
        '/sys/fs/cgroup/ovn-udn-sandbox',
      ];
      const inside = await promisify(execFile)(PROGRAM, argv);
      expect(inside.stdout).toContain('test-guest-two');
      expect(inside.stdout).not.toContain('test-guest-one');
    } finally {
      await Promise.all([one.down().catch(() => {}), two.down()]);
    }
  });
});
