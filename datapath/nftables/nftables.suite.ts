/** What the backend does, over the real nft and over the one in memory. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CommandRunner } from '../exec/types.ts';
import { createNftables, type NftablesBackend } from './backend.ts';
import { type NftItem, nftItemKey } from './types.ts';

export interface NftHarness {
  readonly runner: CommandRunner;
  readonly command: readonly [string, ...string[]];
  readonly guard?: readonly string[];
  close(): Promise<void>;
}

const signal = new AbortController().signal;

const chain = (name: string, rules: readonly string[], more: object = {}): NftItem => ({
  kind: 'chain',
  chain: { name, rules, ...more },
});
const set = (name: string, type: string, more: object = {}): NftItem => ({ kind: 'set', set: { name, type, ...more } });
const element = (name: string, key: string, more: object = {}): NftItem => ({
  kind: 'element',
  element: { set: name, key, ...more },
});

const output = { type: 'filter', hook: 'output', priority: 0 } as const;

/** What has every kind of thing in it; `mark` is desired in words that nft does not print. */
const TABLE: readonly NftItem[] = [
  set('ports', 'ipv4_addr . inet_proto . inet_service', { comment: 'open ports' }),
  set('addresses', 'ipv4_addr'),
  set('subnets6', 'ipv6_addr', { interval: true }),
  set('names', 'ifname'),
  set('marks', 'inet_proto . inet_service', { value: 'verdict' }),
  set('redirects', 'inet_proto . inet_service', { value: 'ipv4_addr . inet_service' }),
  element('ports', '10.0.0.1 . tcp . 80', { comment: 'red/web' }),
  element('addresses', '10.0.0.1'),
  element('addresses', '10.0.0.2'),
  element('subnets6', 'fd00:10::/64'),
  element('names', '"ovn-k8s-mp7"'),
  element('marks', 'tcp . 30080', { value: 'jump mark-red' }),
  element('redirects', 'udp . 53', { value: '10.0.0.9 . 5353' }),
  chain('mark-red', ['meta mark set 4103']),
  chain(
    'isolation',
    [
      'ip daddr . meta l4proto . th dport @ports accept',
      'oifname @names ct state new drop comment "no new ones"',
      'ip daddr @addresses drop',
    ],
    { hook: output, comment: 'who may reach whom' },
  ),
  chain('masq', ['ip saddr 10.1.2.3/32 masquerade', 'ip6 saddr @subnets6 masquerade'], {
    hook: { type: 'nat', hook: 'postrouting', priority: 101 },
  }),
  chain('services', ['meta l4proto . th dport vmap @marks'], {
    hook: { type: 'filter', hook: 'prerouting', priority: -150 },
  }),
];

const itemsByKey = (items: readonly NftItem[]): Map<string, NftItem> =>
  new Map(items.map((item) => [nftItemKey(item), item]));

/** Commands of somebody else, each of which changes one thing. Several in one are joined by `&&`. */
const MUTATIONS: readonly string[] = [
  'add rule inet ovn-udn isolation accept',
  'insert rule inet ovn-udn isolation accept',
  'flush chain inet ovn-udn isolation',
  'flush chain inet ovn-udn mark-red',
  'add rule inet ovn-udn mark-red drop',
  'delete element inet ovn-udn addresses { 10.0.0.2 }',
  'add element inet ovn-udn addresses { 10.0.0.3 }',
  'flush set inet ovn-udn names',
  'add set inet ovn-udn more { type ipv4_addr; }',
  'add chain inet ovn-udn more',
  'add chain inet ovn-udn hooked { type filter hook input priority 5; policy drop; }',
  'add counter inet ovn-udn hits',
  'delete element inet ovn-udn subnets6 { fd00:10::/64 }',
  'flush map inet ovn-udn marks',
  'delete table inet ovn-udn',
  'add table inet ovn-udn { flags dormant; }',
  'flush chain inet ovn-udn masq && delete chain inet ovn-udn masq && add chain inet ovn-udn masq { type nat hook postrouting priority 100; }',
  'flush chain inet ovn-udn isolation && add rule inet ovn-udn isolation ip daddr @addresses drop && add rule inet ovn-udn isolation oifname @names ct state new drop comment "no new ones" && add rule inet ovn-udn isolation ip daddr . meta l4proto . th dport @ports accept',
  'flush chain inet ovn-udn isolation && delete set inet ovn-udn addresses && add set inet ovn-udn addresses { type ipv6_addr; }',
  'delete element inet ovn-udn redirects { udp . 53 } && add element inet ovn-udn redirects { udp . 53 : 10.0.0.9 . 9 }',
  'delete element inet ovn-udn ports { 10.0.0.1 . tcp . 80 } && add element inet ovn-udn ports { 10.0.0.1 . tcp . 80 }',
];

