import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { LabelSelector } from '../../../api/label-selector.ts';
import { PolicyWorld } from '../../testing/policy-world.ts';
import { canonicalSelector } from './canonical-selector.ts';
import { NamespaceScopes } from './namespace-scopes.ts';
import { PeerFiling } from './peer-filing.ts';
import { Placement } from './placement.ts';
import type { PolicyNamespace } from './types.ts';

const namespace = (name: string, labels: Readonly<Record<string, string>>): [string, PolicyNamespace] => [
  name,
  { name, labels, problems: [] },
];
const SELECTORS: readonly LabelSelector[] = [
  {},
  { matchLabels: { team: 'a' } },
  { matchLabels: { team: 'b' } },
  { matchExpressions: [{ key: 'team', operator: 'DoesNotExist' }] },
];
const [ALL, TEAM_A] = SELECTORS.map((selector) => canonicalSelector(selector));

const change = fc.oneof(
  fc.record({ kind: fc.constantFrom('acquire' as const, 'release' as const), at: fc.nat(SELECTORS.length - 1) }),
  fc.record({
    kind: fc.constant('namespace' as const),
    name: fc.constantFrom('x', 'y', 'z'),
    team: fc.constantFrom('a', 'b', 'none', 'gone'),
  }),
);

describe('namespaces that selectors match', () => {
  it('are those of a look at all of them, whatever changes', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
        const known = new Map<string, PolicyNamespace>();
        const scopes = new NamespaceScopes(known);
        const uses = SELECTORS.map(() => 0);
        for (const one of changes) {
          if (one.kind === 'namespace') {
            const before = JSON.stringify(textsOf(known, uses, one.name));
            if (one.team === 'gone') known.delete(one.name);
            else known.set(...namespace(one.name, one.team === 'none' ? {} : { team: one.team }));
            expect(scopes.change(one.name)).toBe(before !== JSON.stringify(textsOf(known, uses, one.name)));
          } else {
            const selector = canonicalSelector(SELECTORS[one.at] ?? {});
            if (one.kind === 'acquire') scopes.acquire(selector);
            else scopes.release(selector);
            uses[one.at] = Math.max(0, (uses[one.at] ?? 0) + (one.kind === 'acquire' ? 1 : -1));
          }
          for (const name of ['x', 'y', 'z'])
            expect([...scopes.textsOf(name)].sort()).toEqual(textsOf(known, uses, name));
        }
      }),
      { numRuns: 300 },
    );
  });

  it('are found once for all networks', () => {
    let looks = 0;
    const known = new Map(Array.from({ length: 100 }, (_, index) => namespace(`n${index}`, { team: 'a' })));
    const counting: ProxyHandler<Readonly<Record<string, string>>> = {
      get: (...at) => {
        looks += 1;
        return Reflect.get(...at) as unknown;
      },
    };
    for (const [name, one] of known) known.set(name, { ...one, labels: new Proxy(one.labels, counting) });
    if (ALL === undefined || TEAM_A === undefined) throw new Error('there are no selectors');
    const scopes = new NamespaceScopes(known);
    const scope = { namespaces: TEAM_A };
    const filings = Array.from({ length: 50 }, () => new PeerFiling(scopes));
    for (const filing of filings)
      filing.add({ selection: { text: 's', scope, selector: ALL, hosts: true }, selector: ALL });
    expect(looks).toBeLessThanOrEqual(200);
    looks = 0;
    expect(scopes.change('n1')).toBe(false);
    expect(looks).toBeLessThanOrEqual(2);
    for (const filing of filings) expect(filing.matching('n1', {})).toHaveLength(1);
  });
});

describe('a policy for pods of all namespaces', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it('looks at the pods of namespaces on its network alone', () => {
    const world = new PolicyWorld().namespace('t3', {}).network('t3');
    for (const name of ['a', 'b']) world.pod(`t3/${name}`, { ips: { 't3/net': ['10.0.3.3'] } });
    for (let index = 0; index < 100; index += 1)
      world.namespace(`d${index}`, {}).pod(`d${index}/a`, { ips: { default: ['10.128.0.3'] } });
    const looked = vi.spyOn(Placement.prototype, 'addressesOn');
    world.policy('t3/all', { podSelector: {}, ingress: [{ from: [{ namespaceSelector: {} }] }] });
    expect(looked.mock.calls.length).toBeLessThan(20);
    expect([...world.facts.ids('policyPeer')].sort()).toEqual(['t3/a', 't3/b']);
    world.policy('d1/all', { podSelector: {}, ingress: [{ from: [{ namespaceSelector: {} }] }] });
    expect([...world.facts.ids('policyPeer')]).toHaveLength(102);
  });
});

/** Sorted, of those that are in use. */
const textsOf = (known: ReadonlyMap<string, PolicyNamespace>, uses: readonly number[], name: string): string[] => {
  const labels = known.get(name)?.labels;
  const matches = (at: number): boolean => {
    if (labels === undefined) return false;
    if (at === 0) return true;
    return at === 3 ? labels['team'] === undefined : labels['team'] === ['', 'a', 'b'][at];
  };
  return SELECTORS.flatMap((selector, at) =>
    (uses[at] ?? 0) > 0 && matches(at) ? [canonicalSelector(selector).text] : [],
  ).sort();
};
