import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatNodeSubnets, type NodeSubnets } from '../../api/annotations/node-subnets.ts';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import type { NetConf } from '../../api/net-conf.ts';
import { type Network, networkOfNetConf } from '../../api/network.ts';
import type { Cidr } from '../../net/cidr.ts';
import { type NadFacts, nadFacts } from '../facts/nad-facts.ts';
import { nodeFacts } from '../facts/node-facts.ts';
import { ClusterState } from '../state/cluster-state.ts';
import { nad, netConf, node } from '../testing/objects.ts';
import { NetworkRegistry } from './network-registry.ts';
import { MOST_NETWORKS, NetworkRoom, NODE_SUBNETS_BYTES, nodeSubnetsBytes } from './network-room.ts';
import { createSubnetLedger } from './subnet-ledger.ts';

const config = parseClusterConfig();
const layer3 = (key: string, name: string, subnets: string, metadata: Record<string, unknown> = {}) =>
  nadFacts(nad(key, netConf(key, name, { topology: 'layer3', subnets }), metadata));
const networkOf = ({ conf }: NadFacts) => networkOfNetConf(conf as NetConf, config);
const layer2 = (key: string, name: string, metadata: Record<string, unknown> = {}) =>
  nadFacts(nad(key, netConf(key, name), metadata));
const held = (name: string, id: string) => ({
  annotations: { 'k8s.ovn.org/network-name': name, 'k8s.ovn.org/network-id': id },
});

