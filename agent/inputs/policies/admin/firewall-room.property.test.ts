/** Who has room follows from which firewalls there are, all that have it fit, and nobody is closed for others who takes no more than a share. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseDomainName } from '../../../../net/domain-name.ts';
import type { SiteState } from './admin-state.ts';
import { FirewallRoom, templatesOf } from './firewall-room.ts';
import type { AdminTemplate } from './templates.ts';

const LIMITS = { rules: 60, nodeSets: 20, names: 12 };

interface Spec {
  readonly id: number;
  /** Rules for all, for nodes, and names. */
  readonly any: number;
  readonly nodes: number;
  readonly names: readonly number[];
  readonly denies: boolean;
}

const spec = (id: number): fc.Arbitrary<Spec> =>
  fc.record({
    ...{ id: fc.constant(id), any: fc.nat(30), nodes: fc.nat(8), denies: fc.boolean() },
    names: fc.uniqueArray(fc.nat(20), { maxLength: 8 }),
  });
const event = fc.nat(9).chain((id) => fc.option(spec(id), { nil: id, freq: 4 }));

const template = (action: 'allow' | 'deny', peers: AdminTemplate['peers'][number]): AdminTemplate => ({
  ...{ direction: 'Egress', index: 0, action, peers: [peers], l4: [undefined], names: [] },
});
const templatesIn = ({ any, nodes, names, denies }: Spec): AdminTemplate[] => [
  ...Array.from({ length: any }, () => template('deny', { kind: 'any' })),
  ...Array.from({ length: nodes }, () => template('allow', { kind: 'nodes', selectors: [] })),
  ...names.map((name) =>
    template(denies ? 'deny' : 'allow', { kind: 'domains', names: [parseDomainName(`n${name}.example`)] }),
  ),
];
const FAMILIES = [4] as const;
const siteOf = (id: number, one: Spec | undefined): SiteState =>
  ({
    ...{ whole: `site-${id}`, families: FAMILIES, parts: new Map(one && [['whole', {}]]), excessOfNode: undefined },
    state: { policy: { tier: 'firewall' }, rules: { templates: one === undefined ? [] : templatesIn(one) } },
  }) as unknown as SiteState;

/** @returns by id what is there at the end, as `play` has it */
const play = (
  events: readonly (Spec | number)[],
): ReadonlyMap<number, { readonly spec: Spec; readonly site: SiteState }> => {
  const room = new FirewallRoom(LIMITS);
  const there = new Map<number, { spec: Spec; site: SiteState }>();
  for (const one of events) {
    const id = typeof one === 'number' ? one : one.id;
    const found = typeof one === 'number' ? undefined : one;
    const site = siteOf(id, found);
    if (found === undefined) there.delete(id);
    else there.set(id, { spec: found, site });
    const before = new Map([...there].map(([key, { site: known }]) => [key, known.excessOfNode?.isWhole]));
    const changed = new Set(room.settle([site]));
    for (const [key, { site: known }] of there)
      expect(changed.has(known)).toBe(before.get(key) !== known.excessOfNode?.isWhole);
  }
  return there;
};

it('holds for any firewalls in any order', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 25 }), (events) => {
      const there = play(events);
      const again = play([...there.values()].map(({ spec: one }) => one).reverse());
      const followed = [...there.values()].filter(({ site }) => site.excessOfNode?.isWhole !== true);
      for (const [id, { spec: one, site }] of there) {
        expect(site.excessOfNode).toEqual(again.get(id)?.site.excessOfNode);
        const [rules, nodes, share] = [one.any + one.nodes + one.names.length, one.nodes, 1 / there.size];
        const isModest =
          rules <= LIMITS.rules * share && nodes <= LIMITS.nodeSets * share && one.names.length <= LIMITS.names * share;
        if (isModest) expect(site.excessOfNode).toBeUndefined();
        if (site.excessOfNode?.isWhole === false) expect(one.denies).toBe(false);
      }
      const all = followed.flatMap(({ site }) => templatesOf(site));
      const peers = all.flatMap((one) => one.peers);
      const names = new Set(peers.flatMap((one) => (one.kind === 'domains' ? one.names : [])));
      expect(all.length).toBeLessThanOrEqual(LIMITS.rules);
      expect(peers.filter(({ kind }) => kind === 'nodes').length).toBeLessThanOrEqual(LIMITS.nodeSets);
      expect(names.size).toBeLessThanOrEqual(LIMITS.names);
    }),
    { numRuns: 500 },
  );
});

it.each([10, 1000])('looks at no other of %i firewalls as long as all have room', (count) => {
  const room = new FirewallRoom();
  const one = (id: number, any = 2): SiteState => siteOf(id, { id, any, nodes: 0, names: [id], denies: false });
  const looks = new Set<string>();
  const watched = (site: SiteState): SiteState =>
    Object.defineProperty(site, 'excessOfNode', {
      get: () => {
        looks.add(site.whole);
        return undefined;
      },
    });
  room.settle(Array.from({ length: count }, (_, id) => watched(one(id))));
  looks.clear();
  room.settle([watched(one(3, 5))]);
  room.settle([watched(one(count))]);
  room.settle([siteOf(4, undefined)]);
  expect([...looks]).toEqual(['site-3', `site-${count}`]);
});
