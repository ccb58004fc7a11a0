import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyOp, type MutableBridge } from './mirror.ts';
import { type DesiredBridge, type Plan, type PlanOptions, plan } from './plan.ts';
import type { FlowState } from './text/flow.ts';

const OURS = '0xdeff105';
const OPTIONS: PlanOptions = { prune: true, isOurs: (cookie) => cookie === OURS, isOurGroup: (group) => group < 10 };

const identity = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const actions = fc.constantFrom('drop', 'output:1', 'NORMAL');
const flows = fc
  .dictionary(identity, fc.record({ cookie: fc.constantFrom(OURS, '0'), actions }))
  .map((all) => new Map<string, FlowState>(Object.entries(all)));
const ownFlows = flows.map((all) => new Map([...all].map(([name, state]) => [name, { ...state, cookie: OURS }])));
const buckets = fc.dictionary(fc.constantFrom('0', '1', '2'), actions).map((all) => new Map(entriesOf(all)));
const ids = fc.constantFrom('1', '2', '11');
const ports = fc.uniqueArray(fc.constantFrom(1, 2, 3)).map((all) => new Set(all));

const entriesOf = <T>(all: Readonly<Record<string, T>>): [number, T][] =>
  Object.entries(all).map(([id, one]) => [Number(id), one]);

const desiredBridge: fc.Arbitrary<DesiredBridge> = fc.record({
  flows: ownFlows,
  groups: fc.dictionary(ids, buckets).map((all) => new Map(entriesOf(all))),
  noFlood: ports,
  released: ports,
});
const actual: fc.Arbitrary<MutableBridge> = fc.record({
  flows,
  groups: fc
    .dictionary(ids, fc.record({ type: fc.constantFrom('all', 'select'), buckets }))
    .map((all) => new Map(entriesOf(all))),
  noFlood: ports,
});

const apply = (bridge: MutableBridge, steps: Plan): MutableBridge => {
  const after = structuredClone(bridge);
  for (const op of steps.bundle) applyOp(after, op);
  for (const [port, noFlood] of steps.ports) {
    if (noFlood) after.noFlood.add(port);
    else after.noFlood.delete(port);
  }
  return after;
};

const EMPTY: Plan = { bundle: [], ports: new Map() };

describe('a plan', () => {
  it('leaves nothing to do', () => {
    fc.assert(
      fc.property(desiredBridge, actual, fc.boolean(), (desired, there, prune) => {
        const options = { ...OPTIONS, prune };
        expect(plan(desired, apply(there, plan(desired, there, 'all', options)), 'all', options)).toEqual(EMPTY);
      }),
    );
  });

  it('leaves the desired state, and of the rest only what is not ours', () => {
    fc.assert(
      fc.property(desiredBridge, actual, (desired, there) => {
        const after = apply(there, plan(desired, there, 'all', OPTIONS));
        for (const [name, state] of desired.flows) expect(after.flows.get(name)).toEqual(state);
        for (const [name, state] of after.flows) if (!desired.flows.has(name)) expect(state.cookie).toBe('0');
        for (const [name, state] of there.flows) if (state.cookie === '0') expect(after.flows.has(name)).toBe(true);
        for (const [id, all] of desired.groups) expect(after.groups.get(id)).toEqual({ type: 'all', buckets: all });
        for (const id of after.groups.keys()) if (!desired.groups.has(id)) expect(id).toBe(11);
        for (const port of desired.noFlood) expect(after.noFlood.has(port)).toBe(true);
      }),
    );
  });

  it('finds each change of what is there', () => {
    fc.assert(
      fc.property(desiredBridge, actual, identity, actions, (desired, there, name, other) => {
        const right = apply(there, plan(desired, there, 'all', OPTIONS));
        const before = right.flows.get(name);
        const changed: FlowState | undefined =
          before?.actions === other && desired.flows.has(name) ? undefined : { cookie: OURS, actions: other };
        if (changed === undefined) right.flows.delete(name);
        else right.flows.set(name, changed);
        const { bundle } = plan(desired, right, 'all', OPTIONS);
        const op = desired.flows.has(name) ? 'addFlow' : 'deleteFlow';
        expect(bundle.map((one) => one.op)).toEqual([op]);
        const scope = { flows: [name], groups: [], buckets: [], ports: [] };
        expect(plan(desired, right, scope, OPTIONS).bundle).toEqual(bundle);
      }),
    );
  });

  it('finds each change of a group and of a port', () => {
    fc.assert(
      fc.property(
        desiredBridge,
        actual,
        ids.map(Number),
        fc.constantFrom('type', 'bucket', 'gone'),
        (desired, there, id, how) => {
          const right = apply(there, plan(desired, there, 'all', OPTIONS));
          const group = right.groups.get(id);
          fc.pre(group !== undefined && desired.groups.has(id));
          if (how === 'gone') right.groups.delete(id);
          else if (how === 'type') right.groups.set(id, { type: 'select', buckets: new Map() });
          else group?.buckets.set(7, 'drop');
          expect(plan(desired, right, 'all', OPTIONS).bundle.length).toBeGreaterThan(0);
          for (const port of desired.noFlood) right.noFlood.delete(port);
          expect(plan(desired, right, 'all', OPTIONS).ports.size).toBe(desired.noFlood.size);
        },
      ),
    );
  });

  it('makes groups before the flows that name them, and removes them after', () => {
    const flow = { cookie: OURS, actions: 'group:1' };
    const desired: DesiredBridge = {
      flows: new Map([['new', flow]]),
      groups: new Map([[1, new Map([[0, 'drop']])]]),
      noFlood: new Set(),
      released: new Set(),
    };
    const there: MutableBridge = {
      flows: new Map([['old', { cookie: OURS, actions: 'group:2' }]]),
      groups: new Map([[2, { type: 'all', buckets: new Map() }]]),
      noFlood: new Set(),
    };
    expect(plan(desired, there, 'all', OPTIONS).bundle.map(({ op }) => op)).toEqual([
      'addGroup',
      'insertBucket',
      'addFlow',
      'deleteFlow',
      'deleteGroup',
    ]);
  });
});
