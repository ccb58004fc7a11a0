/**
 * All daemons of a pod start at once, and so do their hooks: the entry point of the image of OVN gives them their order, in folders of the
 * test in place of those of a node.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

const PROGRAM = join(import.meta.dirname, '../../bin/ovn-daemon');
const POD = 'this-pod';
const LOCKS = {
  ...{ northd: 'run/ovn/ovn-northd.lock', 'ovn-controller': 'run/ovn/ovn-controller.lock' },
  ...{ nb: 'run/ovn/ovnnb_db.lock', sb: 'run/ovn/ovnsb_db.lock' },
  ...{ 'ovs-vswitchd': 'run/openvswitch/ovs-vswitchd.lock', 'ovsdb-server': 'run/openvswitch/ovsdb-server.lock' },
} as const;
type Daemon = keyof typeof LOCKS;
const SOCKETS = {
  ...{ ovs: 'run/openvswitch/db.sock', nb: 'run/ovn/ovnnb_db.sock', sb: 'run/ovn/ovnsb_db.sock' },
} as const;
/** Of the daemons and their tools. Those that a case needs to answer differently are written again. */
const STUBS: Readonly<Record<string, string>> = {
  ...{ 'ovs-appctl': '', 'ovs-vsctl': '', 'ovn-nbctl': '', 'ovsdb-client': 'exit 1' },
  ...{ 'ovsdb-tool': '[ "$1" != create ] || : >"$2"' },
  ...{ 'ovsdb-server': '', 'ovs-vswitchd': '', 'ovn-northd': '', 'ovn-controller': '' },
};
/** Long enough for a hook or a daemon that does not wait, and too short for one that would. */
const A_WHILE_MS = 300;

let folder: string;
let children: ChildProcess[];
let servers: Server[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ovn-'));
  children = [];
  servers = [];
  for (const one of ['bin', 'run/openvswitch', 'run/ovn', 'var/lib/openvswitch', 'var/lib/ovn'])
    mkdirSync(join(folder, one), { recursive: true });
  for (const [name, lines] of Object.entries(STUBS)) stub(name, lines);
  const program = readFileSync(PROGRAM, 'utf8').replaceAll(/(?<![\w.])\/(?=(?:run|var\/lib)\/)/g, `${folder}/`);
  writeFileSync(pathOf('ovn-daemon'), program, { mode: 0o755 });
});
afterEach(async () => {
  for (const child of children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)) {
    child.kill();
    await once(child, 'exit');
  }
  for (const server of servers) server.close();
  rmSync(folder, { recursive: true });
});

const pathOf = (file: string): string => join(folder, file);

/** @param lines of a shell, after those that record the call */
const stub = (name: string, lines: string): void =>
  writeFileSync(pathOf(`bin/${name}`), `#!/bin/sh\necho "${name} $*" >>${folder}/log\n${lines}\n`, { mode: 0o755 });

const hasRun = (name: string): boolean =>
  existsSync(pathOf('log')) && readFileSync(pathOf('log'), 'utf8').includes(`\n${name} `);

