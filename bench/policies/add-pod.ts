/** CNI ADD of a pod that many policies select, against a pod on the same network that none selects. */
import type { PodAttachments } from '../../agent/model/attachments.ts';
import { parseNodeSubnets } from '../../api/annotations/node-subnets.ts';
import { NODE_ANNOTATIONS, POD_ANNOTATIONS } from '../../api/names.ts';
import { NETWORK_POLICIES, NODES, PODS } from '../../kube/resources.ts';
import { addressAt, type Cidr, prefixLength } from '../../net/cidr.ts';
import { ipFamily } from '../../net/ip.ts';
import { macFromIp } from '../../net/mac.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { takeTurns } from '../alternate.ts';
import { type CniNode, makeAll, startCniNode } from '../cni/cni-node.ts';
import { ofRing } from '../cni/ring.ts';
import type { BenchContext } from '../context.ts';
import { type Made, otherNode, otherNodeName, pod, tenantName } from '../node/workload.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { median } from '../statistics.ts';
import { indexes } from './objects.ts';

const POLICIES = 20;
const PEERS = 500;
/** A node has 253 addresses of the network. */
const PEER_NODES = [1, 2];
const PODS_OF_EACH = 10;
const ROUNDS = 20;
const WARM_UP = 4;
const PEERS_MS = 60_000;

export const ADD_NAMES = [
  'policy/add-in-20',
  'policy/add-in-20-considered',
  'policy/add-in-20-considered-vs-one',
] as const;

/** Also against a pod in one policy, which is isolated as well. Each policy has a port and a set of peers of its own. What ovn-controller considers is counted from before ADD until after DEL. */
export const benchAddInPolicies = async ({ signal, progress, eachRun }: BenchContext): Promise<BenchResult[]> => {
  progress(`policy/add-in-20: ${ROUNDS} pods each way`);
  const name = `bench-policy-add-${process.pid}`;
  const spec = { name, tenants: 1, tenantsElsewhere: 0, plainPods: 0, tenantPods: PODS_OF_EACH };
  await using cni = await startCniNode(spec, signal);
  await makeAll(cni.node.client, [PEER_NODES.map(otherNode)]);
  const subnets = await Promise.all(PEER_NODES.map((node) => eventually(() => subnetsOf(cni, node), PEERS_MS)));
  const objects = [...peers(subnets), ...policies(), ...selected(IN_ALL), ...selected(IN_ONE)];
  await makeAll(cni.node.client, objects);
  const prepared = (made: readonly (readonly Made[])[]): Promise<PodAttachments[]> =>
    Promise.all(made.flat().map(({ object }) => cni.rig.view.prepared(`${tenantName(1)}/${object.metadata?.name}`)));
  const [inAll, inOne] = [await prepared(selected(IN_ALL)), await prepared(selected(IN_ONE))];
  // Peers are written after pods.
  await eventually(() => requirePeers(cni), PEERS_MS);
  return await eachRun(async (run) =>
    resultsOf(
      await takeTurns<Way, Added>(
        { rounds: ROUNDS, run, warmUp: WARM_UP, signal },
        {
          all: (round) => addOne(cni, inAll, round),
          one: (round) => addOne(cni, inOne, round),
          none: (round) => addOne(cni, cni.tenantPods, round),
        },
      ),
    ),
  );
};

/** By the policies that select the pod. */
type Way = 'all' | 'one' | 'none';

interface Added {
  readonly ms: number;
  readonly considered: number;
}

const resultsOf = ({ all, one, none }: Record<Way, Added[]>): BenchResult[] => {
  const result = (name: string, unit: string, part: keyof Added, than: readonly Added[]): BenchResult => {
    const [value, reference] = [median(all.map((added) => added[part])), median(than.map((added) => added[part]))];
    return benchResult({ name, value, unit, reference, rounds: ROUNDS });
  };
  const [time, considered, versusOne] = ADD_NAMES;
  return [
    result(time, 'ms', 'ms', none),
    result(considered, '', 'considered', none),
    result(versusOne, '', 'considered', one),
  ];
};

const addOne = async (cni: CniNode, pods: readonly PodAttachments[], round: number): Promise<Added> => {
  const one = ofRing(pods, round);
  const before = await considered(cni);
  const ms = await cni.rig.measure('product', [one]);
  return { ms, considered: (await considered(cni)) - before };
};