/** A backend, the ruleset below it, and somebody else who changes that. */
class World {
  readonly #harness: NftHarness;
  readonly #opened: NftablesBackend[] = [];

  constructor(harness: NftHarness) {
    this.#harness = harness;
    this.restart();
  }

  get backend(): NftablesBackend {
    return this.#opened.at(-1) as NftablesBackend;
  }

  /** A backend that remembers nothing. */
  restart(): void {
    const { runner, command, guard = [] } = this.#harness;
    this.#opened.push(createNftables({ runner, command, guard }));
  }

  readonly nft = async (command: string): Promise<void> => {
    const [file, ...before] = this.#harness.command;
    await this.#harness.runner.run({ file, args: [...before, ...splitCommand(command)] });
  };

  readonly reconcile = (desired: Desired, keys: readonly string[] | 'all' = 'all', prune = true) =>
    this.backend.reconcile({ desired, keys: keys === 'all' ? keys : new Set(keys), prune }, signal);

  readonly differing = async (desired: Desired): Promise<string[]> =>
    (await this.backend.difference(desired)).map(({ kind, key }) => `${kind} ${key}`);

  async close(): Promise<void> {
    await Promise.all(this.#opened.map((backend) => backend.close()));
    await this.#harness.close();
  }
}

type Desired = ReadonlyMap<string, NftItem>;

export const nftablesSuite = (name: string, create: () => Promise<NftHarness>): void => {
  let world: World;

  beforeEach(async () => {
    world = new World(await create());
  });

  afterEach(() => world.close());

  reconcileCases(name, () => world);
  refusalCases(name, () => world);
  exceptionCases(name, () => world);
};

const DONE = { failed: new Map(), waiting: new Map() };

const reconcileCases = (name: string, world: () => World): void => {
  describe(`nftables over ${name} reconciles`, () => {
    it('makes the desired state, once, and knows after a restart that it is right', async () => {
      const { reconcile, differing } = world();
      const desired = itemsByKey(TABLE);
      expect(await reconcile(desired)).toMatchObject({ written: desired.size + 1, ...DONE });
      expect(await differing(desired)).toEqual([]);
      expect((await reconcile(desired)).written).toBe(0);
      world().restart();
      expect(await differing(desired)).toEqual([]);
      expect((await reconcile(desired)).written).toBe(0);
    });

    it.each(MUTATIONS)('finds and undoes `%s`', async (mutation) => {
      const { nft, reconcile, differing } = world();
      const desired = itemsByKey(TABLE);
      await reconcile(desired);
      for (const command of mutation.split(' && ')) await nft(command);
      expect(await differing(desired)).not.toEqual([]);
      world().restart();
      expect((await reconcile(desired)).written).toBeGreaterThan(0);
      expect(await differing(desired)).toEqual([]);
      expect((await reconcile(desired)).written).toBe(0);
    });

    it('writes only what changed', async () => {
      const { reconcile, differing } = world();
      const desired = itemsByKey(TABLE);
      await reconcile(desired);
      const more = itemsByKey([chain('mark-blue', ['meta mark set 0x00001008']), element('names', '"ovn-k8s-mp8"')]);
      for (const [key, item] of more) desired.set(key, item);
      expect((await reconcile(desired, [...more.keys()])).written).toBe(2);
      for (const key of more.keys()) desired.delete(key);
      expect((await reconcile(desired, [...more.keys()])).written).toBe(2);
      expect(await differing(desired)).toEqual([]);
    });

    it('changes values, comments, hooks and types, with all that hangs on them', async () => {
      const { reconcile, differing } = world();
      await reconcile(itemsByKey(TABLE));
      const changed = itemsByKey([
        ...TABLE,
        element('redirects', 'udp . 53', { value: '10.0.0.9 . 5454' }),
        element('ports', '10.0.0.1 . tcp . 80', { comment: 'red/other' }),
        set('subnets6', 'ipv6_addr'),
        element('subnets6', 'fd00:10::1'),
        chain('masq', ['ip6 saddr @subnets6 masquerade'], {
          hook: { type: 'nat', hook: 'postrouting', priority: 100 },
        }),
        set('marks', 'inet_proto . inet_service', { value: 'verdict', comment: 'to networks' }),
        chain('mark-red', ['meta mark set 0x00001007'], { comment: 'red' }),
      ]);
      changed.delete('element subnets6 fd00:10::/64');
      expect(await reconcile(changed)).toMatchObject({ failed: new Map() });
      expect(await differing(changed)).toEqual([]);
      expect((await reconcile(changed)).written).toBe(0);
    });

    it('removes what no owner desires only when that is allowed, in an order that works', async () => {
      const { nft, reconcile, differing } = world();
      await reconcile(itemsByKey(TABLE));
      const less = itemsByKey([chain('mark-blue', ['accept'])]);
      expect((await reconcile(less, 'all', false)).written).toBe(1);
      expect((await differing(less)).length).toBeGreaterThan(5);
      expect(await reconcile(less)).toMatchObject({ failed: new Map() });
      expect(await differing(less)).toEqual([]);
      await reconcile(new Map());
      await expect(nft('list table inet ovn-udn')).rejects.toThrow(/No such file/);
    });
  });
};

const refusalCases = (name: string, world: () => World): void => {
  describe(`nftables over ${name} refuses`, () => {
    it('some things, and says which, and makes the others', async () => {
      const { reconcile, differing } = world();
      const desired = itemsByKey([
        ...TABLE,
        chain('bad-rule', ['ip daddr nonsense accept']),
        chain('bad-set', ['ip daddr @nobody accept']),
        chain('bad name', []),
        chain('two-commands', ['accept; add table inet evil']),
        element('addresses', '10.0.0.1 . tcp'),
      ]);
      const { failed } = await reconcile(desired);
      expect([...failed.keys()].sort()).toEqual([
        'chain bad name',
        'chain bad-rule',
        'chain bad-set',
        'chain two-commands',
        'element addresses 10.0.0.1 . tcp',
      ]);
      expect(await differing(itemsByKey(TABLE))).toEqual(['unwanted chain bad-rule', 'unwanted chain bad-set']);
    });

    it('more elements of a set than it names, but makes everything else', async () => {
      const { reconcile, differing } = world();
      const bad = Array.from({ length: 320 }, (_, index) => element('bad', `10.0.${index >> 8}.${index & 255} . tcp`));
      const { failed } = await reconcile(itemsByKey([...bad, ...TABLE, set('bad', 'ipv4_addr')]));
      expect(failed.size).toBe(320);
      expect(await differing(itemsByKey([...TABLE, set('bad', 'ipv4_addr')]))).toEqual([]);
    });

    it('rules, but makes the chain to jump to that they are of, and with them once they are right', async () => {
      const { reconcile, differing } = world();
      const jumping = chain('drops', ['jump exceptions', 'ip daddr @addresses drop'], { hook: output });
      const desired = itemsByKey([...TABLE, jumping, chain('exceptions', ['ip daddr nonsense accept'])]);
      const { failed } = await reconcile(desired);
      expect([...failed.keys()]).toEqual(['chain exceptions']);
      expect(await differing(desired)).toEqual(['different chain exceptions']);
      expect(await reconcile(desired)).toEqual({ written: 0, writtenKeys: new Set(), failed, waiting: new Map() });
      desired.set('chain exceptions', chain('exceptions', ['ip daddr 10.0.0.9 accept']));
      expect((await reconcile(desired, ['chain exceptions'])).failed).toEqual(new Map());
      expect(await differing(desired)).toEqual([]);
      desired.set('chain exceptions', chain('exceptions', ['ip daddr nonsense accept']));
      expect([...(await reconcile(desired, ['chain exceptions'])).failed.keys()]).toEqual(['chain exceptions']);
      expect(await differing(desired)).toEqual(['different chain exceptions']);
    });
  });
};

const exceptionCases = (name: string, world: () => World): void => {
  describe(`nftables over ${name}`, () => {
    it('keeps elements waiting for their set, and reports when it is there', async () => {
      const { reconcile, differing } = world();
      const desired = itemsByKey([element('late', '10.0.0.1')]);
      const reported = Promise.withResolvers<readonly string[]>();
      world().backend.listen(({ cause, keys }) => {
        if (cause === 'input' && keys !== 'all') reported.resolve([...keys]);
      });
      expect((await reconcile(desired)).waiting).toEqual(new Map([['element late 10.0.0.1', 'the set late']]));
      desired.set('set late', set('late', 'ipv4_addr'));
      await reconcile(desired, ['set late']);
      expect(await reported.promise).toEqual(['element late 10.0.0.1']);
      await reconcile(desired, ['element late 10.0.0.1']);
      expect(await differing(desired)).toEqual([]);
    });

    it('changes rules that have sets without a name', async () => {
      const { reconcile, differing } = world();
      const desired = (ports: string) =>
        itemsByKey([
          chain('open', [`tcp dport { ${ports} } accept`, 'udp dport { 53, 67 } drop'], { hook: output }),
          chain('other', [`udp dport { ${ports} } accept`]),
        ]);
      for (const ports of ['80, 443', '80, 8080', '22, 80, 443']) {
        expect(await reconcile(desired(ports))).toMatchObject(DONE);
        expect(await differing(desired(ports))).toEqual([]);
        expect((await reconcile(desired(ports))).written).toBe(0);
      }
    });

    it('reports changes by others, and not its own', async () => {
      const { backend, nft, reconcile, differing } = world();
      const desired = itemsByKey(TABLE);
      let drifts = 0;
      let next = Promise.withResolvers<void>();
      backend.listen(({ cause }) => {
        if (cause !== 'drift') return;
        drifts++;
        next.resolve();
      });
      await untilMonitorRuns(nft, () => drifts > 0);
      drifts = 0;
      await reconcile(desired);
      for (let write = 0; write < 30; write++) {
        const key = 'element addresses 10.0.0.9';
        if (!desired.delete(key)) desired.set(key, element('addresses', '10.0.0.9'));
        await reconcile(desired, [key]);
      }
      // The event of the last one that the wait below made may come late, none of the 31 of the backend.
      expect(drifts).toBeLessThan(10);
      await nft('add table inet foreign');
      next = Promise.withResolvers();
      await nft('delete element inet ovn-udn addresses { 10.0.0.1 }');
      await next.promise;
      expect((await reconcile(desired)).written).toBe(1);
      expect(await differing(desired)).toEqual([]);
    });
  });
};

/** It does when it has reported a change: one is made again and again until then. */
const untilMonitorRuns = async (nft: World['nft'], hasReported: () => boolean): Promise<void> => {
  while (!hasReported()) {
    await nft('add table inet ovn-udn');
    await nft('delete table inet ovn-udn');
  }
};

/** What is in braces is one argument. */
const splitCommand = (command: string): string[] => {
  const [, words = '', body] = /^([^{]*?)(?: (\{.*\}))?$/.exec(command) ?? [];
  return [...words.split(' '), ...(body === undefined ? [] : [body])];
};
