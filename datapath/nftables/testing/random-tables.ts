/** Random tables whose parts fit together. */
import fc from 'fast-check';
import { type NftItem, nftItemKey } from '../types.ts';

const HOOKS = [
  undefined,
  { type: 'filter', hook: 'output', priority: 0 },
  { type: 'nat', hook: 'postrouting', priority: 101 },
  { type: 'filter', hook: 'prerouting', priority: -150 },
] as const;
/** Of each set its type, a rule that uses it, and keys of elements, some in other words than nft prints. */
const SETS = {
  addresses: { type: 'ipv4_addr', rule: 'ip daddr @addresses drop', keys: ['10.0.0.1', '10.0.0.2', '10.0.0.3'] },
  addresses6: { type: 'ipv6_addr', rule: 'ip6 daddr @addresses6 drop', keys: ['fd00::1', 'FD00:0::2', 'fd00::3'] },
  names: { type: 'ifname', rule: 'oifname @names accept', keys: ['"ovn-k8s-mp1"', 'ovn-k8s-mp2', '"a b"'] },
  services: {
    type: 'inet_proto . inet_service',
    value: 'verdict',
    rule: 'meta l4proto . th dport vmap @services',
    keys: ['tcp . 80', 'udp . 53', '132 . 7'],
  },
} as const;
type SetName = keyof typeof SETS;

const CHAINS = ['jumped-0', 'jumped-1', 'c0', 'c1', 'c2'] as const;
const comment = fc.option(fc.constantFrom('red', 'a "quoted" one; #', 'x'.repeat(200)), { nil: undefined });

/** Chains that may be jumped to have no hook and jump nowhere. */
const chainOf = (name: string, sets: readonly SetName[]): fc.Arbitrary<NftItem> => {
  const isJumped = name.startsWith('jumped');
  const rules = fc.array(
    fc.constantFrom(
      'ip saddr 10.9.9.9/32 accept',
      'meta mark set 4103',
      'ct state new drop',
      ...(isJumped ? [] : ['jump jumped-0', 'ip daddr 10.0.0.0/8 goto jumped-1']),
      ...(isJumped ? [] : sets.map((set) => SETS[set].rule)),
    ),
    { maxLength: 4 },
  );
  const hook = isJumped ? fc.constant(undefined) : fc.constantFrom(...HOOKS);
  return fc.record({ hook, comment, rules }).map((chain) => ({ kind: 'chain', chain: { name, ...chain } }));
};

const setOf = (name: SetName): fc.Arbitrary<NftItem[]> => {
  const { type, keys, ...more } = SETS[name];
  const value = 'value' in more ? more.value : undefined;
  const values = value ? fc.constantFrom('accept', 'jump jumped-0', 'jump jumped-1') : fc.constant(undefined);
  const elements = fc.uniqueArray(fc.record({ key: fc.constantFrom(...keys), value: values, comment }), {
    selector: ({ key }) => key,
  });
  return fc
    .tuple(comment, elements)
    .map(([text, all]) => [
      { kind: 'set', set: { name, type, value, comment: text } },
      ...all.map((element): NftItem => ({ kind: 'element', element: { set: name, ...element } })),
    ]);
};

export const randomTable: fc.Arbitrary<Map<string, NftItem>> = fc
  .subarray(Object.keys(SETS) as SetName[])
  .chain((sets) =>
    fc.tuple(
      fc.tuple(...sets.map(setOf)),
      fc
        .subarray(['c0', 'c1', 'c2'])
        .chain((chains) =>
          fc.tuple(
            ...CHAINS.filter((name) => name.startsWith('jumped') || chains.includes(name)).map((name) =>
              chainOf(name, sets),
            ),
          ),
        ),
    ),
  )
  .map(([sets, chains]) => new Map([...sets.flat(), ...chains].map((item) => [nftItemKey(item), item])));
