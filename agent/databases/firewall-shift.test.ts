/** A large firewall changes: after each transaction of the reconciler, nothing passes that neither the old nor the new one allows. */
import { expect, it } from 'vitest';
import { DesiredRows } from '../../ovsdb/desired/desired-rows.ts';
import { OvsdbReconciler } from '../../ovsdb/desired/reconcile/reconciler.ts';
import { type OvnNorthbound, ovnNorthbound } from '../../ovsdb/models/ovn-northbound.gen.ts';
import { memorySession, wholeReplica } from '../../ovsdb/testing/memory/client.ts';
import { MemoryDatabase } from '../../ovsdb/testing/memory/database.ts';
import { MemoryServer } from '../../ovsdb/testing/memory/server.ts';
import { createEngine } from '../desired/engine.ts';
import { FEATURES } from '../features/index.ts';
import { BARE_OWNERS, compareOwners, groupOfOwner } from '../features/owner-order.ts';
import { projectAdminPolicy } from '../inputs/policies/admin/admin-projection.ts';
import { PolicyIndex } from '../inputs/policies/policy-index.ts';
import { OWNER_KEY } from '../model/ownership.ts';
import { TestCluster } from '../testing/cluster.ts';
import { worldPod } from '../testing/policy-world.ts';

interface Rule {
  readonly type: 'Allow' | 'Deny';
  readonly cidr: string;
}

const RULES = 200;
/** Of one transaction of the reconciler, but for groups. */
const MAX_OPERATIONS = 20;
const block = (at: number): string => `198.18.${at >> 8}.${at & 255}/32`;
const OLD: readonly Rule[] = Array.from({ length: RULES }, (_, at) => ({
  ...{ type: at % 2 === 0 ? 'Deny' : 'Allow', cidr: block(at) },
}));
/** All go one place down. */
const SHIFTED: readonly Rule[] = [{ type: 'Allow', cidr: '203.0.113.0/24' }, ...OLD];
/** What denies comes last, behind one that allows all the rest, and the other way around. */
const TURNED: readonly Rule[] = [...OLD].reverse();

/** One run of an agent. */
const startAgent = async (server: MemoryServer, onCommit: () => void) => {
  const cluster = new TestCluster('node1').node('node1', { id: 2, subnets: { default: ['10.128.0.0/23'] } });
  const index = new PolicyIndex({ facts: cluster.facts, settings: cluster.settings });
  const desired = new DesiredRows<OvnNorthbound>(compareOwners, BARE_OWNERS);
  const engine = createEngine({
    ...{ features: FEATURES, facts: cluster.facts, settings: cluster.settings, schedule: () => undefined },
    sinks: { ...cluster.sinks, northbound: desired, usage: { set: () => {}, delete: () => {} } },
  });
  engine.start();
  const session = memorySession(server, ovnNorthbound.name);
  const replica = wholeReplica(ovnNorthbound, OWNER_KEY);
  const reconciler = new OvsdbReconciler<OvnNorthbound>({
    ...{ desired, replica, ownerKey: OWNER_KEY, groupOf: groupOfOwner, maxOperations: MAX_OPERATIONS },
    session: {
      transact: (operations) => session.transact(operations).finally(onCommit),
      reconnect: (error) => session.reconnect(error),
    },
  });
  session.mirror(replica);
  session.start();
  await replica.whenSynced();
  index.changeNamespace('red', { name: 'red', labels: {}, problems: [] });
  index.changePod('red/a', worldPod('red/a', { ips: { default: ['10.128.0.3'] } }));
  return {
    reconciler,
    apply: (rules: readonly Rule[]): void => {
      const egress = rules.map(({ type, cidr }) => ({ type, to: { cidrSelector: cidr } }));
      const object = { metadata: { namespace: 'red', name: 'default' }, spec: { egress } };
      index.changeAdminPolicy('EgressFirewall/red/default', projectAdminPolicy('EgressFirewall', object));
      engine.flush();
    },
    stop: async (): Promise<void> => {
      await reconciler.stop();
      await session.close();
    },
  };
};

const deniedBy = (rules: readonly Rule[]): ReadonlySet<string> =>
  new Set(rules.flatMap(({ type, cidr }) => (type === 'Deny' ? [cidr] : [])));

/** Blocks whose first rule in the database drops. */
const droppedIn = (database: MemoryDatabase): ReadonlySet<string> => {
  const first = new Map<string, { readonly priority: number; readonly action: string }>();
  for (const { name, match, priority, action } of database.rows('ACL')) {
    if (!String(name).includes('EF:red:')) continue;
    const peer = /ip4\.dst == (\S+)/.exec(String(match))?.[1] ?? '';
    const cidr = peer.includes('/') ? peer : `${peer}/32`;
    if ((first.get(cidr)?.priority ?? -1) >= Number(priority)) continue;
    first.set(cidr, { priority: Number(priority), action: String(action) });
  }
  return new Set([...first].flatMap(([cidr, { action }]) => (action === 'drop' ? [cidr] : [])));
};

it('loses no rule that denies, by a change, by the next one on top of it, and by a restart', async () => {
  const database = new MemoryDatabase(ovnNorthbound);
  const server = new MemoryServer([database]);
  let always: ReadonlySet<string> = new Set();
  const leaks: string[] = [];
  let commits = 0;
  const onCommit = (): void => {
    commits += 1;
    leaks.push(...always.difference(droppedIn(database)));
  };
  const first = await startAgent(server, onCommit);
  first.apply(OLD);
  first.reconciler.start();
  first.reconciler.allowPrune();
  await first.reconciler.whenIdle();
  always = deniedBy(OLD);
  expect(always.difference(droppedIn(database)).size).toBe(0);
  expect(always.size).toBe(RULES / 2);
  first.apply(SHIFTED);
  first.apply(TURNED);
  await first.reconciler.whenIdle();
  first.apply(SHIFTED);
  await first.reconciler.whenIdle();
  expect(leaks).toEqual([]);
  await first.stop();
  const before = commits;
  const second = await startAgent(server, onCommit);
  second.apply(TURNED);
  second.reconciler.start();
  second.reconciler.allowPrune();
  await second.reconciler.whenIdle();
  await second.stop();
  // What the earlier run has left is more than one transaction, after the one with all that is new.
  expect(commits - before).toBeGreaterThan(1);
  expect(leaks).toEqual([]);
  expect(database.rows('ACL').filter(({ name }) => String(name).includes('EF:red:')).length).toBe(RULES);
});
