/** What the backend does with a switch, for the real one and the one in memory. */
import { expect } from 'vitest';
import { BRIDGE, type Case, describeCases, flowItem, SIGNAL, Subject } from './testing/bridge-test.ts';
import { FLOOD_GROUP, gatewayItems, UPLINK } from './testing/gateway-flows.ts';
import type { SwitchWorld } from './testing/world.ts';
import { type BridgeItem, bridgeItemKey } from './types.ts';

const contentCases: readonly Case[] = [
  [
    'reads every kind of flow back as it is wanted',
    async (test) => {
      test.subject.want(...gatewayItems(BRIDGE));
      const first = await test.subject.reconcile();
      expect({ failed: [...first.failed], waiting: [...first.waiting] }).toEqual({ failed: [], waiting: [] });
      expect(first.written).toBe(test.subject.desired.size);
      expect(await test.subject.differences()).toEqual([]);
      expect((await test.subject.reconcile()).written).toBe(0);
      const restarted = new Subject(test.world);
      restarted.desired = test.subject.desired;
      expect((await restarted.reconcile()).written).toBe(0);
      await restarted.backend.close();
      expect(test.subject.changes).toEqual([]);
    },
  ],

  [
    'replaces the first flow of a bridge, and no flow of others',
    async (test) => {
      const theirs = { identity: 'table=7,priority=1', cookie: '0x77', actions: 'NORMAL' };
      await test.world.client.bundle(BRIDGE, [{ op: 'addFlow', flow: theirs }], SIGNAL);
      test.subject.want(flowItem({ priority: 0, inPort: undefined, actions: ['drop'] }));
      await test.subject.reconcile();
      const flows = await test.world.client.flows(BRIDGE, SIGNAL);
      expect(flows.get('table=0,priority=0')).toEqual({ cookie: '0xdeff105', actions: 'drop' });
      expect(flows.get(theirs.identity)).toEqual({ cookie: '0x77', actions: 'NORMAL' });
    },
  ],

  [
    'removes flows and groups of ours that nobody wants, when it may',
    async (test) => {
      const stray = { identity: 'table=7,priority=1', cookie: '0xdeff105', actions: 'group:9' };
      await test.world.client.bundle(
        BRIDGE,
        [
          { op: 'addGroup', group: 9 },
          { op: 'addFlow', flow: stray },
        ],
        SIGNAL,
      );
      test.subject.want(flowItem());
      expect((await test.subject.reconcile('all', false)).written).toBe(1);
      expect(await test.identities()).toContain(stray.identity);
      expect((await test.subject.differences()).map(({ kind }) => kind)).toEqual(['unwanted', 'unwanted']);
      expect((await test.subject.reconcile('all', true)).written).toBe(2);
      expect(await test.identities()).toEqual(['table=0,priority=0', 'table=0,priority=9,in_port=1']);
      expect([...(await test.world.client.groups(BRIDGE, SIGNAL)).keys()]).toEqual([]);
    },
  ],
];

const keyCases: readonly Case[] = [
  [
    'adds, changes and removes what keys say, and nothing else',
    async (test) => {
      const item = flowItem();
      const key = bridgeItemKey(item);
      test.subject.want(...gatewayItems(BRIDGE));
      await test.subject.reconcile();
      test.subject.desired.set(key, item);
      expect((await test.subject.reconcile(new Set([key]))).written).toBe(1);
      expect((await test.subject.reconcile(new Set([key]))).written).toBe(0);
      test.subject.desired.set(key, flowItem({ actions: ['NORMAL'] }));
      expect((await test.subject.reconcile(new Set([key]))).written).toBe(1);
      expect((await test.world.client.flows(BRIDGE, SIGNAL)).get('table=0,priority=9,in_port=1')?.actions).toBe(
        'NORMAL',
      );
      test.subject.desired.delete(key);
      expect((await test.subject.reconcile(new Set([key]))).written).toBe(1);
      expect(await test.identities()).not.toContain('table=0,priority=9,in_port=1');
      expect((await test.subject.reconcile()).written).toBe(0);
    },
  ],

  [
    'changes one bucket of a group and leaves the group and the others',
    async (test) => {
      test.subject.want(...gatewayItems(BRIDGE));
      await test.subject.reconcile();
      const bucket = (actions: readonly string[]): BridgeItem => ({
        bridge: BRIDGE,
        kind: 'bucket',
        bucket: { group: FLOOD_GROUP, id: 2, actions },
      });
      const key = bridgeItemKey(bucket([]));
      test.subject.desired.set(key, bucket(['output:1']));
      expect((await test.subject.reconcile(new Set([key]))).written).toBe(1);
      test.subject.desired.set(key, bucket(['LOCAL']));
      expect((await test.subject.reconcile(new Set([key]))).written).toBe(2);
      const buckets = async () => (await test.world.client.groups(BRIDGE, SIGNAL)).get(FLOOD_GROUP)?.buckets;
      expect((await buckets())?.get(2)).toBe('LOCAL');
      test.subject.desired.delete(key);
      await test.subject.reconcile(new Set([key]));
      expect([...((await buckets())?.keys() ?? [])]).toEqual([0, 1]);
      expect((await test.subject.reconcile()).written).toBe(0);
    },
  ],

  [
    'says that two items are the same flow, and lets the second one in when the first goes',
    async (test) => {
      const one = flowItem({ match: { ip: true, nw_dst: '10.0.0.0/8' } });
      const two = flowItem({ match: { dl_type: '0x0800', ip_dst: '10.1.0.0/255.0.0.0' } });
      test.subject.want(one, two);
      expect((await test.subject.reconcile()).failed).toEqual(
        new Map([[bridgeItemKey(two), `is the same as ${bridgeItemKey(one)}`]]),
      );
      test.subject.want(two);
      expect(await test.subject.reconcile(new Set([bridgeItemKey(one)]))).toMatchObject({
        written: 0,
        writtenKeys: new Set(),
        failed: new Map(),
      });
      expect(await test.subject.differences()).toEqual([]);
    },
  ],
];

