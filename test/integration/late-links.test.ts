/**
 * The desired state of a link and the link itself come at any moment of each other's, hundreds of times, and go again: as
 * networks do, whose ports ovs-vswitchd makes. The kernel's events must be enough, and soon: the slow timer does not run
 * here, so that what begins to wait just when its link comes would wait for good.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ReconcileLoop } from '../../agent/reconcile/reconcile-loop.ts';
import { systemClock } from '../../base/clock.ts';
import { HostBackend } from '../../datapath/host/backend.ts';
import { bridgeItems, bridgeOps, networkItems, PORT, portItems } from '../../datapath/host/host-world.suite.ts';
import { OWNERSHIP } from '../../datapath/host/keeper.suite.ts';
import { type HostItem, hostItemKey } from '../../datapath/host/types.ts';
import { type Harness, linuxHarness } from '../../datapath/netlink/harness.suite.ts';
import { createRandom, type Random } from '../e2e/support/faults/random.ts';

const SOON_MS = 1000;
/** A machine that does other things may stop a process for a second; a change without an event would never be right. */
const LATE_AT_MOST = 0.02;
const GIVE_UP_MS = 5000;
/** Longer than any test. */
const NEVER_MS = 1_000_000;
const ROUNDS = 200;
/** Of the event loop, from one to the other; the desired state is brought about in fewer. */
const MAX_TURNS = 60;

const MAKE = `link add name ${PORT} type veth peer name mp3-peer\nlink set mp3-peer up\n`;
const TAKE = `link del ${PORT}\n`;

let harness: Harness;
let loop: ReconcileLoop<HostItem>;
let backend: HostBackend;
let ip: ChildProcess;
let log: string[];

beforeEach(async () => {
  harness = await linuxHarness();
  expect(await harness.netlink.apply({ ops: bridgeOps })).toEqual([]);
  backend = new HostBackend({ netlink: harness.netlink, ownership: OWNERSHIP });
  log = [];
  loop = new ReconcileLoop({
    keyOf: hostItemKey,
    backend,
    clock: systemClock,
    observe: (observation) => log.push(JSON.stringify(observation)),
    fullEveryMs: NEVER_MS,
  });
  loop.store.set('bridge', bridgeItems);
  loop.start();
  const name = harness.ownNetns.slice('/run/netns/'.length);
  // One for all: it does each line as soon as it has it.
  ip = spawn('ip', ['-n', name, '-force', '-batch', '-'], { stdio: ['pipe', 'ignore', 'ignore'] });
});
afterEach(async () => {
  const ended = once(ip, 'exit');
  ip.stdin?.end();
  await ended;
  await loop.stop();
  await harness[Symbol.asyncDispose]();
});

/** What is not right, and what is said of it. What this kernel cannot have at all is neither. */
const wrong = async (): Promise<string[]> => {
  const problems = loop.problems().filter(({ status: { kind } }) => kind !== 'unsupported' && kind !== 'pending');
  const differences = await backend.difference(loop.store.desired);
  return [
    ...problems.map(({ key, status: { message } }) => `${key}: ${message}`),
    ...differences
      .filter(({ key }) => loop.statusOf(key).kind !== 'unsupported')
      .map(({ kind, key }) => `${kind} ${key}`),
  ];
};

/** @returns milliseconds */
const untilRight = async (what: string): Promise<number> => {
  const began = performance.now();
  let last = '';
  for (;;) {
    const left = await wrong();
    const ms = performance.now() - began;
    if (left.length === 0) return ms;
    last = [...left, ...log.slice(-10)].join('\n');
    if (ms > GIVE_UP_MS) throw new Error(`${what}\n${last}`);
    await turn();
  }
};

/** Both, in any order, some turns of the event loop apart. */
const both = async (random: Random, one: () => void, other: () => void): Promise<string> => {
  const isSwapped = random.next() < 0.5;
  const turns = Math.floor(random.next() * MAX_TURNS);
  (isSwapped ? other : one)();
  for (let i = 0; i < turns; i++) await turn();
  (isSwapped ? one : other)();
  return `${isSwapped ? 'the link' : 'the wish'} first, by ${turns} turns`;
};

it.each([
  ['in the main table', portItems(254)],
  ['of a network', networkItems],
])('what is %s is right as soon as its link is there', async (_, items) => {
  const random = createRandom();
  const late: string[] = [];
  const rightSoon = async (what: string): Promise<void> => {
    const ms = await untilRight(what);
    if (ms > SOON_MS) late.push(`${ms} ms: ${what}`);
  };
  for (let round = 0; round < ROUNDS; round++) {
    log.length = 0;
    const isShaky = random.next() < 0.3;
    const make = (): void => void ip.stdin?.write(isShaky ? MAKE + TAKE + MAKE : MAKE);
    const come = await both(random, () => loop.store.set('port', items), make);
    const what = `seed ${random.seed}, round ${round}${isShaky ? ', made twice' : ''}: ${come}`;
    await rightSoon(what);
    const go = await both(
      random,
      () => loop.store.set('port', []),
      () => ip.stdin?.write(TAKE),
    );
    await rightSoon(`${what}; and gone, ${go}`);
  }
  expect(late.length / (2 * ROUNDS), late.join('\n')).toBeLessThanOrEqual(LATE_AT_MOST);
});
