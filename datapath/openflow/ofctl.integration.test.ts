/** What is only true of the real ovs-ofctl and ovs-vswitchd: their texts. */
import { setImmediate as immediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCommandRunner } from '../exec/node-runner.ts';
import { Ofctl } from './ofctl.ts';
import { NORMAL_FORMS } from './testing/normal-forms.ts';
import { VswitchWorld } from './testing/vswitch-world.ts';
import { WIRE_FORMS } from './testing/wire-forms.ts';
import { canonicalFlow, type FlowState } from './text/flow.ts';
import type { MonitorEvent } from './text/flow-monitor.ts';
import { encodeSteps } from './wire/bundle.ts';
import { BundleSession } from './wire/bundle-session.ts';

const BRIDGE = 'br-ex';
const signal = new AbortController().signal;
let world: VswitchWorld;

beforeAll(async () => {
  world = await VswitchWorld.create();
  await world.addBridge(BRIDGE);
  await world.addPort(BRIDGE, 'eth0', 1);
});
afterAll(() => world[Symbol.asyncDispose]());

const canonical = (index: number) => {
  const form = NORMAL_FORMS[index];
  if (form === undefined) throw new Error(`no form ${index}`);
  const match = Object.entries(form.match);
  return canonicalFlow({ table: 20, priority: index + 1, cookie: 5n, match, actions: form.actions });
};

const written = (index: number): string => {
  const { match = {}, actions = '' } = NORMAL_FORMS[index] ?? {};
  const fields = Object.entries(match).map(([name, value]) => (value === true ? name : `${name}=${value}`));
  return [`table=20,priority=${index + 1},cookie=5`, ...fields, `actions=${actions}`].join(',');
};

const inTable = async () => {
  const flows = await world.client.flows(BRIDGE, signal);
  return new Map([...flows].filter(([identity]) => identity.startsWith('table=20,')));
};

const flowState = ({ cookie, actions }: FlowState): FlowState => ({ cookie, actions });

const clear = () => world.ofctl('del-flows', world.socket(BRIDGE), 'table=20');

/** The next events but `ready`, until there are so many. */
const collect = async (
  watch: AsyncIterable<readonly MonitorEvent[]>,
  count: number,
  onReady: () => Promise<unknown>,
) => {
  const events: MonitorEvent[] = [];
  let acting: Promise<unknown> = Promise.resolve();
  for await (const told of watch) {
    const batch = told.filter(({ kind }) => kind !== 'resumed');
    if (batch.some(({ kind }) => kind === 'ready')) acting = onReady();
    events.push(...batch.filter(({ kind }) => kind !== 'ready'));
    if (events.length >= count) break;
  }
  await acting;
  return events;
};

