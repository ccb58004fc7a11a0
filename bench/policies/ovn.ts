/** What network policies cost OVN: rows, flows, and what ovn-controller does when peers come and go. */
import { setTimeout as delay } from 'node:timers/promises';
import { podPortName } from '../../agent/model/names.ts';
import type { KubeObject } from '../../kube/types.ts';
import { type Operation, OvsdbSession, type WireValue } from '../../ovsdb/index.ts';
import { alternate } from '../alternate.ts';
import type { BenchContext } from '../context.ts';
import { northboundOf } from '../node/connect-controller.ts';
import { cpuMilliseconds } from '../process-memory.ts';
import { namespaceOf } from '../render/objects.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { median } from '../statistics.ts';
import { indexes, namespaceObject, podAddress, podObject, policyObject, uidOf } from './objects.ts';
import { type Observed, type OvnCluster, type Port, startOvnCluster } from './ovn-cluster.ts';
import { DUAL, IPV4, TARGETS, tenantObjects, tenantPorts } from './tenants.ts';

const PEERS = 500;
const EQUAL = 1000;

export const OVN_NAMES = [
  'policy/equal-1000',
  'policy/equal-1000-flows',
  'policy/dual-flows',
  'policy/peer-churn',
] as const;

/** On one node: the ports of 20 pods of each of three networks, and 500 peers elsewhere. */
export const benchPolicyFlows = async ({ signal, progress, eachRun }: BenchContext): Promise<BenchResult[]> => {
  progress(`policy/equal-1000, policy/dual-flows, policy/peer-churn: with OVN at work`);
  const objects = [...tenantObjects(), ...plainObjects()];
  const ports = [...tenantPorts(), ...indexes(TARGETS).map(plainPort)];
  await using cluster = await startOvnCluster(`bench-policies-${process.pid}`, objects, ports, signal);
  const none = await cluster.observe();
  const equal = await ofEqual(cluster, none);
  const dual = await ofFamilies(cluster, none);
  await cluster.agent.change({ put: indexes(CHURN_RULES).map((rule) => plainPolicy(`churn-${rule}`, 2000 + rule)) });
  await cluster.settled();
  return await eachRun(async (run) => [...equal, ...dual, await ofChurn(cluster, run, signal)]);
};

const TARGET = 'app-target';
const PEER = 'app-peer';

const plainPort = (index: number): Port => {
  const name = `pod-${index}`;
  return { name: podPortName('default', TARGET, name), uid: uidOf(TARGET, name) };
};

const plainObjects = (): KubeObject[] => [
  ...[TARGET, PEER].map(namespaceObject),
  ...indexes(TARGETS).map((index) =>
    podObject({ namespace: TARGET, name: `pod-${index}`, number: index, isLocal: true, labels: { app: 'target' } }),
  ),
  ...indexes(PEERS).map(peer),
];

const peer = (number: number): KubeObject =>
  podObject({ namespace: PEER, name: `pod-${number}`, number, isLocal: false, labels: { app: 'peer' } });

const plainPolicy = (name: string, port: number): KubeObject => {
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': PEER } };
  const from = [{ namespaceSelector, podSelector: { matchLabels: { app: 'peer' } } }];
  return policyObject(TARGET, name, {
    podSelector: {},
    policyTypes: ['Ingress'],
    ingress: [{ from, ports: [{ port }] }],
  });
};

/** ACLs, and flows beyond those without a policy: of a thousand policies with one rule each that is the same, and of one. */
const ofEqual = async ({ agent, observe }: OvnCluster, none: Observed): Promise<BenchResult[]> => {
  const policies = indexes(EQUAL).map((index) => plainPolicy(`equal-${index}`, 80));
  await agent.change({ put: policies.slice(0, 1) });
  const one = await observe();
  if (one.acls <= none.acls || one.flows <= none.flows) throw new Error('a policy, and no rows or flows');
  await agent.change({ put: policies.slice(1) });
  const all = await observe();
  await agent.change({ remove: policies });
  const result = (name: string, part: keyof Observed): BenchResult => {
    const [value, reference] = [all[part] - none[part], one[part] - none[part]];
    return benchResult({ name, value, unit: '', reference, rounds: 1 });
  };
  return [result('policy/equal-1000', 'acls'), result('policy/equal-1000-flows', 'flows')];
};

