import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { SocketWatch } from './socket-watch.ts';

let parent: string;
let folder: string;
let sockets: SocketWatch;
const reported: string[] = [];

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'socket-watch-'));
  folder = join(parent, 'openvswitch');
  reported.length = 0;
});
afterEach(() => {
  sockets.close();
  rmSync(parent, { recursive: true });
});

const start = (lookMs?: number): void => {
  sockets = new SocketWatch({ folder, lookMs });
  sockets.listen((bridge) => reported.push(bridge));
};
const make = (name: string): void => writeFileSync(join(folder, name), '');
const until = (names: readonly string[]): Promise<void> => vi.waitFor(() => expect(reported).toEqual(names), 5_000);

it('a socket that is there from the beginning is no news, and one that is made again is', async () => {
  mkdirSync(folder);
  make('br-int.mgmt');
  start();
  make('br-ex.mgmt');
  await until(['br-ex']);
  rmSync(join(folder, 'br-int.mgmt'));
  make('br-int.mgmt');
  await until(['br-ex', 'br-int']);
});

it('another file is none, and the same socket is reported once', async () => {
  mkdirSync(folder);
  start();
  make('br-int.snoop');
  make('br-int.mgmt');
  await until(['br-int']);
  make('ovs-vswitchd.pid');
  make('br-ex.mgmt');
  await until(['br-int', 'br-ex']);
});

it('a folder may come later, and go, and come again', async () => {
  start(20);
  mkdirSync(folder);
  make('br-int.mgmt');
  await until(['br-int']);
  renameSync(folder, join(parent, 'gone'));
  mkdirSync(folder);
  make('br-int.mgmt');
  await until(['br-int', 'br-int']);
});

it('nobody is notified after the end', async () => {
  mkdirSync(folder);
  start();
  const others: string[] = [];
  sockets.listen((bridge) => others.push(bridge))();
  make('br-a.mgmt');
  await until(['br-a']);
  expect(others).toEqual([]);
});
