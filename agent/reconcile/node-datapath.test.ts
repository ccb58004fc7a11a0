import { expect, it } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import type { Backend, ReconcileOutcome } from '../../datapath/backend.ts';
import type { BridgeItem } from '../../datapath/openflow/types.ts';
import { NodeDatapath } from './node-datapath.ts';

const DONE: ReconcileOutcome = { written: 1, failed: new Map(), waiting: new Map() };
const signal = AbortSignal.timeout(60_000);

/** Says what it was asked, and does it when it is let. */
const place = <Item>(name: string, said: string[]) => {
  let gate = Promise.resolve();
  const backend: Backend<Item> = {
    reconcile: async ({ keys }) => {
      said.push(`${name}: ${keys === 'all' ? 'all' : 'changes'}`);
      await gate;
      said.push(`${name}: done`);
      return DONE;
    },
    listen: () => () => undefined,
    close: () => Promise.resolve(),
  };
  const hold = (): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    gate = promise;
    return resolve;
  };
  return { backend, hold };
};

const FLOOD: BridgeItem = { bridge: 'br-ex', kind: 'noFlood', noFlood: { port: 'patch' } };

const whenIdle = async ({ openflow, host, nftables }: NodeDatapath): Promise<void> => {
  await Promise.all([openflow, host, nftables].map((loop) => loop.whenIdle(signal)));
};

const node = () => {
  const said: string[] = [];
  const openflow = place<BridgeItem>('flows', said);
  const datapath = new NodeDatapath({
    backends: { openflow: openflow.backend, host: place('links', said).backend, nftables: place('nft', said).backend },
    clock: createFakeClock(),
    observe: () => undefined,
  } as ConstructorParameters<typeof NodeDatapath>[0]);
  return { said, openflow, datapath };
};

it('lets ports be changed when the flows are written; links and nftables are changed beside them', async () => {
  const { said, openflow, datapath } = node();
  datapath.start();
  await whenIdle(datapath);
  said.length = 0;
  const release = openflow.hold();
  datapath.sinks.host.set('o', [{ kind: 'link', link: { kind: 'vrf', name: 'red', table: 100_001 } }]);
  datapath.sinks.openflow.set('o', [FLOOD]);
  datapath.sinks.nftables.set('o', [{ kind: 'chain', chain: { name: 'c', rules: [] } }]);
  datapath.afterFlows(() => said.push('ports'));
  await Promise.all([datapath.host.whenIdle(signal), datapath.nftables.whenIdle(signal)]);
  expect(said).toHaveLength(5);
  expect(said).not.toContain('flows: done');
  release();
  await whenIdle(datapath);
  expect(said.slice(-2)).toEqual(['flows: done', 'ports']);
});

it('knows what of an owner has not been looked at, and tells whose things are another way', async () => {
  const { openflow, datapath } = node();
  const told: string[] = [];
  const end = datapath.onLook((owners) => told.push(...owners));
  datapath.start();
  await whenIdle(datapath);
  datapath.sinks.openflow.set('layer3:red', [FLOOD]);
  const [key = ''] = datapath.openflow.store.keysOf('layer3:red');
  expect(datapath.openflow.status('layer3:red').kind).toBe('pending');
  expect(datapath.openflow.status('layer3:blue').kind).toBe('done');
  openflow.backend.reconcile = () => Promise.resolve({ ...DONE, failed: new Map([[key, 'refused']]) });
  await whenIdle(datapath);
  expect([datapath.openflow.status('layer3:red').kind, told]).toEqual(['failed', ['layer3:red']]);
  end();
});