/** Of one policy on a network of both families, against a network of IPv4: with as many targets and peers. */
const ofFamilies = async ({ agent, observe }: OvnCluster, none: Observed): Promise<BenchResult[]> => {
  const flowsOf = async (tenant: number): Promise<number> => {
    const policy = policyObject(namespaceOf(tenant), 'from-peers', {
      podSelector: { matchLabels: { role: 'target' } },
      policyTypes: ['Ingress'],
      ingress: [{ from: [{ podSelector: { matchLabels: { role: 'peer' } } }], ports: [{ port: 80 }] }],
    });
    await agent.change({ put: [policy] });
    const { flows } = await observe();
    await agent.change({ remove: [policy] });
    if (flows <= none.flows) throw new Error('a policy, and no flows');
    return flows - none.flows;
  };
  const [value, reference] = [await flowsOf(DUAL), await flowsOf(IPV4)];
  return [benchResult({ name: 'policy/dual-flows', value, unit: '', reference, rounds: 1 })];
};

const CHURN_RULES = 50;
const CHURN_ROUNDS = 2;
const CHURN_SECONDS = 10;
const BATCHES_PER_SECOND = 10;
const OF_BATCH = 10;

/** Processor time of ovn-controller while peers come and go, against the same addresses written straight into the same set. */
const ofChurn = async (cluster: OvnCluster, run: number, signal: AbortSignal): Promise<BenchResult> => {
  const { node, agent, settled } = cluster;
  await using resources = new AsyncDisposableStack();
  const raw = await openRawSets(cluster, resources);
  let next = 1000;
  const measure = async (change: (gone: number[], come: number[]) => Promise<unknown>): Promise<number> => {
    const pid = await node.pidOf('ovn-controller');
    let present = indexes(OF_BATCH).map(() => next++);
    await change([], present);
    await settled();
    const before = await cpuMilliseconds(pid);
    const start = performance.now();
    for (let batch = 0; batch < CHURN_SECONDS * BATCHES_PER_SECOND; batch++) {
      await delay(Math.max(0, start + (batch * 1000) / BATCHES_PER_SECOND - performance.now()), undefined, { signal });
      const come = indexes(OF_BATCH).map(() => next++);
      await change(present, come);
      present = come;
    }
    await settled();
    const used = (await cpuMilliseconds(pid)) - before;
    await change(present, []);
    return used;
  };
  const samples = await alternate(
    { rounds: CHURN_ROUNDS, run, warmUp: 1, signal },
    () => measure((gone, come) => agent.change({ remove: gone.map(peer), put: come.map(peer) })),
    () => measure((gone, come) => raw.change(gone.map(addressOfPeer), come.map(addressOfPeer))),
  );
  const [value, reference] = [median(samples.values), median(samples.references)];
  return benchResult({ name: 'policy/peer-churn', value, unit: 'ms', reference, rounds: CHURN_ROUNDS });
};

/** On the default network. */
const addressOfPeer = (number: number): string => podAddress(number, false);

/** The set that holds all peers, written by somebody who knows which it is: the default network has IPv4. */
const openRawSets = async ({ node }: OvnCluster, resources: AsyncDisposableStack) => {
  const session = new OvsdbSession({ database: 'OVN_Northbound', remotes: [northboundOf(node)] });
  resources.defer(() => session.close());
  session.start();
  await session.whenConnected();
  const columns = ['_uuid', 'addresses'];
  const [found] = await session.transact([{ op: 'select', table: 'Address_Set', where: [], columns }]);
  const sets = (found?.rows ?? []).filter((row) => setOf(row['addresses']).length >= PEERS);
  const [set] = sets;
  if (set === undefined || sets.length > 1) throw new Error(`${sets.length} sets of ${PEERS} addresses`);
  return {
    change: async (gone: readonly string[], come: readonly string[]): Promise<void> => {
      const operation: Operation = {
        op: 'mutate',
        table: 'Address_Set',
        where: [['_uuid', '==', set['_uuid'] as WireValue]],
        mutations: [
          ['addresses', 'delete', ['set', gone]],
          ['addresses', 'insert', ['set', come]],
        ],
      };
      await session.transact([operation]);
    },
  };
};

/** RFC 7047 section 5.1, <set>. */
const setOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) && value[0] === 'set' ? (value[1] as readonly unknown[]) : [value];
