import { describe, expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { defaultNetwork } from '../../api/network.ts';
import { parseNetworkId } from '../../net/ids.ts';
import { parseIp } from '../../net/ip.ts';
import { FactStore } from '../model/fact-store.ts';
import type { Feature } from '../model/fragment.ts';
import { MemorySinks } from '../render/memory-sinks.ts';
import { TestCluster } from '../testing/cluster.ts';
import { createEngine } from './engine.ts';

const SETTINGS = {
  node: 'n1',
  cluster: parseClusterConfig(),
  encapIps: [],
  southboundRemote: '',
  networkRendering: 'always' as const,
  allowedDefaultServices: [],
};

const manyNetworks = (count: number): TestCluster => {
  const it = new TestCluster('n1')
    .node('n1', { id: 2, transit: ['100.88.0.2/16'] })
    .node('n2', { id: 3, transit: ['100.88.0.3/16'] });
  for (let id = 1; id <= count; id++) {
    it.namespace(`ns${id}`, true)
      .network(`net${id}`, { id, topology: 'layer3', subnets: ['10.0.0.0/16'], namespace: `ns${id}`, nad: 'net' })
      .node('n1', { id: 2, transit: ['100.88.0.2/16'], subnets: { [`net${id}`]: ['10.0.1.0/24'] } })
      .pod(`ns${id}/pod`, { node: 'n1', networks: { [`ns${id}/net`]: { ips: ['10.0.1.3/24'] } } });
  }
  it.render();
  it.flushes.length = 0;
  return it;
};

/** Rendered were those of a subject, each once, these among them. */
const expectOnly = (it: TestCluster, subject: RegExp, some: string[]): void => {
  const owners = it.flushes.flat();
  expect(owners.filter((owner) => !subject.test(owner))).toEqual([]);
  expect(owners).toEqual(expect.arrayContaining(some));
  expect(new Set(owners).size).toBe(owners.length);
};

describe('an event renders what it concerns', () => {
  it('a pod: its own fragments', () => {
    const it = manyNetworks(50).pod('ns7/new', { node: 'n1', networks: { 'ns7/net': { ips: ['10.0.1.4/24'] } } });
    it.render();
    expectOnly(it, /^[a-z0-9-]+:ns7\/new$/, ['attachments:ns7/new', 'isolation-pods:ns7/new', 'pods:ns7/new']);
  });

  it('a subnet of a node: the part of that node in that network, and nothing of the other networks', () => {
    const it = manyNetworks(50).node('n2', { id: 3, transit: ['100.88.0.3/16'], subnets: { net7: ['10.0.2.0/24'] } });
    it.render();
    expect(it.flushes.flat()).toEqual(['network-nodes:n2/net7']);
  });

  it('a network: its own fragments', () => {
    const it = manyNetworks(50).network('new', {
      id: 99,
      topology: 'layer3',
      subnets: ['10.0.0.0/16'],
      namespace: 'new',
      nad: 'net',
    });
    it.render();
    expectOnly(it, /^[a-z0-9-]+:(n[12]\/)?new$/, [
      'layer2:new',
      'layer3:new',
      'network-nodes:n1/new',
      'network-nodes:n2/new',
    ]);
  });

  it('what did not change: nothing', () => {
    const it = manyNetworks(3).pod('ns3/pod', { node: 'n1', networks: { 'ns3/net': { ips: ['10.0.1.3/24'] } } });
    it.render();
    expect(it.flushes.flat()).toEqual([]);
  });
});

it('everything of a network goes with it, and of a pod with the pod', () => {
  const it = manyNetworks(2);
  it.facts.set('pod', 'ns2/pod', undefined);
  it.facts.set('network', 'net2', undefined);
  it.facts.set('nodeSubnets', 'n1/net2', undefined);
  expect(JSON.stringify(it.render())).not.toContain('net2');
});

it('the same facts in another order give the same document', () => {
  const build = (steps: ((it: TestCluster) => unknown)[]): string => {
    const it = new TestCluster('n1');
    for (const step of steps) {
      step(it);
      it.engine.flush();
    }
    return JSON.stringify(it.render());
  };
  const steps = [
    (it: TestCluster) => it.node('n1', { id: 2, transit: ['100.88.0.2/16'], subnets: { red: ['10.0.1.0/24'] } }),
    (it: TestCluster) =>
      it.node('n2', { id: 3, transit: ['100.88.0.3/16'], encapIps: ['172.30.0.3'], subnets: { red: ['10.0.2.0/24'] } }),
    (it: TestCluster) =>
      it.network('red', { id: 1, topology: 'layer3', subnets: ['10.0.0.0/16'], namespace: 'red', nad: 'net' }),
    (it: TestCluster) => it.namespace('red', true),
    (it: TestCluster) => it.pod('red/a', { node: 'n1', networks: { 'red/net': { ips: ['10.0.1.3/24'] } } }),
  ];
  expect(build(steps.toReversed())).toBe(build(steps));
});

it('more fragments than a call has arguments are rendered at once', () => {
  const facts = new FactStore();
  const feature: Feature = { name: 'usual', over: 'networkNode', render: () => ({}) };
  let rendered = 0;
  const engine = createEngine({
    ...{ features: [feature], facts, settings: SETTINGS, sinks: new MemorySinks(), schedule: () => undefined },
    onFlush: (owners) => {
      rendered += owners.length;
    },
  });
  const network = { ...defaultNetwork(SETTINGS.cluster), id: parseNetworkId(1), tunnelKeys: [] };
  const node = { chassisId: undefined, encapIps: [], transitAddresses: [], gatewayMtuSupport: true, id: undefined };
  for (let index = 0; index < 400; index += 1) {
    facts.set('node', `n${index}`, { ...node, name: `n${index}` });
    facts.set('network', `net${index}`, { ...network, name: `net${index}` });
  }
  engine.start();
  engine.flush();
  expect(rendered).toBe(160_000);
  engine.stop();
});

it('a feature that throws keeps what it desired before, says so, and stops no other', () => {
  const facts = new FactStore();
  const sinks = new MemorySinks();
  let broken = false;
  const feature: Feature = {
    name: 'fragile',
    over: 'node',
    render: ({ node }, view) => {
      view.nodeFact(node);
      if (broken && node === 'n1') throw new Error('no idea');
      return {
        northbound: { rows: [{ table: 'Logical_Switch', key: `Logical_Switch/${node}`, columns: { name: node } }] },
      };
    },
  };
  const engine = createEngine({ features: [feature], facts, settings: SETTINGS, sinks, schedule: () => undefined });
  engine.start();
  const node = { chassisId: undefined, encapIps: [], transitAddresses: [], gatewayMtuSupport: true, id: undefined };
  facts.set('node', 'n1', { ...node, name: 'n1' });
  engine.flush();
  broken = true;
  facts.set('node', 'n1', { ...node, name: 'n1', chassisId: 'c' });
  facts.set('node', 'n2', { ...node, name: 'n2' });
  engine.flush();
  expect([...sinks.northbound.fragments.keys()]).toEqual(['fragile:n1', 'fragile:n2']);
  expect(engine.diagnostics.get('fragile:n1')).toEqual([
    { object: 'fragile:n1', severity: 'error', message: 'rendering failed: no idea' },
  ]);
  broken = false;
  facts.set('node', 'n1', { ...node, name: 'n1', chassisId: 'd' });
  engine.flush();
  expect(engine.diagnostics.size).toBe(0);
});

it('elements that follow from one fact each come and go with it, and stay while it cannot be rendered', () => {
  const facts = new FactStore();
  const sinks = new MemorySinks();
  let broken = false;
  const feature: Feature = {
    name: 'policy-peers',
    over: 'policyPeer',
    members: ({ sets }) => {
      if (broken) throw new Error('no idea');
      return [...sets].flatMap(([set, ips]) =>
        ips.map((value) => ({ table: 'Address_Set' as const, row: set, column: 'addresses' as const, value })),
      );
    },
  };
  const calls: unknown[] = [];
  const replaceMembers: typeof sinks.northbound.replaceMembers = (subject, before, after) => {
    calls.push([
      subject,
      before.map(({ row, value }) => `${row} ${value}`),
      after.map(({ row, value }) => `${row} ${value}`),
    ]);
  };
  const { settings } = new TestCluster('n1');
  const northbound = { ...sinks.northbound, replaceMembers, set: () => undefined, delete: () => undefined };
  const flushed: (readonly string[])[] = [];
  const engine = createEngine({
    ...{ features: [feature], facts, settings, sinks: { ...sinks, northbound }, schedule: () => undefined },
    onFlush: (owners) => flushed.push(owners),
  });
  const peer = (set: string, ip: string) => ({ sets: new Map([[set, [parseIp(ip)]]]) });
  facts.set('policyPeer', 'a/x', peer('s', '10.0.0.1'));
  engine.start();
  engine.flush();
  facts.set('policyPeer', 'a/x', peer('s', '10.0.0.2'));
  facts.set('policyPeer', 'a/x', peer('t', '10.0.0.3'));
  engine.flush();
  facts.set('policyPeer', 'a/x', peer('t', '10.0.0.3'));
  engine.flush();
  expect(calls).toEqual([
    ['a/x', [], ['s 10.0.0.1']],
    ['a/x', ['s 10.0.0.1'], ['t 10.0.0.3']],
  ]);
  expect(flushed).toEqual([['policy-peers:a/x'], ['policy-peers:a/x'], []]);
  broken = true;
  facts.set('policyPeer', 'a/x', peer('u', '10.0.0.4'));
  engine.flush();
  expect(engine.diagnostics.get('policy-peers:a/x')?.[0]?.message).toBe('rendering failed: no idea');
  broken = false;
  facts.set('policyPeer', 'a/x', undefined);
  engine.flush();
  expect(calls.slice(2)).toEqual([['a/x', ['t 10.0.0.3'], []]]);
  expect(engine.diagnostics.size).toBe(0);
});
