/** OVS and OVN of the sandbox's nodes, without Kubernetes. Needs root and `make build`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSandbox, type Sandbox, startSandbox } from './index.ts';
import { namespacesOf, tracesOf, untilNothingIsLeft } from './leaks.ts';
import { DAEMONS, type DaemonName } from './plan/daemons.ts';
import { eventually } from './testing/eventually.ts';
import { connectZones } from './testing/interconnect.ts';

const NAME = 'test-nodes';
let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox({ name: NAME, programs: 'none' });
});
afterAll(async () => {
  await sandbox?.down();
});

const output = async (node: string, ...argv: string[]): Promise<string> => (await sandbox.node(node, argv)).stdout;

describe('the node network', () => {
  it.each([
    ['node-1', '172.20.0.12'],
    ['node-2', '172.20.0.11'],
    ['node-1', 'fd00:172:20::c'],
    ['node-1', '172.20.0.2'],
    ['node-2', 'fd00:172:20::2'],
    ['node-2', '172.20.0.1'],
  ])('%s reaches %s, and every request is answered once', async (node, address) => {
    const text = await output(node, 'ping', '-c3', '-i0.1', '-W2', address);
    expect(text).toContain('3 received');
    expect(text).not.toContain('DUP');
  });

  it('TCP works in both directions', async () => {
    expect(await output('node-1', 'curl', '-sm5', 'http://172.20.0.2:8080/clientip')).toMatch(/^172\.20\.0\.11:\d+$/);
    expect(await output('node-2', 'curl', '-sm5', 'http://outside:8080/clientip')).toMatch(/^\[fd00:172:20::c\]:\d+$/);
    expect(await output('node-2', 'curl', '-sm5', 'http://outside:8080/hostname')).toBe('outside');
  });

  it('br-ex has the node’s addresses, and the uplink none', async () => {
    const links = JSON.parse(await output('node-1', 'ip', '-j', 'addr', 'show', 'scope', 'global')) as {
      ifname?: string;
      addr_info?: { local?: string; prefixlen?: number }[];
    }[];
    const global = links
      .map(({ ifname, addr_info = [] }) => ({
        ifname,
        addr_info: addr_info.filter(({ local }) => local !== undefined),
      }))
      .filter(({ addr_info }) => addr_info.length > 0);
    expect(global.map(({ ifname, addr_info }) => [ifname, addr_info.map((a) => `${a.local}/${a.prefixlen}`)])).toEqual([
      ['br-ex', ['172.20.0.11/24', 'fd00:172:20::b/64']],
    ]);
  });

  it('nothing of it is on this machine’s network', async () => {
    expect((await tracesOf(NAME)).filter((trace) => trace.startsWith('link') || trace.startsWith('mount'))).toEqual([]);
  });
});

describe('a node', () => {
  it('has the identity that provisioning gives it', async () => {
    const [id] = [await output('node-1', 'ovs-vsctl', 'get', 'Open_vSwitch', '.', 'external_ids:system-id')];
    expect(id).toMatch(/^"[0-9a-f-]{36}"\n$/);
    expect(await output('node-2', 'ovs-vsctl', 'get', 'Open_vSwitch', '.', 'external_ids:system-id')).not.toBe(id);
    expect(await output('node-1', 'ovs-vsctl', 'get', 'Bridge', 'br-ex', 'external_ids:bridge-uplink')).toBe('eth0\n');
  });

  it('is a place of its own', async () => {
    expect(await output('node-1', 'hostname')).toBe('node-1\n');
    expect(await output('node-1', 'cat', '/proc/1/cgroup')).toMatch(/^0::\/init\.scope$/m);
    expect(await output('node-1', 'cat', '/proc/self/cgroup')).toMatch(/^0::\/user\.slice$/m);
    await sandbox.node('node-1', ['touch', '/run/only-here', '/only-here']);
    await expect(sandbox.node('node-2', ['ls', '/run/only-here'])).rejects.toMatchObject({ exitCode: 2 });
    await expect(sandbox.outside(['ls', '/only-here'])).rejects.toMatchObject({ exitCode: 2 });
  });

  it('gets stdin, and hands on output and exit status', async () => {
    const { stdout } = await sandbox.node('node-1', ['tr', 'a-z', 'A-Z'], { input: 'some text' });
    expect(stdout).toBe('SOME TEXT');
    await expect(sandbox.node('node-1', ['sh', '-c', 'echo no >&2; exit 7'])).rejects.toMatchObject({
      exitCode: 7,
      stderr: 'no',
    });
    await expect(sandbox.node('node-1', ['sh', '-c', 'kill -9 $$'])).rejects.toMatchObject({ signal: 'SIGKILL' });
    await expect(sandbox.node('node-1', ['no-such-program'])).rejects.toMatchObject({ exitCode: 127 });
  });

  it('that does not exist is refused with the names of those that do', async () => {
    await expect(sandbox.node('node-9', ['true'])).rejects.toMatchObject({
      code: 'ERR_SANDBOX_NOT_FOUND',
      message: expect.stringContaining('node-1, node-2'),
    });
  });
});

it('two OVN zones reach each other through geneve, without any agent', async () => {
  await connectZones(sandbox);
  const ping = ['ip', 'netns', 'exec', 'pod-1', 'ping', '-c1', '-W1', '10.20.0.2'];
  await eventually(() => sandbox.node('node-1', ping));
  const text = await output('node-1', 'ip', 'netns', 'exec', 'pod-1', 'ping', '-c3', '-i0.1', '10.20.0.2');
  expect(text).toContain('3 received');
  expect(text).not.toContain('DUP');
}, 60_000);

describe('a daemon that is killed is started again', () => {
  const works: Readonly<Record<DaemonName, readonly string[]>> = {
    'ovsdb-server': ['ovs-vsctl', '--timeout=5', 'show'],
    nb: ['ovn-nbctl', '--timeout=5', 'show'],
    sb: ['ovn-sbctl', '--timeout=5', 'show'],
    'ovs-vswitchd': ['ovs-appctl', '--timeout=5', '-t', 'ovs-vswitchd', 'version'],
    northd: ['ovn-appctl', '--timeout=5', '-t', 'ovn-northd', 'version'],
    'ovn-controller': ['ovn-appctl', '--timeout=5', '-t', 'ovn-controller', 'version'],
  };
  const serviceOf = async (daemon: DaemonName) => {
    const { nodes } = await sandbox.status();
    const service = nodes[0]?.services.find(({ name }) => name === daemon);
    if (service === undefined) throw new Error(`no ${daemon}`);
    return service;
  };

  it.each(DAEMONS)('%s', async (daemon) => {
    const before = await serviceOf(daemon);
    await sandbox.kill('node-1', daemon, 9);
    await eventually(async () => {
      const after = await serviceOf(daemon);
      expect(after).toMatchObject({ state: 'running', restarts: before.restarts + 1, lastEnd: 'signal SIGKILL' });
      expect(after.pid).not.toBe(before.pid);
      await sandbox.node('node-1', works[daemon]);
    });
  });

  it('and br-ex has its addresses again after ovs-vswitchd', async () => {
    await sandbox.kill('node-1', 'ovs-vswitchd', 9);
    await eventually(async () => {
      expect(await output('node-1', 'ping', '-c1', '-W1', '172.20.0.12')).toContain('1 received');
      expect(await output('node-1', 'ping', '-c1', '-W1', 'fd00:172:20::c')).toContain('1 received');
    });
  });

  it('what does not run there is refused', async () => {
    await expect(sandbox.kill('node-1', 'agent')).rejects.toMatchObject({ code: 'ERR_SANDBOX_NOT_FOUND' });
  });
});

it('the socket serves what the object does', async () => {
  const other = openSandbox(NAME);
  expect(await other.status()).toEqual(await sandbox.status());
  expect((await other.node('node-2', ['hostname'])).stdout).toBe('node-2\n');
  await expect(other.node('nowhere', ['true'])).rejects.toMatchObject({ code: 'ERR_SANDBOX_NOT_FOUND' });
});

it('down leaves nothing behind', async () => {
  const namespaces = await namespacesOf(NAME);
  expect(namespaces.ids.size).toBeGreaterThan(10);
  const start = performance.now();
  await sandbox.down();
  expect(performance.now() - start).toBeLessThan(5000);
  await untilNothingIsLeft(NAME, namespaces);
});
