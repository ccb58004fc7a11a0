/** Ports that floods do not reach: what becomes of them when they go, come back and are desired no longer. */
import { expect } from 'vitest';
import { BRIDGE, type Case, describeCases, flowItem, SIGNAL } from './testing/bridge-test.ts';
import { NETWORK_PATCH } from './testing/gateway-flows.ts';
import type { SwitchWorld } from './testing/world.ts';
import { type BridgeItem, bridgeItemKey } from './types.ts';

const ITEM: BridgeItem = { bridge: BRIDGE, kind: 'noFlood', noFlood: { port: NETWORK_PATCH } };
const KEY = bridgeItemKey(ITEM);
const KEYS = new Set([KEY]);

const CASES: readonly Case[] = [
  [
    'sets no-flood again on a port that was made anew',
    async (test) => {
      test.subject.want(ITEM);
      await test.subject.reconcile();
      await test.world.removePort(BRIDGE, NETWORK_PATCH);
      await test.world.addPort(BRIDGE, NETWORK_PATCH, 3);
      expect((await test.subject.reconcile(KEYS)).written).toBe(1);
      expect(await test.noFlood()).toEqual([3]);
    },
  ],

  [
    'floods again to a port that stays, when everything is looked at',
    async (test) => {
      test.subject.want(ITEM);
      await test.subject.reconcile();
      test.subject.want();
      expect((await test.subject.reconcile(KEYS)).written).toBe(0);
      expect(await test.noFlood()).toEqual([3]);
      expect((await test.subject.reconcile('all', false)).written).toBe(0);
      expect((await test.subject.reconcile()).written).toBe(1);
      expect(await test.noFlood()).toEqual([]);
    },
  ],

  [
    'forgets a port that goes: another one with its number is not its business',
    async (test) => {
      test.subject.want(ITEM, flowItem());
      await test.subject.reconcile();
      test.subject.want(flowItem());
      await test.subject.reconcile(KEYS);
      await test.world.removePort(BRIDGE, NETWORK_PATCH);
      await test.world.addPort(BRIDGE, 'other', 3);
      await test.world.client.setNoFlood(BRIDGE, new Map([[3, true]]), SIGNAL);
      expect((await test.subject.reconcile()).written).toBe(0);
      expect(await test.noFlood()).toEqual([3]);
    },
  ],

  [
    'waits for a port that went before it was told',
    async (test) => {
      test.subject.want(flowItem());
      await test.subject.reconcile();
      const number = test.world.ports.ofport(BRIDGE, NETWORK_PATCH);
      await test.world.removePort(BRIDGE, NETWORK_PATCH);
      test.world.ports.set(BRIDGE, NETWORK_PATCH, number);
      test.subject.want(flowItem(), ITEM);
      const gone = await test.subject.reconcile(KEYS);
      expect(gone).toEqual({
        written: 0,
        writtenKeys: new Set(),
        failed: new Map(),
        waiting: new Map([[KEY, expect.any(String)]]),
      });
      test.world.ports.set(BRIDGE, NETWORK_PATCH, undefined);
      expect((await test.subject.reported('input')).keys).toEqual(KEYS);
      await test.world.addPort(BRIDGE, NETWORK_PATCH, 9);
      expect((await test.subject.reconcile(KEYS)).written).toBe(1);
      expect(await test.noFlood()).toEqual([9]);
    },
  ],
];

export const noFloodSuite = (name: string, create: () => Promise<SwitchWorld>): void =>
  describeCases(`ports that are not flooded to on ${name}`, create, CASES);
