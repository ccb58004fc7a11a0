import { expect, it } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import type { Backend, ReconcileOutcome } from '../../datapath/backend.ts';
import type { BridgeItem } from '../../datapath/openflow/types.ts';
import { NodeDatapath } from './node-datapath.ts';

const DONE: ReconcileOutcome = { written: 1, failed: new Map(), waiting: new Map() };
const signal = AbortSignal.timeout(60_000);

/** Says what it was asked, and does it when it is let. */
const backendNamed = <Item>(name: string, log: string[]) => {
  let gate = Promise.resolve();
  const backend: Backend<Item> = {
    reconcile: async ({ keys }) => {
      log.push(`${name}: ${keys === 'all' ? 'all' : 'changes'}`);
      await gate;
      log.push(`${name}: done`);
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
  const log: string[] = [];
  const openflow = backendNamed<BridgeItem>('flows', log);
  const datapath = new NodeDatapath({
    backends: {
      openflow: openflow.backend,
      host: backendNamed('links', log).backend,
      nftables: backendNamed('nft', log).backend,
    },
    clock: createFakeClock(),
    observe: () => undefined,
  } as ConstructorParameters<typeof NodeDatapath>[0]);
  return { log, openflow, datapath };
};

it('lets ports be changed when the flows are written; links and nftables are changed beside them', async () => {
  const { log, openflow, datapath } = node();
  datapath.start();
  await whenIdle(datapath);
  log.length = 0;
  const release = openflow.hold();
  datapath.sinks.host.set('o', [{ kind: 'link', link: { kind: 'vrf', name: 'red', table: 100_001 } }]);
  datapath.sinks.openflow.set('o', [FLOOD]);
  datapath.sinks.nftables.set('o', [{ kind: 'chain', chain: { name: 'c', rules: [] } }]);
  datapath.afterFlows(() => log.push('ports'));
  await Promise.all([datapath.host.whenIdle(signal), datapath.nftables.whenIdle(signal)]);
  expect(log).toHaveLength(5);
  expect(log).not.toContain('flows: done');
  release();
  await whenIdle(datapath);
  expect(log.slice(-2)).toEqual(['flows: done', 'ports']);
});

it('knows what of an owner has not been looked at, and reports whose status has changed', async () => {
  const { openflow, datapath } = node();
  const reported: string[] = [];
  const end = datapath.onLook((owners) => reported.push(...owners));
  datapath.start();
  await whenIdle(datapath);
  datapath.sinks.openflow.set('layer3:red', [FLOOD]);
  const [key = ''] = datapath.openflow.store.keysOf('layer3:red');
  expect(datapath.openflow.status('layer3:red').kind).toBe('pending');
  expect(datapath.openflow.status('layer3:blue').kind).toBe('done');
  openflow.backend.reconcile = () => Promise.resolve({ ...DONE, failed: new Map([[key, 'refused']]) });
  await whenIdle(datapath);
  expect([datapath.openflow.status('layer3:red').kind, reported]).toEqual(['failed', ['layer3:red']]);
  end();
});
