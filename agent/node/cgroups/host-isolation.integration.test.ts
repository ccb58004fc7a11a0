/** Host isolation as packets: the real nft and kernel, cgroups of processes, a network namespace in place of the host. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createNftables, type NftablesBackend } from '../../../datapath/nftables/backend.ts';
import type { NftHarness } from '../../../datapath/nftables/nftables.suite.ts';
import { realNft } from '../../../datapath/nftables/testing/real-nft.ts';
import { type NftItem, nftItemKey } from '../../../datapath/nftables/types.ts';
import { parsePort } from '../../../net/ids.ts';
import { ensureTree, treeCommand } from '../../../sandbox/tree/tree.ts';
import { LOCAL } from '../../model/facts.ts';
import { TestCluster } from '../../testing/cluster.ts';
import { type Cgroups, startCgroups } from './index.ts';
import { cgroupRoot } from './root.ts';

const ROOT = cgroupRoot(readFileSync('/proc/self/mountinfo', 'utf8')) ?? { folder: '', prefix: '' };
const SLICE = `udntest${randomBytes(4).toString('hex')}.slice`;
const UID = '992d3b9e-3f85-42e2-9558-9d4273d4236f';
const KUBELET = `${SLICE}/kubelet.service`;
const HOST_POD = `${SLICE}/kubepods/besteffort/pod${UID}`;
const OTHER = `${SLICE}/other.service`;
const FOLDERS = [SLICE, KUBELET, OTHER, `${SLICE}/kubepods`, `${SLICE}/kubepods/besteffort`, HOST_POD];

const signal = new AbortController().signal;
const children = new Set<ChildProcess>();
let nft: NftHarness;
let backend: NftablesBackend;
let cgroups: Cgroups;
const cluster = new TestCluster('node1')
  .node('node1', { id: 2, subnets: { default: ['10.1.1.0/24'], red: ['10.20.1.0/24'], blue: ['10.30.1.0/24'] } })
  .namespace('red-ns', true)
  .network('red', { id: 7, topology: 'layer3', subnets: ['10.20.0.0/16'], namespace: 'red-ns', nad: 'net' })
  .namespace('blue-ns', true)
  .network('blue', { id: 8, topology: 'layer3', subnets: ['10.30.0.0/16'], namespace: 'blue-ns', nad: 'net' })
  .pod('red-ns/host', { node: 'node1', uid: UID, hostNetwork: true, networks: {} })
  .pod('red-ns/web', {
    node: 'node1',
    networks: { default: { ips: ['10.1.1.3/24', 'fd00:1::3/64'], role: 'infrastructure-locked' } },
    openPorts: [{ protocol: 'udp', port: parsePort(53) }],
  })
  .pod('red-ns/local', {
    node: 'node1',
    networks: { default: { ips: ['10.1.1.77/24'], role: 'infrastructure-locked' } },
  });

/** In the namespace; a program's cgroup is joined before it starts. */
const start = (cgroup: string, file: string, ...args: string[]): ChildProcess => {
  const [enter, net] = nft.command;
  const join2 = ['-c', 'echo $$ > "$0" && exec "$@"', join(ROOT.folder, cgroup, 'cgroup.procs')];
  const child = spawn('bash', [...join2, enter, `${net}`, file, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
};

const outputOf = async (child: ChildProcess): Promise<string> => {
  let text = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  await once(child, 'close');
  return text.trim();
};

/** Sends a datagram: one that the hook drops fails at once. */
const SEND = `const [host, port] = process.argv.slice(1);
const socket = require('dgram').createSocket(host.includes(':') ? 'udp6' : 'udp4');
socket.send('x', Number(port), host, (error) => { console.log(error ? error.code : 'sent'); socket.close(); });`;

const send = (cgroup: string, host: string, port = 9): Promise<string> =>
  outputOf(start(cgroup, process.execPath, '-e', SEND, host, `${port}`));

const desiredItems = (): Map<string, NftItem> => {
  cluster.render();
  return new Map(cluster.sinks.nftables.all().map((item) => [nftItemKey(item), item]));
};

const reconcile = async (): Promise<void> => {
  const { failed } = await backend.reconcile({ desired: desiredItems(), keys: 'all', prune: true }, signal);
  expect(failed).toEqual(new Map());
};

beforeAll(async () => {
  for (const folder of FOLDERS) mkdirSync(join(ROOT.folder, folder), { recursive: true });
  nft = await realNft();
  backend = createNftables(nft);
  cgroups = startCgroups({ facts: cluster.facts, kubelet: KUBELET });
  const ip = treeCommand(await ensureTree(() => {}), 'usr/bin/ip');
  const [enter, net] = nft.command;
  const set = (...args: string[]) => nft.runner.run({ file: enter, args: [`${net}`, ip.file, ...ip.args, ...args] });
  await set('link', 'set', 'lo', 'up');
  await set('address', 'add', '10.1.1.77/32', 'dev', 'lo');
  for (const [id, subnet] of [
    [0, '10.1.1'],
    [7, '10.20.1'],
    [8, '10.30.1'],
  ] as const) {
    const link = `ovn-k8s-mp${id}`;
    await set('link', 'add', link, 'type', 'veth', 'peer', 'name', `peer${id}`);
    await set('link', 'set', `peer${id}`, 'up');
    await set('link', 'set', link, 'up');
    await set('address', 'add', `${subnet}.2/24`, 'dev', link);
    await set('neighbour', 'add', `${subnet}.3`, 'lladdr', '0a:58:0a:01:01:03', 'dev', link);
  }
  await set('-6', 'address', 'add', 'fd00:1::2/64', 'dev', 'ovn-k8s-mp0', 'nodad');
  await set('-6', 'neighbour', 'add', 'fd00:1::3', 'lladdr', '0a:58:0a:01:01:03', 'dev', 'ovn-k8s-mp0');
  await reconcile();
});

afterAll(async () => {
  cgroups.stop();
  await backend.close();
  const ended = [...children].map((child) => once(child, 'exit'));
  for (const child of children) child.kill('SIGKILL');
  await Promise.all(ended);
  await nft.close();
  for (const folder of FOLDERS.toReversed()) rmdirSync(join(ROOT.folder, folder));
});

it('is loaded, and printed by nft as desired', async () => {
  const [file, ...args] = nft.command;
  const { stdout } = await nft.runner.run({ file, args: [...args, '-y', 'list', 'table', 'inet', 'ovn-udn'] });
  const desired = cluster.sinks.nftables.all().flatMap((item) => (item.kind === 'chain' ? [item.chain] : []));
  const ours = desired.filter(({ name }) => name.includes('-isolation'));
  expect(ours).toHaveLength(4);
  const printed = new Set(stdout.split('\n').map((line) => line.trim()));
  expect(ours.flatMap(({ rules }) => rules).filter((rule) => !printed.has(rule))).toEqual([]);
});

describe('the default-network address of a pod with a primary network', () => {
  it.each(['10.1.1.3', 'fd00:1::3'])('%s is reached by the kubelet, and by others at open ports', async (host) => {
    expect(await send(KUBELET, host)).toBe('sent');
    expect(await send(OTHER, host)).toBe('EPERM');
    expect(await send(HOST_POD, host)).toBe('EPERM');
    expect(await send(OTHER, host, 53)).toBe('sent');
    expect(await send(OTHER, host, 54)).toBe('EPERM');
  });

  it('is reached by a kubelet whose cgroup was recreated, once that is known', async () => {
    const before = cluster.facts.get('kubeletCgroup', LOCAL)?.id;
    rmdirSync(join(ROOT.folder, KUBELET));
    mkdirSync(join(ROOT.folder, KUBELET));
    expect(await send(KUBELET, '10.1.1.3')).toBe('EPERM');
    await vi.waitFor(
      () => {
        const now = cluster.facts.get('kubeletCgroup', LOCAL)?.id;
        expect(now).toBeDefined();
        expect(now).not.toBe(before);
      },
      { timeout: 30_000 },
    );
    await reconcile();
    expect(await send(KUBELET, '10.1.1.3')).toBe('sent');
  });

  it('is closed on a new table, too, for which nft refuses the kubelet’s cgroup because it is gone', async () => {
    const kubelet = cluster.facts.get('kubeletCgroup', LOCAL);
    cluster.facts.set('kubeletCgroup', LOCAL, { path: `${SLICE}/gone.service`, level: 2, id: '1' });
    const [file, ...args] = nft.command;
    await nft.runner.run({ file, args: [...args, 'delete', 'table', 'inet', 'ovn-udn'] });
    const { failed } = await backend.reconcile({ desired: desiredItems(), keys: 'all', prune: true }, signal);
    expect([...failed.keys()]).toEqual(['chain udn-isolation-kubelet']);
    expect(await Promise.all([send(OTHER, '10.1.1.3'), send(KUBELET, '10.1.1.3')])).toEqual(['EPERM', 'EPERM']);
    expect(await send(OTHER, '10.20.1.3')).toBe('EPERM');
    cluster.facts.set('kubeletCgroup', LOCAL, kubelet);
    await reconcile();
    expect(await send(KUBELET, '10.1.1.3')).toBe('sent');
  });

  it('lets the kernel finish what the kubelet has closed', async () => {
    const server = start(OTHER, process.execPath, '-e', SERVE);
    const output = server.stdout as NonNullable<typeof server.stdout>;
    await once(output, 'data');
    const closed = once(output, 'data');
    expect(await outputOf(start(KUBELET, process.execPath, '-e', PROBE))).toBe('closed');
    await closed;
    server.stdin?.write('close');
    // Without the last acknowledgement the server's side stays for minutes. State 0A is LISTEN (proc_net_tcp.txt).
    await vi.waitFor(() => expect(tcpStatesOf(server.pid, 8080)).toEqual(['0A']), { timeout: 30_000 });
  });
});

/** Closes its side when asked to, after the client has. */
const SERVE = `require('net').createServer({ allowHalfOpen: true }, (socket) => {
  socket.resume().on('end', () => console.log('ended'));
  process.stdin.once('data', () => socket.end());
}).listen(8080, '10.1.1.77', () => console.log('up'));`;

const PROBE = `const socket = require('net').connect({ port: 8080, host: '10.1.1.77', localAddress: '10.1.1.2' });
socket.on('connect', () => socket.destroy()).on('close', () => console.log('closed'));`;

/** Of sockets with a port as their own, in the namespace of a process. */
const tcpStatesOf = (pid: number | undefined, port: number): string[] =>
  readFileSync(`/proc/${pid}/net/tcp`, 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .flatMap(([, local = '', , state = '']) =>
      Number.parseInt(local.split(':')[1] ?? '', 16) === port ? [state] : [],
    );

describe('a tenant’s management port', () => {
  it('is for host-network pods of that tenant', async () => {
    expect(await send(HOST_POD, '10.20.1.3')).toBe('sent');
    expect(await send(HOST_POD, '10.30.1.3')).toBe('EPERM');
  });

  it('is not for other processes, nor for the kubelet', async () => {
    expect(await send(OTHER, '10.20.1.3')).toBe('EPERM');
    expect(await send(KUBELET, '10.20.1.3')).toBe('EPERM');
  });

  it('is closed to a pod that is gone, and its cgroup with it', async () => {
    rmdirSync(join(ROOT.folder, HOST_POD));
    await vi.waitFor(() => expect(cluster.facts.get('podCgroup', UID)).toBeUndefined(), { timeout: 30_000 });
    mkdirSync(join(ROOT.folder, HOST_POD));
    expect(await send(HOST_POD, '10.20.1.3')).toBe('EPERM');
    await vi.waitFor(() => expect(cluster.facts.get('podCgroup', UID)).toBeDefined(), { timeout: 30_000 });
    await reconcile();
    expect(await send(HOST_POD, '10.20.1.3')).toBe('sent');
    rmdirSync(join(ROOT.folder, HOST_POD));
    await vi.waitFor(() => expect(cluster.facts.get('podCgroup', UID)).toBeUndefined(), { timeout: 30_000 });
    await reconcile();
    expect(await backend.difference(desiredItems())).toEqual([]);
    mkdirSync(join(ROOT.folder, HOST_POD));
  });

  it('of the default network is for all', async () => {
    expect(await send(OTHER, '10.1.1.2')).toBe('sent');
  });
});
