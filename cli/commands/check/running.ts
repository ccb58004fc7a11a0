/** Whether the programs run, on every node, and what else of the cluster matters to them. */
import { z } from 'zod';
import { NODE_ANNOTATIONS } from '../../../api/names.ts';
import { messageOf } from '../../../base/error-message.ts';
import { DAEMON_SETS, DEPLOYMENTS, LEASES, NODES } from '../../../kube/resources.ts';
import type { KubeClient, KubeObject } from '../../../kube/types.ts';
import { AGENT, CLUSTER_MANAGER, OVN_DAEMONS, OVN_NAMESPACE } from './expectations.ts';
import { type Finding, failed, findingOf, resultOf, warning } from './finding.ts';
import { find } from './installed.ts';
import { causesOfPods } from './pod-causes.ts';

const count = z.number().default(0);
const selector = z.object({ matchLabels: z.record(z.string(), z.string()).default({}) }).prefault({});
const daemonSetSchema = z.object({
  metadata: z.object({ generation: count, namespace: z.string().default('') }),
  spec: z.object({ selector }).prefault({}),
  status: z
    .object({
      observedGeneration: count,
      desiredNumberScheduled: count,
      updatedNumberScheduled: count,
      numberReady: count,
    })
    .prefault({}),
});
const deploymentSchema = z.object({
  metadata: z.object({ generation: count, namespace: z.string().default('') }),
  spec: z.object({ replicas: z.number().default(1), selector }),
  status: z.object({ observedGeneration: count, updatedReplicas: count, availableReplicas: count }).prefault({}),
});

export const checkAgents = (client: KubeClient, namespace: string): Promise<Finding> =>
  findingOf(AGENT, async () => {
    const there = await find(client, DAEMON_SETS, { namespace, name: AGENT });
    if (there === undefined) return failed(AGENT, `the DaemonSet ${namespace}/${AGENT} does not exist`);
    return await rolledOut(client, AGENT, there, '/readyz of each gives the reasons');
  });

/** Of Open vSwitch and OVN, where the installation has brought them. */
export const checkOvn = async (client: KubeClient, namespace: string): Promise<Finding[]> =>
  (await Promise.all([namespace, OVN_NAMESPACE].map((one) => checkOvnIn(client, one)))).flat();

/** None where there is none: nodes may have their own. */
const checkOvnIn = async (client: KubeClient, namespace: string): Promise<Finding[]> => {
  try {
    const there = await find(client, DAEMON_SETS, { namespace, name: OVN_DAEMONS });
    if (there === undefined) return [];
    return [await rolledOut(client, OVN_DAEMONS, there, 'kubectl describe pod names the container')];
  } catch (error) {
    return [{ result: 'unknown', what: `${OVN_DAEMONS} in ${namespace}`, message: messageOf(error) }];
  }
};

/** @param whoKnows why pods are not ready, where their status has no cause */
const rolledOut = async (
  client: KubeClient,
  name: string,
  daemonSet: KubeObject,
  whoKnows: string,
): Promise<Finding> => {
  const { metadata, spec, status } = daemonSetSchema.parse(daemonSet);
  const { desiredNumberScheduled: desired, updatedNumberScheduled: updated, numberReady: ready } = status;
  const causes = ready < desired ? await causesOfPods(client, metadata.namespace, spec.selector.matchLabels) : [];
  return resultOf(`${name}, on ${desired} nodes`, [
    ...(status.observedGeneration < metadata.generation ? ['it has not been rolled out yet'] : []),
    ...(desired === 0 ? ['it selects no node'] : []),
    ...(updated < desired ? [`${desired - updated} of ${desired} pods run an older version`] : []),
    ...(ready < desired
      ? [`${desired - ready} of ${desired} pods are not ready: ${causes.join(', ') || whoKnows}`]
      : []),
  ]);
};

export const checkClusterManager = (client: KubeClient, namespace: string): Promise<Finding> =>
  findingOf(CLUSTER_MANAGER, async () => {
    const there = await find(client, DEPLOYMENTS, { namespace, name: CLUSTER_MANAGER });
    if (there === undefined)
      return failed(CLUSTER_MANAGER, `the Deployment ${namespace}/${CLUSTER_MANAGER} does not exist`);
    const { metadata, spec, status } = deploymentSchema.parse(there);
    const { replicas, selector: pods } = spec;
    const missing = replicas - status.availableReplicas;
    const causes = missing > 0 ? await causesOfPods(client, namespace, pods.matchLabels) : [];
    return resultOf(`${CLUSTER_MANAGER}, ${replicas} of them`, [
      ...(status.observedGeneration < metadata.generation ? ['it has not been rolled out yet'] : []),
      ...(status.updatedReplicas < replicas ? [`${replicas - status.updatedReplicas} run an older version`] : []),
      ...(missing > 0 ? [[`${missing} are not available`, ...causes].join(': ')] : []),
    ]);
  });