const run = (...args: string[]): ChildProcess => {
  writeFileSync(pathOf('log'), '\n', { flag: 'a' });
  const env = { PATH: `${folder}/bin:/usr/bin:/bin`, OVN_POD: POD };
  const child = spawn(pathOf('ovn-daemon'), args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  children.push(child);
  return child;
};

/** @returns whether it has ended by then */
const endsWithin = async (child: ChildProcess, ms: number): Promise<boolean> => {
  if (child.exitCode !== null) return true;
  return await Promise.race([once(child, 'exit').then(() => true), sleep(ms, false)]);
};

/** A daemon that runs: its lock is held. @returns what ends it */
const hold = async (daemon: Daemon, pod = POD): Promise<() => Promise<void>> => {
  const lock = pathOf(LOCKS[daemon]);
  writeFileSync(lock, `${pod}\n`);
  const child = spawn('flock', [lock, '-c', 'echo held; exec cat'], { stdio: ['pipe', 'pipe', 'inherit'] });
  children.push(child);
  await once(child.stdout, 'data');
  return async () => {
    child.stdin.end();
    await once(child, 'exit');
  };
};

const listen = async (socket: keyof typeof SOCKETS): Promise<void> => {
  const server = createServer().listen(pathOf(SOCKETS[socket]));
  servers.push(server);
  await once(server, 'listening');
};

describe('a daemon waits, once it is its turn, for the sockets of', () => {
  it.each<[Daemon, string, readonly (keyof typeof SOCKETS)[]]>([
    ['northd', 'ovn-northd', ['nb', 'sb']],
    ['ovn-controller', 'ovn-controller', ['ovs', 'sb']],
    ['ovs-vswitchd', 'ovs-vswitchd', ['ovs']],
  ])('%s', async (name, program, sockets) => {
    const child = run(name);
    const lock = pathOf(LOCKS[name]);
    await vi.waitFor(() => expect(readFileSync(lock, 'utf8')).toBe(`${POD}\n`), { timeout: 10_000 });
    for (const socket of sockets) {
      expect(await endsWithin(child, A_WHILE_MS)).toBe(false);
      expect(hasRun(program)).toBe(false);
      await listen(socket);
    }
    expect(await endsWithin(child, 10_000)).toBe(true);
    expect([child.exitCode, hasRun(program)]).toEqual([0, true]);
  });
});

describe('the hook of a database', () => {
  const ORDER: readonly [Daemon, readonly Daemon[]][] = [
    ['sb', ['northd', 'ovn-controller', 'ovs-vswitchd']],
    ['nb', ['northd', 'ovn-controller', 'ovs-vswitchd', 'sb']],
    ['ovsdb-server', ['northd', 'ovn-controller', 'ovs-vswitchd', 'sb', 'nb']],
  ];
  const CASES = ORDER.flatMap(([name, others]) => others.map((other): [Daemon, Daemon] => [name, other]));

  it.each(CASES)('%s waits for %s of its pod', async (name, other) => {
    await hold(name);
    const end = await hold(other);
    const hook = run(name, 'stop');
    expect(await endsWithin(hook, A_WHILE_MS)).toBe(false);
    await end();
    expect(await endsWithin(hook, 10_000)).toBe(true);
    expect(hook.exitCode).toBe(0);
  });

  it.each(ORDER)('%s waits for no daemon of the next pod', async (name, others) => {
    await hold(name);
    for (const other of others) await hold(other, 'next-pod');
    expect(await endsWithin(run(name, 'stop'), 10_000)).toBe(true);
  });

  it.each(ORDER)('%s waits for nobody when it is another pod’s turn', async (name, others) => {
    await hold(name, 'next-pod');
    for (const other of others) await hold(other);
    expect(await endsWithin(run(name, 'stop'), 10_000)).toBe(true);
  });

  it.each(ORDER)('%s is not kept from a restart when it does not answer', async (name, others) => {
    for (const other of [name, ...others]) await hold(other);
    stub('ovs-appctl', 'exit 1');
    expect(await endsWithin(run(name, 'stop'), 10_000)).toBe(true);
  });

  it('waits no longer than a pod may take', async () => {
    await hold('nb');
    await hold('northd');
    stub('date', `printf x >>${folder}/calls; echo $(($(wc -c <${folder}/calls) * 7))`);
    expect(await endsWithin(run('nb', 'stop'), 10_000)).toBe(true);
    expect(readFileSync(pathOf('calls'), 'utf8').length).toBeLessThan(8);
  });
});

describe('on a node that is discarded', () => {
  const NORTHBOUND = 'var/lib/ovn/ovnnb_db.db';
  const VSWITCH = 'var/lib/openvswitch/conf.db';
  beforeEach(async () => {
    for (const file of [NORTHBOUND, VSWITCH, 'run/openvswitch/discarded']) writeFileSync(pathOf(file), '');
    await hold('nb');
    await hold('ovsdb-server');
  });
  const stop = async (name: Daemon): Promise<void> => {
    expect(await endsWithin(run(name, 'stop'), 10_000)).toBe(true);
  };
  const end = (name: Daemon): void => writeFileSync(pathOf(LOCKS[name]), '');
  const has = (...files: string[]): boolean[] => files.map((file) => existsSync(pathOf(file)));

  it('ovsdb-server removes its data after nb has removed its own', async () => {
    await stop('nb');
    expect(has(NORTHBOUND, VSWITCH)).toEqual([false, true]);
    end('nb');
    await stop('ovsdb-server');
    expect(has(VSWITCH)).toEqual([false]);
    expect(['run/ovn', 'run/openvswitch'].flatMap((one) => readdirSync(pathOf(one)))).toEqual([]);
  });

  it('ovsdb-server keeps its data when the zone is not empty', async () => {
    stub('ovn-nbctl', 'echo a switch');
    await stop('nb');
    end('nb');
    await stop('ovsdb-server');
    expect(has(NORTHBOUND, VSWITCH)).toEqual([true, true]);
  });

  it('ovsdb-server keeps its data when there are bridges that ovs-vswitchd has kept', async () => {
    await stop('nb');
    end('nb');
    stub('ovs-vsctl', 'echo breth0');
    await stop('ovsdb-server');
    expect(has(VSWITCH)).toEqual([true]);
  });

  it('ovsdb-server takes no word that the nb of another pod has left', async () => {
    writeFileSync(pathOf('run/ovn/removed'), 'former-pod\n');
    end('nb');
    await stop('ovsdb-server');
    expect(has(VSWITCH)).toEqual([true]);
  });

  it('nb takes its word back when it starts again', async () => {
    await stop('nb');
    await Promise.all(children.map((child) => child.kill()));
    expect(await endsWithin(run('nb'), 10_000)).toBe(true);
    expect(has(NORTHBOUND, 'run/ovn/removed')).toEqual([true, false]);
  });
});
