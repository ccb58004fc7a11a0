/**
 * Somebody takes away and changes what is ours in the host's network stack, hundreds of times, in any order, and while it is
 * being repaired. The kernel's events must be enough, and soon: the slow timer, which finds everything, does not run here, so
 * that what one event misses stays wrong for good.
 */
import { spawn } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ReconcileLoop } from '../../agent/reconcile/reconcile-loop.ts';
import { systemClock } from '../../base/clock.ts';
import { HostBackend } from '../../datapath/host/backend.ts';
import { address, bridgeItems, bridgeOps, PORT, portItems, portOps } from '../../datapath/host/host-world.suite.ts';
import { OWNERSHIP } from '../../datapath/host/keeper.suite.ts';
import { type HostItem, hostItemKey } from '../../datapath/host/types.ts';
import { type Harness, linuxHarness } from '../../datapath/netlink/harness.suite.ts';
import { defaultAddonPath, loadAddon } from '../../datapath/netlink/kernel/addon.ts';
import { LinuxKernel } from '../../datapath/netlink/kernel/linux.ts';
import type { Netlink } from '../../datapath/netlink/netlink.ts';
import { netlinkService } from '../../datapath/netlink/worker/service.ts';
import { createRandom } from '../e2e/support/faults/random.ts';

const REPAIR_MS = 1000;
const GIVE_UP_MS = 5000;
/** Longer than any test. */
const NEVER_MS = 1_000_000;

const items: readonly HostItem[] = [...bridgeItems, ...portItems(254), address(PORT, 'fd81::2/64')];

/** What others have made, and a flush takes along; without it nothing of ours can be. */
const MEND = [
  'addr replace 172.18.0.2/16 dev br-ex',
  'addr replace fd12::2/64 dev br-ex nodad',
  'link set mp3-peer up',
].join('\n');

/** `addr flush` deletes, looks what is there, and deletes again: it races with whoever repairs. */
const ATTACKS = [
  `addr flush dev ${PORT}`,
  `addr del 100.128.0.2/24 dev ${PORT}`,
  `addr del fd80::2/64 dev ${PORT}`,
  `addr del fd81::2/64 dev ${PORT}`,
  `addr add 100.128.0.2/16 dev ${PORT}`,
  'addr flush dev br-ex',
  'addr del 169.254.0.2/17 dev br-ex',
  'addr del fd69::2/112 dev br-ex',
  'addr change fd69::2/112 dev br-ex preferred_lft forever',
  `link set ${PORT} down`,
  `link set ${PORT} down\nlink set ${PORT} up`,
  'link set br-ex down',
  'link set br-ex down\nlink set br-ex up',
  `link set ${PORT} mtu 1290`,
  `link set ${PORT} address 0a:58:64:80:00:77`,
  'link set mp3-peer down',
  `link del ${PORT}\nlink add name ${PORT} type veth peer name mp3-peer`,
  'route flush table main proto 85',
  `route del 100.128.0.0/16 dev ${PORT}`,
  `route replace 100.128.0.0/16 via 100.128.0.9 dev ${PORT} proto 85`,
  `route replace 169.254.0.12/32 dev ${PORT} proto static`,
  `route append 100.128.0.0/16 via 100.128.0.7 dev ${PORT} proto 85`,
  '-6 route flush table main proto 85',
  'neigh flush dev br-ex nud permanent',
  'neigh replace 169.254.0.4 lladdr 0a:58:a9:fe:00:07 dev br-ex nud permanent',
  `neigh del 100.128.0.1 dev ${PORT}`,
  'rule del prio 30',
  '-6 rule del prio 30',
  'rule add prio 2000 fwmark 9 lookup 7 protocol 85',
] as const;

interface Node {
  readonly backend: HostBackend;
  readonly loop: ReconcileLoop<HostItem>;
  readonly log: string[];
}

let harness: Harness;
const nodes: Node[] = [];
beforeEach(async () => {
  harness = await linuxHarness();
  expect(await harness.netlink.apply({ ops: [...bridgeOps, ...portOps] })).toEqual([]);
});
afterEach(async () => {
  await stopAll();
  await harness[Symbol.asyncDispose]();
});

const stopAll = async (): Promise<void> => {
  for (const { loop } of nodes.splice(0)) await loop.stop();
};

const start = (desired: readonly HostItem[], netlink: HostNetlink = harness.netlink): Node => {
  const log: string[] = [];
  const backend = new HostBackend({ netlink, ownership: OWNERSHIP });
  const observe = (observation: object): void => void log.push(JSON.stringify(observation));
  const loop = new ReconcileLoop({
    keyOf: hostItemKey,
    backend,
    clock: systemClock,
    observe,
    fullEveryMs: NEVER_MS,
  });
  loop.store.set('test', desired);
  loop.start();
  const node = { backend, loop, log };
  nodes.push(node);
  return node;
};
type HostNetlink = Pick<Netlink, 'read' | 'apply' | 'watch'>;

/** Lines of `ip -batch`. What is refused is refused: much is not there any more. */
const ip = (lines: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const name = harness.ownNetns.slice('/run/netns/'.length);
    const args = ['-n', name, '-force', '-batch', '-'];
    const child = spawn('ip', args, { stdio: ['pipe', 'ignore', 'ignore'] });
    child.on('error', reject);
    child.on('exit', () => resolve());
    child.stdin.end(`${lines}\n`);
  });