describe('ovs-ofctl', () => {
  it('prints every form that people write in the one form', async () => {
    for (const index of NORMAL_FORMS.keys()) {
      await world.ofctl('-O', 'OpenFlow15', 'add-flow', world.socket(BRIDGE), written(index));
    }
    const expected = [...NORMAL_FORMS.keys()]
      .map(canonical)
      .map(({ identity, ...state }) => [identity, state] as const);
    expect(await inTable()).toEqual(new Map(expected));
    await clear();
  });

  it('reads the one form, and tells it as an event', async () => {
    const flows = [...NORMAL_FORMS.keys()].map(canonical);
    const ops = flows.map((flow) => ({ op: 'addFlow', flow }) as const);
    const watch = world.client.watch(BRIDGE, signal);
    const events = await collect(watch, ops.length, () => world.client.bundle(BRIDGE, ops, signal));
    expect(events).toEqual(flows.map((flow) => ({ kind: 'present', flow })));
    const deletes = flows.map(({ identity }) => ({ op: 'deleteFlow', identity }) as const);
    const removing = () => world.client.bundle(BRIDGE, deletes, signal);
    const deleted = await collect(world.client.watch(BRIDGE, signal), deletes.length, removing);
    expect(deleted).toEqual(flows.map((flow) => ({ kind: 'deleted', flow })));
    expect(await inTable()).toEqual(new Map());
  });

  it('is not started for what features write', async () => {
    const steps = WIRE_FORMS.map(({ op }) => op);
    const run = (): Promise<never> => Promise.reject(new Error('a program is started'));
    const client = world.newClient({ runner: { ...createCommandRunner(), run } });
    const before = await world.client.flows(BRIDGE, signal);
    await client.bundle(BRIDGE, steps, signal);
    const expected = new Map<string, FlowState>(before);
    for (const step of steps) {
      if (step.op === 'addFlow') expected.set(step.flow.identity, flowState(step.flow));
      if (step.op === 'deleteFlow') expected.delete(step.identity);
    }
    // With the group that the bundle deletes in the end.
    for (const [identity, { actions }] of expected) if (actions.includes('group:5')) expected.delete(identity);
    expect(await world.client.flows(BRIDGE, signal)).toEqual(expected);
    const added = [...expected.keys()].filter((identity) => !before.has(identity));
    await client.bundle(
      BRIDGE,
      added.map((identity) => ({ op: 'deleteFlow', identity })),
      signal,
    );
    expect(await world.client.flows(BRIDGE, signal)).toEqual(before);
  });

  it('does nothing of a bundle of which one step is refused when it is told', async () => {
    const flow = { identity: 'table=20,priority=78,ip', cookie: '0x5', actions: 'output:1' };
    const good = encodeSteps([{ op: 'addFlow', flow }]) ?? Buffer.alloc(0);
    const bad = Buffer.from(
      encodeSteps([{ op: 'addFlow', flow: { ...flow, identity: 'table=20,priority=79,ip' } }]) ?? [],
    );
    // The type of its only action, ofp_action_output.
    bad.writeUInt16BE(0x7777, bad.length - 16);
    const path = world.socket(BRIDGE).replace(/^unix:/, '');
    const refused = new BundleSession(path);
    refused.push(good);
    refused.push(bad);
    expect(await refused.commit(signal)).toBe('refused');
    expect((await inTable()).has(flow.identity)).toBe(false);
    const taken = new BundleSession(path);
    taken.push(good);
    expect(await taken.commit(signal)).toBe('done');
    expect((await inTable()).has(flow.identity)).toBe(true);
    await clear();
  });

  it('tells a large bundle completely', async () => {
    const ops = Array.from({ length: 20_000 }, (_, index) => {
      const actions = 'ct(commit,zone=64000,exec(set_field:0x1->ct_mark)),output:1';
      return { op: 'addFlow', flow: { identity: `table=20,priority=${index},ip`, cookie: '0x5', actions } } as const;
    });
    const watch = world.client.watch(BRIDGE, signal);
    const events = await collect(watch, ops.length, () => world.client.bundle(BRIDGE, ops, signal));
    expect(events).toEqual(ops.map(({ flow }) => ({ kind: 'present', flow })));
    await clear();
  });

  it('counts packets', async () => {
    const flow = { identity: 'table=0,priority=77,ip,in_port=1', cookie: '0x5', actions: 'drop' };
    await world.client.bundle(BRIDGE, [{ op: 'addFlow', flow }], signal);
    const packet = 'in_port(1),eth(src=0a:00:00:00:00:01,dst=0a:00:00:00:00:02),eth_type(0x0800),ipv4(proto=17)';
    await world.control('netdev-dummy/receive', 'eth0', packet);
    const counts = await world.client.statistics(BRIDGE, signal);
    expect(counts.find(({ identity }) => identity === flow.identity)).toMatchObject({ packets: 1n, table: 0 });
  });

  it('says whether the bridge is away or says no', async () => {
    await expect(world.client.flows('br-none', signal)).rejects.toMatchObject({ code: 'ERR_OPENFLOW_UNREACHABLE' });
    await expect(world.client.flows('../br-ex', signal)).rejects.toMatchObject({ code: 'ERR_OPENFLOW_INVALID' });
    const bad = { identity: 'table=20,priority=1', cookie: '0', actions: 'bogus' };
    const refusing = world.client.bundle(BRIDGE, [{ op: 'addFlow', flow: bad }], signal);
    await expect(refusing).rejects.toMatchObject({ code: 'ERR_OPENFLOW_REFUSED' });
    await expect(refusing).rejects.toThrow('unknown action bogus');
    await expect(world.client.ports('br-none', signal)).rejects.toMatchObject({ code: 'ERR_OPENFLOW_UNREACHABLE' });
    const changes = new Map([[99, true]]);
    expect(await world.client.setNoFlood(BRIDGE, changes, signal)).toEqual({ gone: new Set([99]), refused: new Map() });
    const absent = new Ofctl({ runner: createCommandRunner({ path: '/nowhere' }) });
    await expect(absent.flows(BRIDGE, signal)).rejects.toMatchObject({ code: 'ERR_OPENFLOW_UNREACHABLE' });
  });

  it('of a bridge that is somebody else’s looks at a few flows only', async () => {
    const only = new Map([[BRIDGE, 'table=21,icmp6,icmp_type=134']]);
    const guest = world.newClient({ only });
    const flow = (table: number, priority: number, match: string) =>
      ({ identity: `table=${table},priority=${priority},${match}`, cookie: '0x5', actions: 'drop' }) as const;
    const mine = flow(21, 1, 'icmp6,icmp_type=134');
    const others = [flow(21, 2, 'icmp6'), flow(21, 3, 'ip'), flow(20, 4, 'icmp6,icmp_type=134')];
    const ops = [...others, mine].map((one) => ({ op: 'addFlow', flow: one }) as const);
    const events = await collect(guest.watch(BRIDGE, signal), 1, () => world.client.bundle(BRIDGE, ops, signal));
    expect(events).toEqual([{ kind: 'present', flow: mine }]);
    expect([...(await guest.flows(BRIDGE, signal)).keys()]).toEqual([mine.identity]);
    expect((await guest.statistics(BRIDGE, signal)).map(({ identity }) => identity)).toEqual([mine.identity]);
    await world.ofctl('-O', 'OpenFlow15', 'add-group', world.socket(BRIDGE), 'group_id=1,type=all');
    expect(await guest.groups(BRIDGE, signal)).toEqual(new Map());
    expect([...(await world.client.groups(BRIDGE, signal)).keys()]).toEqual([1]);
    await world.ofctl('-O', 'OpenFlow15', 'del-groups', world.socket(BRIDGE));
    await clear();
    await world.ofctl('del-flows', world.socket(BRIDGE), 'table=21');
  });

  it('makes a group of another type one to all', async () => {
    const select = 'group_id=7,type=select,bucket=bucket_id=3,actions=output:1';
    await world.ofctl('-O', 'OpenFlow15', 'add-group', world.socket(BRIDGE), select);
    const bucket = { op: 'insertBucket', group: 7, bucket: 1, actions: 'LOCAL' } as const;
    await world.client.bundle(BRIDGE, [{ op: 'resetGroup', group: 7 }, bucket], signal);
    expect(await world.client.groups(BRIDGE, signal)).toEqual(
      new Map([[7, { type: 'all', buckets: new Map([[1, 'LOCAL']]) }]]),
    );
  });

  it('keeps counting flows that a bundle does not name', async () => {
    const before = await world.client.statistics(BRIDGE, signal);
    const flow = { identity: 'table=20,priority=3', cookie: '0x5', actions: 'drop' };
    await world.client.bundle(BRIDGE, [{ op: 'addFlow', flow }], signal);
    const after = new Map((await world.client.statistics(BRIDGE, signal)).map((one) => [one.identity, one.packets]));
    for (const { identity, packets } of before) expect(after.get(identity)).toBe(packets);
    expect(before.some(({ packets }) => packets > 0n)).toBe(true);
  });

  it('may wait longer for the first words of a connection than it does', async () => {
    const reading = world.client.ports(BRIDGE, signal);
    await immediate();
    // Busy, as an agent is that starts, once the connection is there: ovs-vswitchd closes it after a second.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_000);
    expect((await reading).map(({ name }) => name)).toContain('eth0');
  });

  it('tells that OpenFlow 1.0 is not among the protocols of a bridge', async () => {
    await world.vsctl('set', 'bridge', BRIDGE, 'protocols=OpenFlow15');
    try {
      await expect(world.client.ports(BRIDGE, signal)).rejects.toThrow('does not answer: it answers with error 0.0');
    } finally {
      await world.vsctl('clear', 'bridge', BRIDGE, 'protocols');
    }
  });
});