const driftCases: readonly Case[] = [
  [
    'tells when somebody deletes or changes a flow of ours, and puts it right',
    async (test) => {
      const [item, other] = [flowItem(), flowItem({ priority: 8 })];
      test.subject.want(item, other);
      await test.subject.reconcile();
      const identity = 'table=0,priority=9,in_port=1';
      await test.world.client.bundle(BRIDGE, [{ op: 'deleteFlow', identity }], SIGNAL);
      const drift = await test.subject.reported('drift');
      expect(drift.keys).toEqual(new Set([bridgeItemKey(item)]));
      expect((await test.subject.reconcile(drift.keys)).written).toBe(1);
      expect(await test.identities()).toContain(identity);
      await test.world.client.bundle(
        BRIDGE,
        [{ op: 'addFlow', flow: { identity, cookie: '0', actions: 'ALL' } }],
        SIGNAL,
      );
      const again = await test.subject.reported('drift');
      expect(again.keys).toEqual(new Set([bridgeItemKey(item)]));
      expect((await test.subject.reconcile(again.keys)).written).toBe(1);
      expect(await test.subject.differences()).toEqual([]);
    },
  ],

  [
    'tells when somebody adds a flow with a cookie of ours, and removes it',
    async (test) => {
      test.subject.want(flowItem());
      await test.subject.reconcile();
      const flow = { identity: 'table=9,priority=4242,ip', cookie: '0xdeff105', actions: 'drop' };
      await test.world.client.bundle(BRIDGE, [{ op: 'addFlow', flow }], SIGNAL);
      const drift = await test.subject.reported('drift');
      expect((await test.subject.reconcile(drift.keys)).written).toBe(1);
      expect(await test.identities()).not.toContain(flow.identity);
    },
  ],

  [
    'puts back a group that somebody deleted, with the flows that went with it',
    async (test) => {
      test.subject.want(...gatewayItems(BRIDGE));
      await test.subject.reconcile();
      await test.world.client.bundle(BRIDGE, [{ op: 'deleteGroup', group: FLOOD_GROUP }], SIGNAL);
      const drift = await test.subject.reported('drift');
      expect((await test.subject.reconcile(drift.keys)).failed).toEqual(new Map());
      await test.subject.reconcile();
      expect(await test.subject.differences()).toEqual([]);
    },
  ],

  [
    'finds what is not told: buckets and the config of ports',
    async (test) => {
      test.subject.want(...gatewayItems(BRIDGE));
      await test.subject.reconcile();
      await test.world.client.bundle(BRIDGE, [{ op: 'removeBucket', group: FLOOD_GROUP, bucket: 1 }], SIGNAL);
      await test.world.client.setNoFlood(BRIDGE, new Map([[3, false]]), SIGNAL);
      expect((await test.subject.differences()).map(({ kind }) => kind).sort()).toEqual(['different', 'missing']);
      expect((await test.subject.reconcile()).written).toBe(2);
      expect(await test.subject.differences()).toEqual([]);
    },
  ],
];