const leaseSchema = z.object({
  spec: z.object({
    holderIdentity: z.string().nullish(),
    renewTime: z.string().nullish(),
    leaseDurationSeconds: count,
  }),
});

/** @param now milliseconds since 1970 */
export const checkLeader = (client: KubeClient, namespace: string, now: number): Promise<Finding> =>
  findingOf('leader', async () => {
    const there = await find(client, LEASES, { namespace, name: CLUSTER_MANAGER });
    if (there === undefined) return failed('leader', `the Lease ${namespace}/${CLUSTER_MANAGER} has never been held`);
    const { holderIdentity, renewTime, leaseDurationSeconds } = leaseSchema.parse(there).spec;
    if (!holderIdentity) return failed('leader', 'the Lease has no holder: no network ids or addresses are allocated');
    const silentMs = now - Date.parse(renewTime ?? '');
    const isStale = !(silentMs <= leaseDurationSeconds * 1000 + CLOCK_SKEW_MS);
    return resultOf(`leader, ${holderIdentity}`, isStale ? [`it last renewed its Lease at ${renewTime}`] : []);
  });

/** Between this machine and theirs. */
const CLOCK_SKEW_MS = 30_000;

/** What each agent says of its node as soon as it runs, and what the cluster manager gives every node. */
export const checkNodes = (client: KubeClient): Promise<Finding> =>
  findingOf('nodes', async () => {
    const nodes = await allNodes(client);
    const without = (annotation: string): string[] =>
      nodes
        .filter(({ metadata }) => metadata.annotations?.[annotation] === undefined)
        .map(({ metadata }) => metadata.name);
    return resultOf(`nodes, ${nodes.length} of them`, [
      ...faultOf('no agent has reported a chassis id', without(NODE_ANNOTATIONS.chassisId)),
      ...faultOf('no subnets allocated', without(NODE_ANNOTATIONS.subnets)),
    ]);
  });

const faultOf = (what: string, nodes: readonly string[]): string[] => {
  if (nodes.length === 0) return [];
  const named = nodes.slice(0, NAMED).join(', ');
  return [`${what}: ${named}${nodes.length > NAMED ? ` and ${nodes.length - NAMED} more` : ''}`];
};
const NAMED = 5;

const allNodes = async (client: KubeClient): Promise<KubeObject[]> => {
  const nodes: KubeObject[] = [];
  for (let next: string | undefined; ; ) {
    const page = await client.list(NODES, { limit: 500, continue: next });
    nodes.push(...page.items);
    next = page.continue;
    if (next === undefined || next === '') return nodes;
  }
};

const UNDER_MULTUS =
  'Multus calls for each network: its default network must be the configuration that udn-agent installs, and --multi-network of the agents delegated; udnctl problems names the nodes where they disagree';

/** By the beginning of the name of its DaemonSet. */
const OTHERS: Readonly<Record<string, string>> = {
  'calico-node': 'another network plugin: remove it before pods are created, a cluster runs one',
  cilium: 'another network plugin: remove it before pods are created, a cluster runs one',
  kindnet: 'another network plugin: remove it before pods are created, a cluster runs one',
  'kube-flannel': 'another network plugin: remove it before pods are created, a cluster runs one',
  'kube-router': 'another network plugin: remove it before pods are created, a cluster runs one',
  'ovnkube-node': 'ovn-kubernetes: remove it first; networks and their ids carry over',
  'kube-multus': UNDER_MULTUS,
  multus: UNDER_MULTUS,
};

export const checkOthers = (client: KubeClient): Promise<Finding[]> =>
  client.list(DAEMON_SETS).then(
    ({ items }) => othersAmong(items.map(({ metadata }) => metadata.name)),
    (error: unknown) => [
      {
        result: 'unknown',
        what: 'other network programs',
        message: messageOf(error),
      },
    ],
  );

const othersAmong = (names: readonly string[]): Finding[] =>
  names.flatMap((name) => {
    const known = Object.keys(OTHERS).find((one) => name === one || name.startsWith(`${one}-`));
    return known === undefined ? [] : [warning(name, OTHERS[known] ?? '')];
  });
