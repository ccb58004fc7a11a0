import { expect, it } from 'vitest';
import { OpenflowBackend } from '../../datapath/openflow/backend.ts';
import { FakeWorld } from '../../datapath/openflow/testing/fake-world.ts';
import { type BridgeItem, bridgeItemKey } from '../../datapath/openflow/types.ts';
import { INTEGRATION_BRIDGE } from '../model/host-names.ts';
import { NO_ROUTER } from '../model/integration-flows.ts';
import { COOKIES } from '../model/registry/marks.ts';
import { leaveIntegrationBridge } from './datapath-parts.ts';

const signal = AbortSignal.timeout(10_000);
const OTHERS = { identity: 'table=0,priority=100,in_port=1', cookie: '0x5', actions: 'drop' };

const setUp = (world: FakeWorld): OpenflowBackend => {
  const { client, ports } = world;
  return new OpenflowBackend({ client, ports, cookies: Object.values(COOKIES) });
};

const flowsOf = async ({ client }: FakeWorld): Promise<string[]> => [
  ...(await client.flows(INTEGRATION_BRIDGE)).keys(),
];

it('an agent that ends for good takes its flow with it, and leaves those of ovn-controller', async () => {
  await using world = new FakeWorld();
  await world.addBridge(INTEGRATION_BRIDGE);
  const before = await flowsOf(world);
  await world.client.bundle(INTEGRATION_BRIDGE, [{ op: 'addFlow', flow: OTHERS }]);
  const agent = setUp(world);
  const desired = new Map<string, BridgeItem>([[bridgeItemKey(NO_ROUTER), NO_ROUTER]]);
  await agent.reconcile({ desired, keys: 'all', prune: true }, signal);
  await agent.close();
  expect(await flowsOf(world)).toHaveLength(before.length + 2);
  const cleanup = setUp(world);
  await leaveIntegrationBridge(cleanup, signal);
  await cleanup.close();
  expect((await flowsOf(world)).toSorted()).toEqual([...before, OTHERS.identity].toSorted());
});

it('without the bridge there is nothing to take', async () => {
  await using world = new FakeWorld();
  const cleanup = setUp(world);
  await leaveIntegrationBridge(cleanup, signal);
  await cleanup.close();
  expect(world.client.bundles).toEqual([]);
});
