/**
 * Compares what the nodes of a cluster have with what the pods that are alive should have: OVS ports, links, switch ports
 * of every zone, their bindings, network namespaces with their addresses, sandboxes, and the agent's own view.
 */
import { z } from 'zod';
import { type PodNetworkEntry, type PodNetworks, parsePodNetworks } from '../../../../api/annotations/pod-networks.ts';
import { DEFAULT_NETWORK_NAME, nadPrefix, POD_ANNOTATIONS } from '../../../../api/names.ts';
import { examineCluster } from '../../../../cli/commands/cluster-doctor.ts';
import { recordOr } from '../../../../kube/is-record.ts';
import type { KubeObject } from '../../../../kube/types.ts';
import type { Sandbox } from '../../../../sandbox/index.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';
import { networkRendering } from '../cluster/cluster.ts';
import { idsOf, isOurs, isPodPort, type NodeState, type Row, readNodeState, rowsOf } from '../state/node-state.ts';

/** The marks of links that are ours. */
const LINK_GROUPS = ['7693422', '7693423'];
const ALIAS_PREFIX = 'ovn-udn:';

/** @throws Error with one message per difference that is still there after `timeoutMs` */
export const untilNothingLeaks = (sandbox: Sandbox, timeoutMs = 20_000): Promise<void> =>
  eventually(async () => {
    const found = await findLeaks(sandbox);
    if (found.length > 0) throw new Error(`${found.length} differences:\n${found.join('\n')}`);
  }, timeoutMs);

/** What is there and should not be, or is not there and should be: one message each. */
export const findLeaks = async (sandbox: Sandbox): Promise<string[]> => {
  const objects = await sandbox.objects();
  const { nodes } = await sandbox.status();
  const pods = (await objects.list('pods')).flatMap(alivePod);
  const perNode = nodes.map(async ({ name }) => {
    const [state, agent] = await Promise.all([readNodeState(sandbox, name), readAgentPods(sandbox, name)]);
    return differences(pods, state, agent).map((message) => `${name}: ${message}`);
  });
  return [...duplicateAddresses(pods), ...(await Promise.all(perNode)).flat(), ...(await inconsistencies(sandbox))];
};

/** What `udnctl doctor --cluster` says is wrong with what was given out. */
const inconsistencies = async (sandbox: Sandbox): Promise<readonly string[]> => {
  const { lines, exitStatus } = await examineCluster(await sandbox.client(), Date.now());
  return exitStatus === 0 ? [] : lines;
};

export interface AlivePod {
  readonly key: string;
  readonly uid: string;
  readonly node: string;
  readonly isRunning: boolean;
  readonly networks: PodNetworks;
}

/** A pod that has not ended, unless it is on the host's network. */
const alivePod = ({ metadata, spec, status }: KubeObject): AlivePod[] => {
  const key = `${metadata.namespace}/${metadata.name}`;
  const { nodeName, hostNetwork } = recordOr(spec);
  const { phase } = recordOr(status);
  if (hostNetwork === true || phase === 'Succeeded' || phase === 'Failed') return [];
  const text = metadata.annotations?.[POD_ANNOTATIONS.networks];
  const networks = text === undefined ? new Map() : parsePodNetworks(text, key);
  return [{ key, uid: metadata.uid, node: String(nodeName), isRunning: phase === 'Running', networks }];
};

const differences = (pods: readonly AlivePod[], state: NodeState, agent: readonly AgentPod[]): string[] => {
  const local = pods.filter(({ node }) => node === state.node);
  const running = local.filter(({ isRunning }) => isRunning);
  return [
    ...comparePorts(running, state),
    ...compareLinks(running, state),
    ...compareSwitchPorts(pods, state),
    ...compareNamespaces(local, state),
    ...compareAgent(local, agent),
  ];
};

/** A port of every interface of every running pod, by its logical port, with the pod's UID and current sandbox. */
const comparePorts = (running: readonly AlivePod[], { openvswitch, sandboxes }: NodeState): string[] => {
  const sandboxOf = new Map(sandboxes.map(({ uid, id }) => [uid, id]));
  const desired = running.flatMap((pod) =>
    portNames(pod).map((name) => `${name} of pod ${pod.uid} in sandbox ${sandboxOf.get(pod.uid)}, installed`),
  );
  const interfaces = rowsOf(openvswitch, 'Interface').filter(isPodPort);
  const ports = rowsOf(openvswitch, 'Port').filter(isPodPort);
  const there = interfaces.map((row) => {
    const ids = idsOf(row);
    const installed = ids['ovn-installed'] === 'true' ? 'installed' : 'not installed';
    return `${ids['iface-id']} of pod ${ids['iface-id-ver']} in sandbox ${ids['sandbox']}, ${installed}`;
  });
  const broken = interfaces
    .filter((row) => typeof row['error'] === 'string')
    .map((row) => `${row['name']}: ${row['error']}`);
  const names = (rows: readonly Row[]): string[] => rows.map((row) => String(row['name']));
  return [
    ...compare('OVS interface', desired, there),
    ...compare('OVS port', names(interfaces), names(ports)),
    ...broken.map((text) => `OVS interface ${text}`),
  ];
};

/** Links that are ours are the interfaces of ports, and the other way round. */
const compareLinks = (running: readonly AlivePod[], { links, openvswitch }: NodeState): string[] => {
  const ours = links.filter(
    ({ group, alias }) => LINK_GROUPS.includes(group) || alias?.startsWith(ALIAS_PREFIX) === true,
  );
  const plugged = rowsOf(openvswitch, 'Interface')
    .filter(isPodPort)
    .map((row) => String(row['name']));
  const uids = new Set(running.map(({ uid }) => uid));
  const strange = ours.filter(({ alias }) => !uids.has(alias?.split(':').at(-1) ?? ''));
  return [
    ...compare(
      'link',
      plugged,
      ours.map(({ name }) => name),
    ),
    ...strange.map(({ name, alias }) => `link ${name} is of no running pod: ${alias}`),
  ];
};

