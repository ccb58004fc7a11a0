import { describe, expect, it } from 'vitest';
import { PolicyWorld } from '../../testing/policy-world.ts';
import { NAMESPACE_LIMITS } from './cost.ts';

const ALL = { podSelector: {} };
const many = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
/** 200 selectors, of its own namespace. */
const costly = (name: string) => ({
  ...{ ...ALL, ingress: [{ from: many(200, (n) => ({ podSelector: { matchLabels: { [name]: `${n}` } } })) }] },
});
const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
const worldOf = () => new PolicyWorld().namespace('red', {}).pod('red/x', { ips: { default: ['10.128.0.5'] } });
const closed = ({ index }: PolicyWorld): string[] => index.problems().map(({ object }) => object);

describe('the budget of a namespace', () => {
  it.each([[NAMES], [NAMES.toReversed()]])('closes the last policies by name, whoever comes first', (order) => {
    const world = worldOf();
    for (const name of order) world.policy(`red/${name}`, costly(name));
    expect(closed(world)).toEqual(expect.arrayContaining(['NetworkPolicy/red/f', 'NetworkPolicy/red/g']));
    expect(closed(world)).toHaveLength(2);
    expect(world.index.problems()[0]?.message).toContain('1200 peers that are selectors, more than 1024 on this node');
    expect(world.index.reader.describePolicy('red/f')).toMatchObject({ rules: [], problems: [{}] });
    expect(world.facts.get('podPolicy', 'red/x')?.isolated).toEqual(['Ingress']);
    expect([...world.facts.ids('peerSet')]).toHaveLength(1000);
  });

  it('opens them when there is room, and closes none without pods', () => {
    const world = worldOf();
    for (const name of NAMES) world.policy(`red/${name}`, costly(name));
    world.policy('red/a', undefined);
    expect(closed(world)).toEqual(['NetworkPolicy/red/g']);
    world.policy('red/b', { ...ALL, ingress: [] });
    expect(closed(world)).toEqual([]);
    world.policy('red/b', costly('b')).pod('red/x', undefined);
    expect(closed(world)).toEqual([]);
    expect([...world.facts.ids('policyRule')]).toEqual([]);
  });

  it('goes on with a policy that fits after one that does not', () => {
    const world = worldOf();
    for (const name of NAMES) world.policy(`red/${name}`, costly(name));
    world.policy('red/z', { ...ALL, ingress: [{}] });
    expect(closed(world)).not.toContain('NetworkPolicy/red/z');
    expect(world.index.reader.describePolicy('red/z')?.rules).toHaveLength(1);
  });

  it('has room for what benchmarks of policies have', () => {
    const world = worldOf();
    for (let policy = 0; policy < 20; policy += 1) {
      const ports = [
        ...many(5, (n) => ({ port: 1000 + n })),
        ...many(5, (n) => ({ port: 2000 + 20 * n, endPort: 2010 + 20 * n })),
      ];
      const peers = [
        ...many(5, (n) => ({ podSelector: { matchLabels: { n: `${n}` } }, namespaceSelector: {} })),
        ...many(5, (n) => ({ ipBlock: { cidr: `10.${policy}.${n}.0/24` } })),
      ];
      const rules = many(10, (n) => ports[n]).map((port) => ({ from: peers.slice(0, 1), ports: [port] }));
      const ingress = [{ from: peers, ports }, ...rules.slice(0, 5)];
      world.policy(`red/p${policy}`, { ...ALL, ingress, egress: [{ to: peers, ports }] });
    }
    expect(closed(world).length).toBe(0);
    expect(NAMESPACE_LIMITS.combinations).toBeGreaterThan(2500);
  });

  it('closes policies whose sets have too many pods together, and counts a set once', () => {
    const world = worldOf();
    for (let n = 0; n < 2100; n += 1)
      world.pod(`blue/${n}`, { isLocal: false, ips: { default: [`10.129.${n >> 8}.${n & 255}`] } });
    world.namespace('blue', {});
    const wide = (from: number, to: number) => ({
      ...ALL,
      ingress: [
        {
          from: many(to - from, (n) => ({
            namespaceSelector: { matchExpressions: [{ key: 'k', operator: 'NotIn', values: [`${from + n}`] }] },
          })),
        },
      ],
    });
    world.policy('red/a', wide(0, 100)).policy('red/b', wide(0, 100));
    expect(closed(world)).toEqual([]);
    world.policy('red/c', wide(100, 150));
    expect(closed(world)).toEqual(['NetworkPolicy/red/c']);
    expect(world.index.problems()[0]?.message).toContain('pods in sets of peers, more than 262144');
    expect([...world.facts.ids('peerSet')]).toHaveLength(100);
    world.policy('red/a', undefined).policy('red/b', undefined);
    expect(closed(world)).toEqual([]);
    world.policy('red/a', wide(0, 70));
    expect(closed(world)).toEqual([]);
    for (let n = 2100; n < 4300; n += 1)
      world.pod(`blue/${n}`, { isLocal: false, ips: { default: [`10.129.${n >> 8}.${n & 255}`] } });
    expect(closed(world)).toEqual(['NetworkPolicy/red/a']);
  });
});