describe('what a network takes in the annotation of a node', () => {
  const network = fc.record({
    name: fc.string({ unit: fc.constantFrom(...'abz09-_.'), minLength: 1, maxLength: 60 }),
    v4: fc.array(fc.tuple(fc.integer({ min: 1, max: 223 }), fc.integer({ min: 0, max: 255 })), { maxLength: 2 }),
    v6: fc.array(fc.integer({ min: 0xfc00, max: 0xfdff }), { maxLength: 2 }),
    nodes: fc.integer({ min: 1, max: 300 }),
  });

  it('is never more than is counted', () => {
    fc.assert(
      fc.property(network, ({ name, v4, v6, nodes }) => {
        const subnets = [
          ...new Map(v4.map(([a, b]) => [`${a}.${b}`, { cidr: `${a}.${b}.0.0/16`, hostPrefix: 24 }])).values(),
          ...new Map(v6.map((a) => [a, { cidr: `${a.toString(16)}:7::/56`, hostPrefix: 64 }])).values(),
        ] as unknown as { cidr: Network['subnets'][number]['cidr']; hostPrefix: number }[];
        const counted = nodeSubnetsBytes({ name, topology: 'layer3', subnets } as unknown as Network);
        const ledger = createSubnetLedger(subnets);
        for (let n = 0; n < nodes; n += 1) {
          let part: ReturnType<typeof ledger.assign>;
          try {
            part = ledger.assign(`n${n}`);
          } catch {
            break;
          }
          const written = formatNodeSubnets(new Map([[name, part]])).length - '{}'.length + ','.length;
          expect(written).toBeLessThanOrEqual(counted);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('is nothing on layer 2', () => {
    const record = new NetworkRegistry(config);
    record.upsert(layer2('a/n', 'a_n'));
    expect(nodeSubnetsBytes(record.get('a_n')?.network as Network)).toBe(0);
  });
});

describe('4,096 networks', () => {
  /** 30 characters and both families: 75 bytes each. */
  const many = Array.from({ length: MOST_NETWORKS + 1 }, (_, i) => {
    const name = `tenant-${String(i).padStart(4, '0')}_the-tenants-network`;
    return layer3(`ns${i}/n`, name, '10.20.0.0/16/24,fd00:20::/48/64');
  });

  it('fit into the annotation of a node, or are refused with a message that does not touch the others', () => {
    const state = new ClusterState(config);
    state.upsertNode(nodeFacts(node('n1')));
    state.upsertNode(nodeFacts(node('n2')));
    for (const one of many) state.upsertNad(one);
    const refused = many.filter(({ key }) => state.nadProblems.has(key));
    const bytes = Buffer.byteLength(state.nodes.annotations('n2').subnets);
    expect(bytes).toBeGreaterThan(0.9 * NODE_SUBNETS_BYTES);
    expect(bytes).toBeLessThan(NODE_SUBNETS_BYTES);
    expect(refused.length).toBeGreaterThan(500);
    expect(state.nadProblems.get(refused[0]?.key ?? '')).toEqual([
      expect.stringMatching(
        /^no id for network tenant-\d+_the-tenants-network: no space in annotation k8s\.ovn\.org\/node-subnets of nodes: it needs 75 bytes, 2457\d\d of 245760 are used by subnets of other networks$/,
      ),
    ]);
    // Those of layer 2 have no part in it, and what is gone makes room for who waits.
    state.upsertNad(layer2('small/n', 'small_n'));
    expect(state.registry.get('small_n')?.keys.id).toBeGreaterThan(0);
    const { admitted } = state.removeNad(many[0]?.key ?? '');
    expect(admitted).toEqual([refused[0]?.key]);
    expect(state.nadProblems.has(refused[0]?.key ?? '')).toBe(false);
    expect(state.nodes.subnetsOf('n1', refused[0]?.conf?.name ?? '')).toHaveLength(2);
  });

  it('with short names and one family fit all, and the last has no id', () => {
    const networks = new NetworkRegistry(config);
    const problems = Array.from({ length: MOST_NETWORKS + 1 }, (_, i) =>
      networks.upsert(layer3(`ns${i}/n`, `tenant-${i}_n`, '10.20.0.0/16/24')),
    ).flatMap((result) => result.problems);
    expect(problems).toEqual(['no id for network tenant-4095_n: all ids from 1 to 4095 are in use']);
  });
});

describe('a limit for networks', () => {
  const limited = (maxNetworks: number) => new NetworkRegistry(config, { maxNetworks });

  it('gives room that becomes free to who has waited for longest', () => {
    const networks = limited(2);
    for (const ns of ['a', 'b', 'c', 'd']) networks.upsert(layer2(`${ns}/n`, `${ns}_n`));
    expect([...networks.networks()].map(({ name }) => name)).toEqual(['a_n', 'b_n']);
    expect(networks.remove('d/n')).toEqual([]);
    networks.upsert(layer2('e/n', 'e_n'));
    expect(networks.remove('a/n').map(({ before, after }) => [before?.name, after?.name])).toEqual([
      ['a_n', undefined],
      [undefined, 'c_n'],
    ]);
    expect(networks.remove('b/n').map(({ after }) => after?.name)).toEqual([undefined, 'e_n']);
  });

  describe('of each namespace', () => {
    const perNamespace = (most: number) =>
      new NetworkRegistry(config, { maxNetworks: 9, maxNetworksPerNamespace: most });
    const refusal = (name: string, ns: string, count: number, most: number) =>
      `no id for network ${name}: at most ${most} networks are allowed in a namespace (--max-networks-per-namespace), ${ns} has ${count}`;
    const idsOf = (networks: NetworkRegistry) => [...networks.networks()].map(({ name }) => name);

    it('keeps one from taking what others need, and room that becomes free is that namespace’s', () => {
      const networks = perNamespace(1);
      const reported = ['a/n', 'a/m', 'b/n'].flatMap(
        (key) => networks.upsert(layer2(key, key.replace('/', '_'))).problems,
      );
      expect(reported).toEqual([refusal('a_m', 'a', 1, 1)]);
      // Who waits in a namespace that is full does not hold up those behind it.
      networks.upsert(layer2('b/m', 'b_m'));
      expect(networks.remove('b/n').map(({ after }) => after?.name)).toEqual([undefined, 'b_m']);
      expect(networks.remove('a/n').map(({ after }) => after?.name)).toEqual([undefined, 'a_m']);
    });

    it('counts what is there, whatever came and went, and moved to another namespace', () => {
      const step = fc.record({
        name: fc.integer({ min: 0, max: 4 }),
        // A network that is gone, or whose oldest NAD is there now.
        namespace: fc.constantFrom(undefined, 'a', 'b'),
      });
      const needs = (name: string, namespace: string) => ({ name, namespace, bytes: 0 });
      fc.assert(
        fc.property(fc.array(step, { maxLength: 40 }), fc.integer({ min: 0, max: 3 }), (steps, most) => {
          const room = new NetworkRoom(config, { maxNetworks: 99, maxNetworksPerNamespace: most });
          const there = new Map<string, string>();
          for (const { name, namespace } of steps) {
            if (namespace === undefined) {
              room.release(`n${name}`);
              there.delete(`n${name}`);
            } else {
              room.take(needs(`n${name}`, namespace));
              there.set(`n${name}`, namespace);
            }
            for (const one of ['a', 'b']) {
              const count = [...there.values()].filter((of) => of === one).length;
              expect(room.hasRoomFor(needs('new', one), there.size, false)).toBe(count < most);
            }
          }
        }),
      );
    });

    it('does not count networks of the cluster, whatever namespaces they are in', () => {
      const networks = perNamespace(1);
      for (const name of ['cluster_udn_x', 'cluster_udn_y', 'a_n'])
        networks.upsert(
          nadFacts(nad(`a/${name.slice(-1)}`, netConf(`a/${name.slice(-1)}`, name, { role: 'secondary' }))),
          true,
        );
      expect(idsOf(networks)).toEqual(['cluster_udn_x', 'cluster_udn_y', 'a_n']);
    });

    it('counts what is reserved, and what there was before a restart, which stays', () => {
      const networks = perNamespace(1);
      const old = ['n', 'm'].map((name, i) => layer2(`a/${name}`, `a_${name}`, held(`a_${name}`, `${i + 5}`)));
      for (const one of old) expect(networks.recover(one)).toEqual([]);
      networks.recoverRoom(old, () => new Map());
      const late = layer2('a/late', 'a_late');
      expect(networks.reserve(late.key, late.conf as NetConf)).toBeUndefined();
      expect([...old, late].flatMap((one) => networks.upsert(one).problems)).toEqual([refusal('a_late', 'a', 2, 1)]);
      expect(idsOf(networks)).toEqual(['a_n', 'a_m']);
      const [first, second] = ['b/n', 'b/m'].map((key) => layer2(key, key.replace('/', '_')));
      if (first === undefined || second === undefined) throw new Error('two networks');
      expect(networks.reserve(first.key, first.conf as NetConf)).toBeDefined();
      expect(networks.reserve(second.key, second.conf as NetConf)).toBeUndefined();
      networks.settle(first.key);
      expect(networks.reserve(second.key, second.conf as NetConf)).toBeDefined();
    });
  });

  it('takes nothing away when it is lowered: what has an id keeps it', () => {
    const networks = limited(1);
    const old = ['a', 'b'].map((ns, i) => layer3(`${ns}/n`, `${ns}_n`, '10.20.0.0/16', held(`${ns}_n`, `${i + 5}`)));
    for (const one of old) expect(networks.recover(one)).toEqual([]);
    const problems = [...old, layer2('c/n', 'c_n')].flatMap((one) => networks.upsert(one).problems);
    expect([...networks.networks()].map(({ name, keys }) => [name, keys.id])).toEqual([
      ['a_n', 5],
      ['b_n', 6],
    ]);
    expect(problems).toEqual([
      'no id for network c_n: at most 1 networks are allowed in this cluster (--max-networks), 2 exist',
    ]);
    networks.remove('a/n');
    expect(networks.get('c_n')).toBeUndefined();
    networks.remove('b/n');
    expect(networks.get('c_n')?.keys.id).toBe(1);
  });

  it('is not passed by a network that grows: it keeps what it has until there is room', () => {
    const networks = new NetworkRegistry(config);
    const name = (i: number) => `n${i}_${'x'.repeat(230)}`;
    let last = 0;
    for (; networks.upsert(layer3(`ns${last}/n`, name(last), '10.20.0.0/16')).problems.length === 0; last += 1);
    // Fills what is left of it.
    const small = (i: number) => layer3(`s${i}/n`, `s${i}_n`, '10.20.0.0/16');
    for (let i = 0; networks.upsert(small(i)).problems.length === 0; i += 1);
    const grown = networks.upsert(layer3('ns0/n', name(0), '10.20.0.0/16,fd00:20::/48'));
    expect(grown.changes).toEqual([]);
    expect(grown.problems).toEqual([expect.stringMatching(/^network n0_x+: no space in annotation/)]);
    expect(networks.get(name(0))?.network.subnets).toHaveLength(1);
    networks.remove('ns1/n');
    networks.remove('ns2/n');
    expect(networks.get(name(0))?.network.subnets).toHaveLength(2);
  });

  it('refuses growth of a network, as long as there is no room', () => {
    const state = new ClusterState(config);
    let last = 0;
    for (; state.nadProblems.size === 0; last += 1) state.upsertNad(longNet(last));
    for (let i = 0; state.nadProblems.size === 1; i += 1) state.upsertNad(smallNet(i));
    state.upsertNad(longNet(0, true));
    expect(state.nadProblems.get('ns0/n')).toEqual([
      expect.stringMatching(/^network n0000_x+: no space in annotation/),
    ]);
    state.removeNad(`ns${last - 1}/n`);
    const touched = [1, 2].flatMap((i) => state.removeNad(`ns${i}/n`).nads);
    expect(touched).toContain('ns0/n');
    expect(state.nadProblems.get('ns0/n')).toBeUndefined();
  });
});

/** With a name of some 230 characters: about a thousand of them fill the annotation. */
const longNet = (i: number, isGrown = false, metadata: Record<string, unknown> = {}) =>
  layer3(`ns${i}/n`, longName(i), isGrown ? '10.20.0.0/16,fd00:20::/48' : '10.20.0.0/16', metadata);
const longName = (i: number) => `n${String(i).padStart(4, '0')}_${'x'.repeat(230)}`;
const smallNet = (i: number) => layer3(`s${i}/n`, `s${i}_n`, '10.20.0.0/16');

describe('after a restart', () => {
  const labelsOf = () => undefined;
  const recovered = (nads: readonly NadFacts[], subnets: NodeSubnets) => {
    const text = formatNodeSubnets(subnets);
    const state = new ClusterState(config);
    state.recover({ nads, nodes: [nodeFacts(node('n1', { 'k8s.ovn.org/node-subnets': text }))], pods: [], labelsOf });
    for (const one of nads) state.upsertNad(one);
    state.upsertNode(nodeFacts(node('n1', { 'k8s.ovn.org/node-subnets': text })));
    return state;
  };
  const bytesOf = (state: ClusterState) => Buffer.byteLength(state.nodes.annotations('n1').subnets);
  const part = (i: number) => [`10.20.${i % 200}.0/24` as Cidr];
  /** Besides the default network. */
  const count = Math.floor((NODE_SUBNETS_BYTES - 100) / nodeSubnetsBytes(networkOf(longNet(0))));
  const idOf = (i: number) => held(longName(i), `${i + 1}`);

  it('room is first of those who have it, and not of the older one that waits', () => {
    const waiting = longNet(count, false, { creationTimestamp: '2020-01-01T00:00:00Z' });
    const others = Array.from({ length: count }, (_, i) => longNet(i, false, idOf(i)));
    const state = recovered([...others, waiting], new Map(others.map((_, i) => [longName(i), part(i)])));
    expect(state.registry.get(longName(count))).toBeUndefined();
    expect(state.nadProblems.get(waiting.key)).toEqual([expect.stringContaining('no space in annotation')]);
    expect(bytesOf(state)).toBeLessThan(NODE_SUBNETS_BYTES);
  });

  it('a network that has grown and found no room has what it had, and the rest when there is room', () => {
    const nads = Array.from({ length: count }, (_, i) => longNet(i, i < 100, idOf(i)));
    const state = recovered(nads, new Map(nads.map((_, i) => [longName(i), part(i)])));
    expect(bytesOf(state)).toBeLessThan(NODE_SUBNETS_BYTES);
    expect(state.nodes.subnetsOf('n1', longName(50))).toEqual(part(50));
    expect(state.nadProblems.get('ns50/n')).toEqual([
      expect.stringMatching(/^network n0050_x+: no space in annotation/),
    ]);
    for (let i = 200; i < 300; i += 1) state.removeNad(`ns${i}/n`);
    expect(state.nodes.subnetsOf('n1', longName(50))).toEqual([...part(50), expect.stringMatching(/^fd00:20:/)]);
    expect(state.nadProblems.get('ns50/n')).toBeUndefined();
  });

  it('room is that of the networks whose names they are, and not of older NADs that have copied them', () => {
    const ns = 'o'.repeat(longName(0).length - '_n'.length);
    const reference = {
      apiVersion: 'k8s.ovn.org/v1',
      kind: 'UserDefinedNetwork',
      name: 'n',
      uid: 'u',
      controller: true,
    };
    const ids = held(`${ns}_n`, `${count}`);
    const own = layer3(`${ns}/n`, `${ns}_n`, '10.20.0.0/16', { ...ids, ownerReferences: [reference] });
    const copy = nad('aa/n', netConf('aa/n', `${ns}_n`), { ...ids, creationTimestamp: '2020-01-01T00:00:00Z' });
    const others = Array.from({ length: count - 1 }, (_, i) => longNet(i, false, idOf(i)));
    const waiting = longNet(count);
    const state = recovered([nadFacts(copy), own, ...others, waiting], new Map([[`${ns}_n`, part(0)]]));
    expect(state.registry.get(`${ns}_n`)?.network.topology).toBe('layer3');
    expect(state.registry.get(longName(count))).toBeUndefined();
  });

  it('a network that has grown and has room is whole', () => {
    const state = recovered([longNet(0, true, idOf(0))], new Map([[longName(0), part(0)]]));
    expect(state.nodes.subnetsOf('n1', longName(0))).toHaveLength(2);
  });
});
