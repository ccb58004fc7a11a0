import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import type { NetConf } from '../../api/net-conf.ts';
import { nadFacts } from '../facts/nad-facts.ts';
import { nad, netConf } from '../testing/objects.ts';
import { NetworkRegistry } from './network-registry.ts';

const config = parseClusterConfig();
const layer2 = (key: string, name: string, fields = {}) => nadFacts(nad(key, netConf(key, name, fields)));
const layer3 = (key: string, name: string, subnets = '10.20.0.0/16') =>
  nadFacts(nad(key, netConf(key, name, { topology: 'layer3', subnets })));
const reserve = (networks: NetworkRegistry, { key, conf }: ReturnType<typeof layer2>) =>
  networks.reserve(key, conf as NetConf);

describe('ids that are reserved for a NAD that is not there yet', () => {
  it('are those that its network has with the NAD, and nobody else gets them meanwhile', () => {
    const networks = new NetworkRegistry(config);
    const mine = layer2('a/n', 'a_n');
    expect(reserve(networks, mine)).toEqual({ id: 1, tunnelKeys: [16711684, 16715779] });
    expect(reserve(networks, mine)?.id).toBe(1);
    expect(networks.get('a_n')).toBeUndefined();
    networks.upsert(layer2('b/n', 'b_n'));
    expect(networks.get('b_n')?.keys).toEqual({ id: 2, tunnelKeys: [16711685, 16715780] });
    expect(networks.upsert(mine).changes).toMatchObject([{ before: undefined, after: { name: 'a_n' } }]);
    expect(networks.get('a_n')?.keys).toEqual({ id: 1, tunnelKeys: [16711684, 16715779] });
    networks.remove('a/n');
    expect(networks.holderOf(1)).toBeUndefined();
  });

  it('are given back when the NAD does not come, to who waits for them', () => {
    const networks = new NetworkRegistry(config, { maxNetworks: 1 });
    reserve(networks, layer2('a/n', 'a_n'));
    expect(networks.upsert(layer2('b/n', 'b_n')).problems).toEqual([expect.stringMatching(/^no id for network b_n: /)]);
    expect(networks.settle('a/n')).toMatchObject([{ before: undefined, after: { name: 'b_n', keys: { id: 2 } } }]);
    expect(networks.settle('a/n')).toEqual([]);
  });

  it('stay as long as any NAD of the network is on its way', () => {
    const networks = new NetworkRegistry(config);
    const [first, second] = [layer2('a/n', 'shared'), layer2('b/n', 'shared')];
    networks.upsert(first);
    expect(reserve(networks, second)?.id).toBe(1);
    networks.remove('a/n');
    expect(networks.get('shared')).toBeUndefined();
    networks.upsert(layer2('c/n', 'c_n'));
    networks.upsert(second);
    expect([networks.get('shared')?.keys.id, networks.get('c_n')?.keys.id]).toEqual([1, 2]);
  });

  it('are given back when a NAD of another network has taken the name of the NAD', () => {
    const networks = new NetworkRegistry(config);
    reserve(networks, layer2('a/n', 'a_n'));
    networks.upsert(layer2('a/n', 'other'));
    expect(networks.get('other')?.keys.id).toBe(2);
    expect(networks.holderOf(1)).toBeUndefined();
  });

  it('are none where the network gets none, and that is said when its NAD is there', () => {
    const networks = new NetworkRegistry(config, { maxNetworks: 2 });
    expect(reserve(networks, layer2('a/n', 'a_n', { subnets: '10.128.0.0/24' }))).toBeUndefined();
    networks.upsert(layer2('a/n', 'a_x-y'));
    expect(reserve(networks, layer2('b/n', 'a_x.y'))).toBeUndefined();
    networks.upsert(layer2('b/n', 'b_n'));
    expect(reserve(networks, layer2('c/n', 'c_n'))).toBeUndefined();
    // Of an older NAD that says something else.
    expect(reserve(networks, layer2('c/n', 'b_n', { mtu: 1234 }))).toBeUndefined();
    expect(networks.upsert(layer2('c/n', 'c_n')).problems).toEqual([expect.stringContaining('at most 2 networks')]);
  });

  it('are not those of a network whose NAD can not be read', () => {
    const networks = new NetworkRegistry(config);
    const annotations = { 'k8s.ovn.org/network-name': 'a_n', 'k8s.ovn.org/network-id': '1' };
    networks.recover(nadFacts(nad('a/n', '{', { annotations })));
    expect(reserve(networks, layer2('b/n', 'a_n'))).toBeUndefined();
  });

  it('stay when a NAD that could not be read goes, and held them too', () => {
    const networks = new NetworkRegistry(config);
    const annotations = { 'k8s.ovn.org/network-name': 'shared', 'k8s.ovn.org/network-id': '1' };
    networks.recover(nadFacts(nad('a/n', '{', { annotations })));
    networks.upsert(layer2('b/n', 'shared'));
    expect(reserve(networks, layer2('c/n', 'shared'))?.id).toBe(1);
    networks.remove('b/n');
    networks.remove('a/n');
    networks.upsert(layer2('d/n', 'd_n'));
    expect(networks.get('d_n')?.keys.id).toBe(2);
  });

  it('do not make good what is refused: a NAD that takes the network’s name with something wrong', () => {
    const networks = new NetworkRegistry(config);
    reserve(networks, layer2('a/n', 'a_n'));
    expect(networks.upsert(layer2('b/n', 'a_n', { subnets: '10.128.0.0/24' }))).toMatchObject({
      changes: [],
      problems: [expect.stringMatching(/^no id for network a_n: user defined subnet/)],
    });
  });

  it('count in the room of the nodes’ annotation', () => {
    const long = (i: number) => layer3(`ns${i}/n`, `n${i}_${'x'.repeat(230)}`);
    const [reserving, upserting] = [new NetworkRegistry(config), new NetworkRegistry(config)];
    let [reserved, upserted] = [0, 0];
    while (reserve(reserving, long(reserved)) !== undefined) reserved += 1;
    while (upserting.upsert(long(upserted)).problems.length === 0) upserted += 1;
    expect(reserved).toBe(upserted);
  });

  it('whatever comes in whatever order: no id twice, and none is lost', () => {
    const step = fc.record({
      what: fc.constantFrom('reserve', 'upsert', 'remove', 'settle'),
      nad: fc.integer({ min: 0, max: 5 }),
      network: fc.integer({ min: 0, max: 3 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const networks = new NetworkRegistry(config, { maxNetworks: 3 });
        /** NAD → ids that it may come with. */
        const onTheirWay = new Map<string, Map<string, number>>();
        for (const { what, nad: n, network } of steps) {
          const [key, name] = [`ns${n}/n`, `network${network}`];
          const one = layer2(key, name);
          if (what === 'upsert') networks.upsert(one);
          if (what === 'remove') networks.remove(key);
          if (what === 'settle') networks.settle(key);
          if (what === 'reserve' && networks.nad(key) === undefined) {
            const keys = reserve(networks, one);
            if (keys !== undefined) {
              onTheirWay.set(key, (onTheirWay.get(key) ?? new Map<string, number>()).set(name, keys.id));
            }
          } else if (what !== 'reserve') onTheirWay.delete(key);
          const held = new Map<number, string>(
            [...networks.networks()].map(({ name: holder, keys }) => [keys.id, holder]),
          );
          expect(held.size).toBe([...networks.networks()].length);
          for (const [holder, id] of [...onTheirWay.values()].flatMap((ids) => [...ids])) {
            expect(networks.holderOf(id)).toBe(holder);
            held.set(id, holder);
          }
          for (let id = 1; id <= 10; id += 1) expect(networks.holderOf(id)).toBe(held.get(id));
        }
      }),
    );
  });
});
