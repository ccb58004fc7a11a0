import { describe, expect, it } from 'vitest';
import { cudn, layer2Udn, nad, namespace, netConf, node, pod, tenant } from '../testing/objects.ts';
import { observe } from '../testing/observed.ts';
import { clusterPerTest } from '../testing/per-test.ts';

const { cluster } = clusterPerTest({ isStarted: true });

const { annotation, addressOf, condition, eventsAbout } = observe(() => cluster);
const NAD = 'NetworkAttachmentDefinition';
const SUBNETS = '10.20.0.0/16';
const BLUE = { topology: 'Layer2', layer2: { role: 'Primary', subnets: [SUBNETS] } };
const idOf = (key: string) => annotation(NAD, key, 'network-id');

/** What the NAD of a network says, under the name of another NAD. */
const copyOf = async (key: string, copy: string, metadata = {}) => {
  const original = await cluster.get(NAD, key);
  const config = JSON.parse((original?.['spec'] as { config?: string } | undefined)?.config ?? '');
  return nad(copy, { ...config, netAttachDefName: copy }, metadata);
};

describe('the name of a network', () => {
  it('is refused to a NAD that copies the configuration of a network of another namespace', async () => {
    await cluster.createAndSettle(tenant('a'), tenant('x'), node('n1'), layer2Udn('a/net', [SUBNETS]));
    await cluster.createAndSettle(await copyOf('a/net', 'x/copy'), pod('x/p'));
    expect(await idOf('x/copy')).toBeUndefined();
    expect(await addressOf('x/p', 'x/copy')).toBeUndefined();
    expect(eventsAbout('copy')).toEqual(['InvalidNetwork: network name a_net belongs to UserDefinedNetwork a/net']);
    expect(await condition('UserDefinedNetwork', 'a/net', 'NetworkAllocationSucceeded')).toMatchObject({
      status: 'True',
    });
  });

  it('is taken from who had it first, when its network comes', async () => {
    const squatting = nad('x/squat', netConf('x/squat', 'a_net', { subnets: '10.99.0.0/16' }));
    await cluster.createAndSettle(tenant('a'), tenant('x'), node('n1'), squatting);
    expect(await idOf('x/squat')).toBe('1');
    await cluster.createAndSettle(layer2Udn('a/net', [SUBNETS]), pod('a/p'));
    expect(await idOf('x/squat')).toBeUndefined();
    expect(await annotation(NAD, 'x/squat', 'tunnel-keys')).toBeUndefined();
    expect(await idOf('a/net')).toBe('1');
    expect(await addressOf('a/p', 'a/net')).toBe('10.20.0.3/16');
    expect(await condition('UserDefinedNetwork', 'a/net', 'NetworkAllocationSucceeded')).toMatchObject({
      status: 'True',
    });
    await cluster.delete('Pod', 'a/p');
    await cluster.delete('UserDefinedNetwork', 'a/net');
    await cluster.createAndSettle(pod('x/p'));
    expect(await addressOf('x/p', 'x/squat')).toBe('10.99.0.3/16');
  });

  it('is taken from who had it first, also when that says the same', async () => {
    const same = nad('x/squat', netConf('x/squat', 'a_net', { subnets: SUBNETS }));
    await cluster.createAndSettle(tenant('a'), tenant('x'), node('n1'), same);
    await cluster.createAndSettle(layer2Udn('a/net', [SUBNETS]));
    expect([await idOf('x/squat'), await idOf('a/net')]).toEqual([undefined, '1']);
    expect(eventsAbout('squat')).toEqual(['InvalidNetwork: network name a_net belongs to UserDefinedNetwork a/net']);
  });

  it("of the cluster is its own NADs' alone, whatever the owner reference of another says", async () => {
    await cluster.create(tenant('a', { team: 'a' }), tenant('x'), tenant('y'), node('n1'));
    await cluster.createAndSettle(nad('x/first', netConf('x/first', 'cluster_udn_blue', { subnets: SUBNETS })));
    expect(await idOf('x/first')).toBeUndefined();
    await cluster.createAndSettle(cudn('blue', { matchLabels: { team: 'a' } }, BLUE), pod('a/p'));
    const ownerReferences = (await cluster.get(NAD, 'a/blue'))?.metadata.ownerReferences;
    await cluster.createAndSettle(await copyOf('a/blue', 'y/blue', { ownerReferences }), pod('y/p'));
    expect(await addressOf('a/p', 'a/blue')).toBe('10.20.0.3/16');
    expect(await addressOf('y/p', 'y/blue')).toBeUndefined();
    expect(await cluster.get(NAD, 'y/blue')).toBeUndefined();
    expect(await idOf('x/first')).toBeUndefined();
    expect(eventsAbout('first')).toEqual([
      'InvalidNetwork: network name cluster_udn_blue belongs to ClusterUserDefinedNetwork blue',
    ]);
    expect(await condition('ClusterUserDefinedNetwork', 'blue', 'NetworkAllocationSucceeded')).toMatchObject({
      status: 'True',
    });
  });

  it('stays with its NAD when that loses its owner', async () => {
    await cluster.createAndSettle(
      tenant('a', { team: 'a' }),
      node('n1'),
      cudn('blue', { matchLabels: { team: 'a' } }, BLUE),
    );
    await cluster.patchAndSettle(NAD, 'a/blue', { metadata: { ownerReferences: [] } });
    expect(await idOf('a/blue')).toBe('1');
    expect(cluster.manager.state?.registry.networkOfNad('a/blue')?.keys.id).toBe(1);
  });

  it("that is nobody's is shared by who uses it, and one of the own namespace is free", async () => {
    const shared = (key: string, name: string) => nad(key, netConf(key, name, { role: 'secondary', subnets: SUBNETS }));
    await cluster.create(namespace('a'), namespace('b'), tenant('c'), node('n1'), layer2Udn('c/net', [SUBNETS]));
    await cluster.createAndSettle(
      shared('a/one', 'tenant_blue'),
      shared('b/two', 'tenant_blue'),
      shared('c/own', 'c_other'),
    );
    const primary = (key: string) => nad(key, netConf(key, 'both', { subnets: SUBNETS }));
    await cluster.createAndSettle(tenant('d'), tenant('e'), primary('d/n'), primary('e/n'));
    expect(await idOf('a/one')).toBe(await idOf('b/two'));
    expect(await idOf('d/n')).toBe(await idOf('e/n'));
    expect([await idOf('a/one'), await idOf('c/own'), await idOf('d/n')]).not.toContain(undefined);
    expect(['one', 'two', 'own', 'n'].flatMap(eventsAbout)).toEqual([]);
  });
});