/** Logical flows that ovn-controller has looked at since its start. */
const considered = async ({ node }: CniNode): Promise<number> => {
  const counter = ['coverage/read-counter', 'consider_logical_flow'];
  return Number(await node.run(['ovn-appctl', '-t', 'ovn-controller', ...counter]));
};

/** @throws Error when policies do not have what is measured */
const requirePeers = async ({ node }: CniNode): Promise<void> => {
  await node.run(['ovn-nbctl', '--wait=hv', '--timeout=100', 'sync'], { timeoutMs: 110_000 });
  const list = ['--no-headings', '--format=csv', '--columns=addresses', 'list', 'Address_Set'];
  const sets = (await node.run(['ovn-nbctl', ...list])).split('\n');
  const large = sets.filter((addresses) => addresses.split(/[ ,]+/).length >= PEERS).length;
  // Of each family.
  if (large !== 2 * POLICIES) throw new Error(`${large} sets of ${PEERS} peers`);
};

const labelOf = (policy: number): string => `peer-of-${policy}`;
const IN_ALL = 'in-all';
const IN_ONE = 'in-one';

const selected = (by: string): Made[][] =>
  indexes(PODS_OF_EACH).map((index) => {
    const { resource, object } = pod(tenantName(1), `${by}-${index}`);
    return [{ resource, object: { ...object, metadata: { ...object.metadata, labels: { selected: by } } } }];
  });

/** What a node has of the tenant's network. @throws Error while it has nothing */
const subnetsOf = async ({ node: { client } }: CniNode, index: number): Promise<readonly Cidr[]> => {
  const { metadata } = await client.get(NODES, { name: otherNodeName(index) });
  const text = metadata.annotations?.[NODE_ANNOTATIONS.subnets] ?? '{}';
  const found = parseNodeSubnets(text, otherNodeName(index)).get(`${tenantName(1)}_net`) ?? [];
  if (found.length < 2) throw new Error(`${otherNodeName(index)} has no subnets`);
  return found;
};

/** On nodes whose agents have given them addresses of their subnets: with others they are no peers. */
const peers = (subnets: readonly (readonly Cidr[])[]): Made[][] =>
  indexes(PEERS).map((index) => {
    const node = index % PEER_NODES.length;
    const offset = 3 + Math.floor(index / PEER_NODES.length);
    const ips = (subnets[node] ?? []).map((cidr) => ({ cidr, ip: addressAt(cidr, offset) }));
    const entry = {
      ip_addresses: ips.map(({ cidr, ip }) => `${ip}/${prefixLength(cidr)}`),
      mac_address: ips.flatMap(({ ip }) => (ipFamily(ip) === 4 ? [macFromIp(ip)] : []))[0],
      gateway_ips: ips.map(({ cidr }) => addressAt(cidr, 1)),
      role: 'primary',
    };
    const annotations = { [POD_ANNOTATIONS.networks]: JSON.stringify({ [`${tenantName(1)}/net`]: entry }) };
    const labels = Object.fromEntries(indexes(POLICIES).map((policy) => [labelOf(policy), '']));
    const metadata = { namespace: tenantName(1), name: `peer-${index}`, labels, annotations };
    const spec = { nodeName: otherNodeName(PEER_NODES[node] ?? 1), containers: [{ name: 'main', image: 'toolbox' }] };
    return [{ resource: PODS, object: { metadata, spec } }];
  });

const policies = (): Made[][] => [
  ...indexes(POLICIES).map((policy) => policyOf(IN_ALL, policy)),
  policyOf(IN_ONE, POLICIES - 1),
];

const policyOf = (pods: string, policy: number): Made[] => {
  const from = [{ podSelector: { matchLabels: { [labelOf(policy)]: '' } } }];
  const spec = {
    podSelector: { matchLabels: { selected: pods } },
    policyTypes: ['Ingress'],
    ingress: [{ from, ports: [{ port: 8000 + policy }] }],
  };
  const metadata = { namespace: tenantName(1), name: `${pods}-${policy}` };
  return [{ resource: NETWORK_POLICIES, object: { metadata, spec } }];
};