/** Of this node's pods on every network, and of all pods on layer-2 networks that the node has; a binding for each. */
const compareSwitchPorts = (pods: readonly AlivePod[], { node, northbound, bindings }: NodeState): string[] => {
  const used = new Set(pods.filter((pod) => pod.node === node).flatMap(({ networks }) => [...networks.keys()]));
  const isHere = (nad: string): boolean => networkRendering() !== 'on-demand' || used.has(nad);
  const desired = pods.flatMap((pod) =>
    portNames(pod, (nad, { tunnelId }) => pod.node === node || (tunnelId !== undefined && isHere(nad))),
  );
  const rows = rowsOf(northbound, 'Logical_Switch_Port').filter((row) => isOurs(row) && idsOf(row)['pod'] === 'true');
  const inSwitches = new Set(rowsOf(northbound, 'Logical_Switch').flatMap((row) => [row['ports']].flat()));
  const there = rows.map((row) => String(row['name']));
  const bound = bindings.filter((row) => idsOf(row)['pod'] === 'true' && isOurs(row));
  return [
    ...compare('switch port', desired, there),
    ...compare(
      'port binding',
      there,
      bound.map((row) => String(row['logical_port'])),
    ),
    ...rows.filter((row) => !inSwitches.has(row['_uuid'])).map((row) => `${row['name']} is in no switch`),
  ];
};

/** A namespace per sandbox, one sandbox per pod, and in a running pod exactly what its annotation says. */
const compareNamespaces = (local: readonly AlivePod[], { namespaces, sandboxes }: NodeState): string[] => {
  const pods = new Map(local.map((pod) => [pod.uid, pod]));
  // One that does not run may be between two tries.
  const haveSandbox = local
    .filter(({ uid, isRunning }) => isRunning || sandboxes.some((one) => one.uid === uid))
    .map(({ uid }) => uid);
  const inside = sandboxes.flatMap(({ uid, netns = '' }) => {
    const pod = pods.get(uid);
    if (pod?.isRunning !== true) return [];
    const desired = [...pod.networks].map(([nad, { mac, ipAddresses }]) => {
      const name = nad === DEFAULT_NETWORK_NAME ? 'eth0' : 'ovn-udn1';
      return `${name} ${mac} ${[...ipAddresses].sort().join(' ')}`;
    });
    const there = (namespaces.get(netns) ?? [])
      .filter(({ name }) => name !== 'lo')
      .map(({ name, mac, addresses }) => `${name} ${mac} ${[...addresses].sort().join(' ')}`);
    return compare(`interface in pod ${pod.key}`, desired, there);
  });
  return [
    ...compare(
      'network namespace',
      sandboxes.map(({ netns }) => netns ?? ''),
      [...namespaces.keys()],
    ),
    ...compare(
      'sandbox of pod',
      haveSandbox,
      sandboxes.map(({ uid }) => uid),
    ),
    ...inside,
  ];
};

const compareAgent = (local: readonly AlivePod[], agent: readonly AgentPod[]): string[] => {
  const desired = local.map(({ key, uid, isRunning }) => `${key} ${uid} ${isRunning ? 'ready' : 'not running'}`);
  const running = new Set(local.filter(({ isRunning }) => isRunning).map(({ uid }) => uid));
  const there = agent.map(
    ({ namespace, name, uid, state }) => `${namespace}/${name} ${uid} ${running.has(uid) ? state : 'not running'}`,
  );
  return compare('agent’s view: pod', desired, there);
};

const duplicateAddresses = (pods: readonly AlivePod[]): string[] => {
  const holders = Map.groupBy(
    pods.flatMap((pod) =>
      [...pod.networks].flatMap(([nad, { ipAddresses }]) =>
        ipAddresses.map((ip) => ({ pod: pod.key, on: `${nad} ${ip}` })),
      ),
    ),
    ({ on }) => on,
  );
  return [...holders]
    .filter(([, found]) => found.length > 1)
    .map(([on, found]) => `${on} is an address of ${found.map(({ pod }) => pod).join(' and ')}`);
};

/** @param which of its attachments; those on layer 2 have a tunnel id, and are in every zone that has the network */
const portNames = (
  { key, networks }: AlivePod,
  which: (nad: string, entry: PodNetworkEntry) => boolean = () => true,
): string[] =>
  [...networks].filter(([nad, entry]) => which(nad, entry)).map(([nad]) => `${nadPrefix(nad)}${key.replace('/', '_')}`);

/** As multisets. */
const compare = (what: string, desired: readonly string[], there: readonly string[]): string[] => [
  ...without(desired, there).map((one) => `${what} ${one} is missing`),
  ...without(there, desired).map((one) => `${what} ${one} is too many`),
];

const without = (all: readonly string[], less: readonly string[]): string[] => {
  const left = [...less];
  return all.filter((one) => {
    const index = left.indexOf(one);
    if (index >= 0) left.splice(index, 1);
    return index < 0;
  });
};

const agentPodSchema = z.object({ namespace: z.string(), name: z.string(), uid: z.string(), state: z.string() });
type AgentPod = z.output<typeof agentPodSchema>;

const readAgentPods = async (sandbox: Pick<Sandbox, 'node'>, node: string): Promise<AgentPod[]> => {
  const { stdout } = await sandbox.node(node, ['udnctl', 'pods', '-o', 'json']);
  return z.array(agentPodSchema).parse(JSON.parse(stdout));
};
