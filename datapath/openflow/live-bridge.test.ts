import { expect, it } from 'vitest';
import { FakeSwitch } from './fake.ts';
import { LiveBridge } from './live-bridge.ts';
import type { BundleOp, SwitchClient } from './switch-client.ts';
import type { FlowState } from './text/flow.ts';
import type { MonitorEvent } from './text/flow-monitor.ts';

const BRIDGE = 'br-ex';
const signal = AbortSignal.timeout(30_000);

const add = (identity: string, actions: string): BundleOp => ({
  op: 'addFlow',
  flow: { identity, cookie: '0x1', actions },
});

/** Does something between the reading of flows and its answer. */
class Interrupted extends FakeSwitch {
  meanwhile: () => Promise<void> = () => Promise.resolve();

  override async flows(bridge: string): Promise<Map<string, FlowState>> {
    const flows = await super.flows(bridge);
    await this.meanwhile();
    return flows;
  }
}

/** Emits only what the switch reports to a slow reader: how a flow is in the end. */
class Pausing extends FakeSwitch {
  readonly seen = Promise.withResolvers<readonly MonitorEvent[]>();
  readonly end = Promise.withResolvers<void>();

  override async *watch(): AsyncGenerator<readonly MonitorEvent[]> {
    yield [{ kind: 'ready' }];
    yield await this.seen.promise;
    await this.end.promise;
  }
}

const live = (client: SwitchClient) => {
  const foreign: string[][] = [];
  const seen = Promise.withResolvers<void>();
  const bridge = new LiveBridge({
    client,
    bridge: BRIDGE,
    onForeign: (identities) => {
      foreign.push([...identities]);
      seen.resolve();
    },
    onStale: () => undefined,
  });
  return { bridge, foreign, seen: seen.promise };
};

it('what is changed while everything is read is not lost', async () => {
  const client = new Interrupted();
  client.addBridge(BRIDGE);
  const { bridge, foreign, seen } = live(client);
  client.meanwhile = () => client.bundle(BRIDGE, [add('table=1,priority=1', 'drop')]);
  const state = await bridge.load(signal);
  await seen;
  expect(state.flows.get('table=1,priority=1')).toEqual({ cookie: '0x1', actions: 'drop' });
  expect(foreign).toEqual([['table=1,priority=1']]);
  await bridge.stop();
});

it('our own writes are not reported as foreign, also when some of them are never reported', async () => {
  const client = new Pausing();
  client.addBridge(BRIDGE);
  const { bridge, foreign, seen: foreignReported } = live(client);
  const state = await bridge.load(signal);
  const identity = 'table=1,priority=1';
  await bridge.write([add(identity, 'drop')], signal);
  await bridge.write([add(identity, 'NORMAL')], signal);
  const present = (actions: string): MonitorEvent => ({ kind: 'present', flow: { identity, cookie: '0x1', actions } });
  client.seen.resolve([present('NORMAL'), { kind: 'resumed' }, present('ALL')]);
  await foreignReported;
  expect(foreign).toEqual([[identity]]);
  expect(state.flows.get(identity)?.actions).toBe('ALL');
  client.end.resolve();
  await bridge.stop();
});
