import { describe, expect, it } from 'vitest';
import { FakeCommandRunner } from '../exec/fake.ts';
import { createNftables } from './backend.ts';
import { FakeNft } from './fake-nft.ts';
import type { NftItem } from './types.ts';

const signal = new AbortController().signal;
const desired = new Map<string, NftItem>([['chain c', { kind: 'chain', chain: { name: 'c', rules: ['accept'] } }]]);
const request = { desired, keys: 'all', prune: true } as const;

describe('without what it needs', () => {
  it('says that nft is missing', async () => {
    const backend = createNftables({ runner: new FakeCommandRunner({}) });
    await expect(backend.reconcile(request, signal)).rejects.toMatchObject({
      code: 'ERR_NFT_MISSING',
      message: 'the program nft is not installed: install nftables',
    });
  });

  it('says that the kernel has no nf_tables, and goes on when it has', async () => {
    const runner = new FakeNft();
    const backend = createNftables({ runner });
    runner.broken = 'netlink: Error: cache initialization failed: Operation not supported\n';
    await expect(backend.reconcile(request, signal)).rejects.toMatchObject({
      code: 'ERR_NFT_KERNEL',
      message: expect.stringMatching(/^the kernel has no nf_tables, or CAP_NET_ADMIN is missing: netlink: Error/),
    });
    runner.broken = undefined;
    expect((await backend.reconcile(request, signal)).written).toBe(2);
  });
});

describe('the monitor', () => {
  const manualTimers = () => {
    const waiting: { ms: number; callback: () => void }[] = [];
    const schedule = (ms: number, callback: () => void): (() => void) => {
      waiting.push({ ms, callback });
      return () => {};
    };
    return { waiting, schedule };
  };
  const until = async (isTrue: () => boolean): Promise<void> => {
    while (!isTrue()) await new Promise((resolve) => setImmediate(resolve));
  };

  it('is started again when it ends, and everything is looked at then', async () => {
    const runner = new FakeNft();
    const { waiting, schedule } = manualTimers();
    const backend = createNftables({ runner, schedule });
    const reported: unknown[] = [];
    backend.listen((change) => reported.push(change));
    await until(() => runner.monitors === 1);
    runner.endMonitors();
    await until(() => waiting.length === 1);
    runner.broken = 'netlink: Error: Operation not supported\n';
    waiting[0]?.callback();
    await until(() => waiting.length === 2);
    expect(waiting[1]?.ms).toBeGreaterThan(waiting[0]?.ms ?? 0);
    runner.broken = undefined;
    waiting[1]?.callback();
    await until(() => runner.monitors === 1);
    expect(reported.at(-1)).toEqual({ cause: 'input', keys: 'all' });
    await backend.close();
    expect(runner.monitors).toBe(0);
  });

  it('notifies no listener that has left', async () => {
    const runner = new FakeNft();
    const backend = createNftables({ runner });
    const reported: unknown[] = [];
    backend.listen((change) => reported.push(change))();
    const others = Promise.withResolvers<void>();
    backend.listen(() => others.resolve());
    await until(() => runner.monitors === 1);
    await runner.run({ file: 'nft', args: ['add table inet ovn-udn'] });
    await others.promise;
    expect(reported).toEqual([]);
    await backend.close();
  });
});

it('makes a table again that cannot be read', async () => {
  const runner = new FakeNft();
  const real = runner.run.bind(runner);
  let garbled = true;
  runner.run = async (command, stop) => {
    const result = await real(command, stop);
    return garbled && command.args.includes('list')
      ? { stdout: 'table inet ovn-udn {\n\tgarbled {', stderr: '' }
      : result;
  };
  await runner.run({ file: 'nft', args: ['add table inet ovn-udn'] });
  const backend = createNftables({ runner });
  const before = runner.scripts.length;
  expect((await backend.reconcile(request, signal)).written).toBe(2);
  // In one transaction: nothing is let through in between.
  expect(runner.scripts.slice(before).filter((script) => script.includes('delete table'))).toEqual([
    expect.stringMatching(/delete table inet ovn-udn\nadd table inet ovn-udn\n(.*\n)*add chain/),
  ]);
  garbled = false;
  expect(await backend.difference(desired)).toEqual([]);
});

it('reports what it has written, and nothing when there is nothing to write', async () => {
  const reported: string[][] = [];
  const backend = createNftables({
    runner: new FakeNft(),
    onWritten: (keys, all) => reported.push([...keys].map((key) => `${key}${all.has(key) ? '' : ' gone'}`).sort()),
  });
  const ports: readonly (readonly [string, NftItem])[] = [
    ['set s', { kind: 'set', set: { name: 's', type: 'inet_service' } }],
    ['element s 1', { kind: 'element', element: { set: 's', key: '1' } }],
  ];
  const reconcile = (items: readonly (readonly [string, NftItem])[], keys: ReadonlySet<string> | 'all') =>
    backend.reconcile({ desired: new Map(items), keys, prune: true }, signal);
  await reconcile(ports, 'all');
  await reconcile(ports, 'all');
  await reconcile(ports.slice(0, 1), new Set(['element s 1']));
  expect(reported.map((keys) => keys.filter((key) => key.includes(' s')))).toEqual([
    ['element s 1', 'set s'],
    ['element s 1 gone'],
  ]);
});