/** What is to be there is put by another `ip`: one that flushes ends when somebody else changes addresses meanwhile. */
const attackWith = async (...lines: readonly string[]): Promise<void> => {
  await ip(lines.join('\n'));
  await ip(MEND);
};

const wrong = async ({ backend, loop }: Node): Promise<string[]> =>
  (await backend.difference(loop.store.desired)).map(({ kind, key }) => `${kind} ${key}`);

/** @returns after how many milliseconds all was right again, and what was not until then */
const repaired = async (node: Node, what: string): Promise<{ readonly ms: number; readonly last: string }> => {
  const began = performance.now();
  let last = '';
  for (;;) {
    const left = await wrong(node);
    const ms = performance.now() - began;
    if (left.length === 0) return { ms, last };
    const problems = node.loop.problems().map(({ key, status: { message } }) => `${key}: ${message}`);
    last = [...left, 'problems', ...problems, 'log', ...node.log.slice(-20)].join('\n');
    if (ms > GIVE_UP_MS) throw new Error(`after ${what}\n${last}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
};

const repairedSoon = async (node: Node, what: string): Promise<void> => {
  const { ms, last } = await repaired(node, what);
  expect(ms, `after ${what}\n${last}`).toBeLessThan(REPAIR_MS);
};

describe('what is done to the host is undone, without the slow timer', () => {
  it.each(ATTACKS)('%s, time and again', async (attack) => {
    const node = start(items);
    await repaired(node, 'the start');
    for (let i = 0; i < 25; i++) {
      node.log.length = 0;
      await attackWith(attack);
      await repairedSoon(node, `${attack} (${i})`);
    }
  });

  it('anything, in any order', async () => {
    const random = createRandom();
    const node = start(items);
    await repaired(node, 'the start');
    for (let i = 0; i < 200; i++) {
      node.log.length = 0;
      const attacks = Array.from({ length: 1 + Math.floor(random.next() * 6) }, () => random.pick(ATTACKS));
      await attackWith(...attacks);
      await repairedSoon(node, `seed ${random.seed}, ${i}: ${attacks.join('; ')}`);
    }
  });

  it('by several at once, who do not wait for the repair', async () => {
    const random = createRandom();
    const node = start(items);
    await repaired(node, 'the start');
    for (let round = 0; round < 15; round++) {
      node.log.length = 0;
      const some = (): string => Array.from({ length: 12 }, () => random.pick(ATTACKS)).join('\n');
      const attacks = [some(), some(), some()];
      await Promise.all(attacks.map(ip));
      await ip(MEND);
      await repairedSoon(node, `seed ${random.seed}, ${round}: ${attacks.join(' | ').replaceAll('\n', '; ')}`);
    }
  });
});

describe('what the kernel does without a word is noticed', () => {
  it('it makes another address of the network the first one', async () => {
    const node = start(items);
    const second = `addr add 172.18.0.77/16 dev br-ex`;
    const ops = [{ op: 'sysctl.set', key: 'ipv4/conf/br-ex/promote_secondaries', value: '1' } as const];
    expect(await harness.netlink.apply({ ops })).toEqual([]);
    for (let i = 0; i < 20; i++) {
      await ip(`${second}\naddr del 172.18.0.2/16 dev br-ex\naddr add 172.18.0.2/16 dev br-ex`);
      await repairedSoon(node, `promotion ${i}`);
    }
  });

  it('it cannot report all: more happened than there was room for', async () => {
    using kernel = new LinuxKernel(loadAddon(defaultAddonPath()), { ownNetns: harness.ownNetns });
    const { netlink, lost } = onThisThread(kernel, 4096);
    const node = start(items, netlink);
    await repaired(node, 'the start');
    const flood = Array.from({ length: 300 }, (_, i) => `rule add prio ${3000 + i} fwmark ${i + 1} lookup 7`);
    const ebb = flood.map((line) => line.replace('add', 'del'));
    for (let i = 0; i < 10; i++) {
      await attackWith(...flood, ATTACKS[i] ?? '', ...ebb);
      await repairedSoon(node, `a flood (${i})`);
    }
    expect(lost()).toBeGreaterThan(0);
    await stopAll();
  });
});

/** As the worker does it, with a buffer of this size; what happens while this thread does something else must fit. */
const onThisThread = (kernel: LinuxKernel, receiveBytes: number) => {
  const service = netlinkService(kernel);
  let drain = (): void => undefined;
  let lost = 0;
  const netlink: HostNetlink = {
    read: async (query) => {
      drain();
      return service.read(query);
    },
    apply: async ({ ops }) => {
      drain();
      const failures = kernel.netns().apply(ops);
      drain();
      return failures;
    },
    watch: (listener) => {
      const monitor = kernel.watch((events) => {
        lost += events.filter(({ kind }) => kind === 'lost').length;
        listener(events);
      }, receiveBytes);
      drain = () => monitor.drain();
      return () => {
        drain = () => undefined;
        monitor[Symbol.dispose]();
      };
    },
  };
  return { netlink, lost: () => lost };
};
