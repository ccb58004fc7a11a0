import { afterEach, beforeEach, expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { createStaticCache } from '../../kube/reflector/static-cache.ts';
import type { KubeObject } from '../../kube/types.ts';
import { parseMac } from '../../net/mac.ts';
import { createVswitchReplica } from '../databases/vswitch.ts';
import { FEATURES } from '../features/index.ts';
import { type NodeProjection, projectNode } from '../inputs/node-projection.ts';
import { FactStore } from '../model/fact-store.ts';
import type { View } from '../model/view.ts';
import { gatewayKnowledge } from '../status/probes.ts';
import { nodeAnnotations } from './annotations.ts';
import { NodeKeeper } from './node-keeper.ts';
import type { GatewayOptions, UplinkEffects } from './uplink/types.ts';
import { Uplink } from './uplink/uplink.ts';
import { bridgeOf, NIC, UplinkWorld } from './uplink/uplink-world.suite.ts';

const cluster = parseClusterConfig({ clusterSubnets: '10.128.0.0/14/23' });
const options: GatewayOptions = {
  mode: 'shared',
  interface: undefined,
  nextHops: [],
  vlanId: 0,
  allowNoUplink: false,
};
const { signal } = new AbortController();

let world: UplinkWorld;
let keepers: NodeKeeper[];

/** Its port to the outside is only known by what the bridge says: there is another physical port, with another name. */
beforeEach(() => {
  keepers = [];
  world = new UplinkWorld();
  world.addLink('br-ex', parseMac('02:00:00:00:00:0c'));
  const bridge = bridgeOf('br-ex', NIC);
  world.bridges = [{ ...bridge, ports: [...bridge.ports, { name: 'eth1', types: [''] }] }];
  world.apply({ op: 'link.set', name: 'br-ex', change: { up: true } });
  world.address('172.20.0.11/24', 'br-ex').route('0.0.0.0/0', '172.20.0.1', { dev: 'br-ex' });
});
afterEach(async () => {
  await Promise.all(keepers.map((keeper) => keeper.stop()));
});

const nodeWith = (annotations: Readonly<Record<string, string | null>>): NodeProjection =>
  projectNode({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: 'n1',
      uid: 'u',
      resourceVersion: '1',
      annotations: Object.fromEntries(Object.entries(annotations).filter(([, value]) => value !== null)),
    },
  } as KubeObject);

const start = (effects: UplinkEffects, node: NodeProjection | undefined) => {
  const retries: (() => void)[] = [];
  const keeper = new NodeKeeper({
    node: 'n1',
    options,
    cluster,
    encapIps: [],
    uplink: new Uplink({ options, masqueradeSubnets: cluster.masqueradeSubnets }, effects),
    netlink: { watch: () => () => undefined },
    session: { transact: () => Promise.resolve([]) },
    replica: createVswitchReplica(),
    nodes: createStaticCache(node === undefined ? [] : [['n1', node]]),
    onRepaired: () => undefined,
    onError: () => undefined,
    later: (retry) => retries.push(retry),
  });
  keepers.push(keeper);
  keeper.start();
  return { keeper, retries };
};

/** As the agent does it: what is fed first decides what is taken away. */
const feed = async (keeper: NodeKeeper): Promise<FactStore> => {
  await keeper.whenKnown(signal);
  const facts = new FactStore();
  keeper.feed(facts);
  return facts;
};

const flowsOf = (facts: FactStore): unknown => {
  const view = {
    ...{ node: 'n1', cluster },
    gateway: () => facts.get('gateway', 'n1'),
    hostAddresses: () => facts.get('hostAddresses', 'n1') ?? [],
  } as unknown as View;
  const bridge = FEATURES.find(({ name }) => name === 'gateway-bridge');
  return bridge?.over === 'zone' ? bridge.render({}, view).openflow?.items : undefined;
};

const looked = async (check: () => boolean): Promise<void> => {
  while (!check()) await new Promise(setImmediate);
};

/** The kernel cannot be read the first time, nor Open vSwitch as often as it says. */
const failing = (switchFailures: number): UplinkEffects => {
  let looks = 0;
  let reads = 0;
  return {
    observe: () => (looks++ === 0 ? Promise.reject(new Error('interrupted')) : world.observe()),
    readBridges: () => (reads++ < switchFailures ? Promise.reject(new Error('away')) : world.readBridges()),
    perform: (step) => world.perform(step),
  };
};

it('loses no flow where the first look of a new process fails', async () => {
  const before = start(world, undefined).keeper;
  const known = await feed(before);
  const published = nodeWith(nodeAnnotations(before.identity));
  const { keeper, retries } = start(failing(0), published);
  const facts = await feed(keeper);
  expect(gatewayKnowledge(keeper)).toBe('remembered');
  expect(facts.get('gateway', 'n1')).toEqual(known.get('gateway', 'n1'));
  expect(facts.get('hostAddresses', 'n1')).toEqual(['172.20.0.11/24']);
  expect(facts.get('gateway', 'n1')).toMatchObject({ uplink: NIC, cannotAdvertise: true });
  expect(flowsOf(facts)).toEqual(flowsOf(known));
  expect(flowsOf(facts)).not.toEqual([]);
  retries.shift()?.();
  await looked(() => keeper.isGatewaySeen);
  expect(facts.get('gateway', 'n1')).toEqual(known.get('gateway', 'n1'));
  expect(gatewayKnowledge(keeper)).toBe('seen');
});

it('loses no flow where the bridge has no address for a moment', async () => {
  const before = start(world, undefined).keeper;
  const known = await feed(before);
  world.apply({ op: 'link.delete', name: 'br-ex' });
  const { keeper } = start(world, nodeWith(nodeAnnotations(before.identity)));
  expect(flowsOf(await feed(keeper))).toEqual(flowsOf(known));
  expect(gatewayKnowledge(keeper)).toBe('remembered');
});

it('is not known while Open vSwitch cannot be read either', async () => {
  const before = start(world, undefined).keeper;
  await before.whenKnown(signal);
  const { keeper, retries } = start(failing(1), nodeWith(nodeAnnotations(before.identity)));
  let isKnown = false;
  const known = keeper.whenKnown(signal).then(() => {
    isKnown = true;
  });
  await looked(() => retries.length > 0);
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  expect(isKnown).toBe(false);
  retries.shift()?.();
  await known;
  expect(gatewayKnowledge(keeper)).toBe('seen');
});

it('is not known, and keeps nobody waiting, on a node that has none and never had', async () => {
  const empty = new UplinkWorld();
  const { keeper } = start(empty, nodeWith({}));
  await keeper.whenKnown(signal);
  expect([gatewayKnowledge(keeper), keeper.identity.gateway]).toEqual(['unknown', undefined]);
});
