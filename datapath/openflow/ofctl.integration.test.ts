/** What is only true of the real ovs-ofctl and ovs-vswitchd: their texts and their errors. */
import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCommandRunner } from '../exec/node-runner.ts';
import { Ofctl } from './ofctl.ts';
import { NORMAL_FORMS } from './testing/normal-forms.ts';
import { VswitchWorld } from './testing/vswitch-world.ts';
import { WIRE_FORMS } from './testing/wire-forms.ts';
import { canonicalFlow, type FlowState } from './text/flow.ts';
import type { MonitorEvent } from './text/flow-monitor.ts';
import { errorName } from './wire/error-names.ts';

const BRIDGE = 'br-ex';
const signal = new AbortController().signal;
const LATE = { op: 'addFlow', flow: { identity: 'table=20,priority=81,ip', cookie: '0x5', actions: 'drop' } } as const;
/** Read, if somebody else writes them; no feature does. */
const NOT_WRITTEN = /note:|goto_table:|output:NXM/;
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
  for await (const reported of watch) {
    const batch = reported.filter(({ kind }) => kind !== 'resumed');
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

  it('reports what is written in the one form as an event', async () => {
    const flows = [...NORMAL_FORMS.keys()].map(canonical).filter(({ actions }) => !NOT_WRITTEN.test(actions));
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

  it('prints what features write as it was written', async () => {
    const steps = WIRE_FORMS.map(({ op }) => op);
    const before = await world.client.flows(BRIDGE, signal);
    await world.client.bundle(BRIDGE, steps, signal);
    const expected = new Map<string, FlowState>(before);
    for (const step of steps) {
      if (step.op === 'addFlow') expected.set(step.flow.identity, flowState(step.flow));
      if (step.op === 'deleteFlow') expected.delete(step.identity);
    }
    // With the group that the bundle deletes in the end.
    for (const [identity, { actions }] of expected) if (actions.includes('group:5')) expected.delete(identity);
    expect(await world.client.flows(BRIDGE, signal)).toEqual(expected);
    const added = [...expected.keys()].filter((identity) => !before.has(identity));
    await world.client.bundle(
      BRIDGE,
      added.map((identity) => ({ op: 'deleteFlow', identity })),
      signal,
    );
    expect(await world.client.flows(BRIDGE, signal)).toEqual(before);
  });

  // The bridge refuses the one when it is sent, the other at the commit.
  it.each([
    ['OFPBAC_MATCH_INCONSISTENT', 'pop_vlan'],
    ['OFPBAC_BAD_OUT_GROUP', 'group:99'],
  ])('names the step of a bundle that is refused, and nothing of it is done: %s', async (reason, actions) => {
    const flow = (priority: number, does: string) =>
      ({
        op: 'addFlow',
        flow: { identity: `table=20,priority=${priority},ip`, cookie: '0x5', actions: does },
      }) as const;
    const ops = [flow(78, 'output:1'), flow(79, actions), flow(80, 'drop')];
    await expect(world.client.bundle(BRIDGE, ops, signal)).rejects.toMatchObject({
      code: 'ERR_OPENFLOW_REFUSED',
      message: `bridge br-ex refused: ${reason} for flow table=20,priority=79,ip,cookie=0x5,actions=${actions}`,
    });
    expect(await inTable()).toEqual(new Map());
  });

  it('calls errors as we do', async () => {
    for (const type of [...Array(18).keys(), 0xffff]) {
      for (let code = 0; code < 50; code++) {
        const name = errorName(Buffer.from([type >> 8, type, 0, code, 0, 0, 0x23, 0x20]));
        if (name.startsWith('error ')) continue;
        const number = type === 0xffff ? `vendor 0x2320, type ${code}, code 0` : `vendor 0, type ${type}, code ${code}`;
        expect(await world.ofctl('print-error', name)).toContain(`OpenFlow 1.5: ${number}\n`);
      }
    }
  });

  it('sends a large bundle completely', async () => {
    const ops = Array.from({ length: 20_000 }, (_, index) => {
      const actions = 'ct(commit,zone=64000,exec(set_field:0x1->ct_mark)),output:1';
      return { op: 'addFlow', flow: { identity: `table=20,priority=${index},ip`, cookie: '0x5', actions } } as const;
    });
    const watch = world.client.watch(BRIDGE, signal);
    const events = await collect(watch, ops.length, () => world.client.bundle(BRIDGE, ops, signal));
    expect(events).toEqual(ops.map(({ flow }) => ({ kind: 'present', flow })));
    await clear();
  });

  it('keeps counting flows that a bundle does not name', async () => {
    const flow = { identity: 'table=0,priority=77,ip,in_port=1', cookie: '0x5', actions: 'drop' };
    await world.client.bundle(BRIDGE, [{ op: 'addFlow', flow }], signal);
    const packet = 'in_port(1),eth(src=0a:00:00:00:00:01,dst=0a:00:00:00:00:02),eth_type(0x0800),ipv4(proto=17)';
    await world.control('netdev-dummy/receive', 'eth0', packet);
    const other = { identity: 'table=20,priority=3', cookie: '0x5', actions: 'drop' };
    await world.client.bundle(BRIDGE, [{ op: 'addFlow', flow: other }], signal);
    const counted = await world.ofctl('dump-flows', world.socket(BRIDGE), 'table=0,ip,in_port=1');
    expect(counted).toContain(' n_packets=1,');
    await clear();
  });

  it('says whether the bridge is away or says no', async () => {
    await expect(world.client.flows('br-none', signal)).rejects.toMatchObject({ code: 'ERR_OPENFLOW_UNREACHABLE' });
    await expect(world.client.flows('../br-ex', signal)).rejects.toMatchObject({ code: 'ERR_OPENFLOW_INVALID' });
    const bad = { identity: 'table=20,priority=1', cookie: '0', actions: 'bogus' };
    const refusing = world.client.bundle(BRIDGE, [{ op: 'addFlow', flow: bad }], signal);
    await expect(refusing).rejects.toMatchObject({ code: 'ERR_OPENFLOW_INVALID' });
    await expect(refusing).rejects.toThrow('the bytes of bogus are not known');
    const absentBridge = world.client.bundle('br-none', [{ op: 'addFlow', flow: { ...bad, actions: 'drop' } }], signal);
    await expect(absentBridge).rejects.toMatchObject({ code: 'ERR_OPENFLOW_UNREACHABLE' });
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

  it('may wait longer for the first words of a connection than it does', async () => {
    const reading = world.client.ports(BRIDGE, signal);
    await immediate();
    const draft = world.client.draft(BRIDGE, signal);
    draft.push([LATE]);
    // Busy, as an agent is that starts, once the connections are there: ovs-vswitchd closes them after a second.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_000);
    expect((await reading).map(({ name }) => name)).toContain('eth0');
    await draft.commit();
    expect([...(await inTable()).keys()]).toEqual([LATE.flow.identity]);
    await clear();
  });

  it('may wait longer for the rest of a bundle than it does', async () => {
    await world.vsctl('set', 'open_vswitch', '.', 'other_config:bundle-idle-timeout=1');
    const draft = world.client.draft(BRIDGE, signal);
    draft.push([LATE]);
    await delay(4_000);
    const rest = { ...LATE, flow: { ...LATE.flow, identity: 'table=20,priority=82,ip' } };
    draft.push([rest]);
    await draft.commit();
    expect([...(await inTable()).keys()].sort()).toEqual([LATE.flow.identity, rest.flow.identity]);
    await world.vsctl('remove', 'open_vswitch', '.', 'other_config', 'bundle-idle-timeout');
    await clear();
  });

  it.each([
    ['OpenFlow15', 'ports', 'it answers with error 0.0'],
    ['OpenFlow10', 'bundle', 'it answers with OFPHFC_INCOMPATIBLE'],
  ] as const)('reports that a bridge speaks only %s', async (protocols, method, reason) => {
    await world.vsctl('set', 'bridge', BRIDGE, `protocols=${protocols}`);
    try {
      const asked =
        method === 'ports' ? world.client.ports(BRIDGE, signal) : world.client.bundle(BRIDGE, [LATE], signal);
      await expect(asked).rejects.toThrow(`does not answer: ${reason}`);
    } finally {
      await world.vsctl('clear', 'bridge', BRIDGE, 'protocols');
    }
  });
});