const portCases: readonly Case[] = [
  [
    'waits for a port, and follows its number',
    async (test) => {
      const item = flowItem({ inPort: 'later', actions: [{ output: UPLINK }] });
      const key = bridgeItemKey(item);
      test.subject.want(item, flowItem());
      expect((await test.subject.reconcile()).waiting).toEqual(
        new Map([[key, 'port later is not on bridge br-ex yet']]),
      );
      await test.world.addPort(BRIDGE, 'later', 7);
      const came = await test.subject.reported('input');
      expect(came.keys).toEqual(new Set([key]));
      const now = { written: 1, writtenKeys: new Set([key]), failed: new Map(), waiting: new Map() };
      expect(await test.subject.reconcile(came.keys)).toEqual(now);
      expect(await test.identities()).toContain('table=0,priority=9,in_port=7');
      await test.world.removePort(BRIDGE, 'later');
      expect((await test.subject.reconcile((await test.subject.reported('input')).keys)).waiting.size).toBe(1);
      expect(await test.identities()).not.toContain('table=0,priority=9,in_port=7');
      await test.world.addPort(BRIDGE, 'later', 12);
      await test.subject.reconcile((await test.subject.reported('input')).keys);
      expect(await test.identities()).toContain('table=0,priority=9,in_port=12');
      expect((await test.subject.reconcile()).written).toBe(0);
    },
  ],
];

const outageCases: readonly Case[] = [
  [
    'waits while the switch is away and does everything again when it is back',
    async (test) => {
      test.subject.want(...gatewayItems(BRIDGE));
      await test.subject.reconcile();
      await test.world.stop();
      const away = await test.subject.reconcile();
      expect(away.written).toBe(0);
      // What is not written fails, to be tried again, while the end of the flow monitor is not known yet; from then on it waits.
      expect(new Set([...away.failed.keys(), ...away.waiting.keys()])).toEqual(new Set(test.subject.desired.keys()));
      await test.world.start();
      expect((await test.subject.reported('input')).keys).toBe('all');
      expect((await test.subject.reconcile()).written).toBeGreaterThanOrEqual(test.subject.desired.size);
      expect(await test.subject.differences()).toEqual([]);
      expect((await test.subject.reconcile()).written).toBe(0);
    },
  ],

  [
    'reports what is to go as long as the switch has not confirmed it, and removes it when that is tried again',
    async (test) => {
      const [stays, goes] = [flowItem(), flowItem({ priority: 8 })];
      const keys = new Set([bridgeItemKey(goes)]);
      test.subject.want(stays, goes);
      await test.subject.reconcile();
      await test.world.stop();
      test.subject.want(stays);
      for (const _ of ['first', 'again']) {
        const away = await test.subject.reconcile(keys);
        expect([...away.failed.keys(), ...away.waiting.keys()]).toEqual([...keys]);
      }
      await test.world.start();
      await test.subject.reported('input');
      const back = await test.subject.reconcile(keys);
      expect([back.failed.size, back.waiting.size]).toEqual([0, 0]);
      expect(await test.subject.differences()).toEqual([]);
    },
  ],

  [
    'waits for a bridge, and does everything again when it was made anew',
    async (test) => {
      test.subject.want(flowItem());
      await test.subject.reconcile();
      await test.world.removeBridge(BRIDGE);
      const gone = await test.subject.reconcile();
      expect([...gone.waiting.values()]).toEqual(['bridge br-ex does not exist yet']);
      await test.world.addBridge(BRIDGE);
      await test.world.addPort(BRIDGE, UPLINK, 1);
      await test.subject.reported('input');
      expect((await test.subject.reconcile()).written).toBe(1);
      expect(await test.subject.differences()).toEqual([]);
    },
  ],

  [
    'does the rest when the switch refuses one flow',
    async (test) => {
      const refused = flowItem({ priority: 5, actions: ['group:77'] });
      const nonsense = flowItem({ priority: 6, match: { nw_src: 'nothing' } });
      const unknown = flowItem({ priority: 7, actions: ['note:00.01'] });
      test.subject.want(...gatewayItems(BRIDGE), refused, nonsense, unknown);
      const { written, failed } = await test.subject.reconcile();
      const text = 'flow table=0,priority=5,in_port=1,cookie=0xdeff105,actions=group:77';
      expect(failed).toEqual(
        new Map([
          [bridgeItemKey(refused), `bridge br-ex refused: OFPBAC_BAD_OUT_GROUP for ${text}`],
          [bridgeItemKey(nonsense), '"nothing" is not an IPv4 address'],
          [bridgeItemKey(unknown), 'the bytes of note:00.01 are not known'],
        ]),
      );
      expect(written).toBe(test.subject.desired.size - 3);
    },
  ],
];

const CASES: readonly Case[] = [...contentCases, ...keyCases, ...driftCases, ...portCases, ...outageCases];

export const openflowBackendSuite = (name: string, create: () => Promise<SwitchWorld>): void =>
  describeCases(`the OpenFlow backend on ${name}`, create, CASES);
