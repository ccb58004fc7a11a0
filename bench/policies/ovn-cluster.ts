/** A node where northd and ovn-controller are at work, with an agent between objects and their northbound database. */
import type { KubeObject } from '../../kube/types.ts';
import { connectController, northboundOf } from '../node/connect-controller.ts';
import { type OvnNode, startOvnNode } from '../node/ovn-node.ts';
import { temporaryFolder } from '../render/northbound-server.ts';
import { type PolicyAgent, startPolicyAgent, writeObjects } from './policy-agent.ts';

export interface OvnCluster extends AsyncDisposable {
  readonly node: OvnNode;
  readonly agent: PolicyAgent;
  /** Resolves when br-int has what is in the northbound database. */
  settled(): Promise<void>;
  /** What is there when all has settled. */
  observe(): Promise<Observed>;
}

export interface Observed {
  readonly acls: number;
  /** Of br-int. */
  readonly flows: number;
}

/** @param ports the logical ports that get an interface on the node */
export const startOvnCluster = async (
  name: string,
  objects: readonly KubeObject[],
  ports: readonly Port[],
  signal: AbortSignal,
): Promise<OvnCluster> => {
  await using resources = new AsyncDisposableStack();
  const node = resources.use(await startOvnNode(name, signal));
  await connectController(node);
  const folder = await temporaryFolder(resources);
  const path = await writeObjects(folder, 'objects', objects);
  const agent = resources.use(await startPolicyAgent({ objects: path, remote: northboundOf(node) }));
  await addPorts(node, ports);
  // ovn-nbctl(8)
  const settled = async (): Promise<void> => {
    await node.run(['ovn-nbctl', '--wait=hv', 'sync'], { timeoutMs: WAIT_MS });
  };
  const observe = async (): Promise<Observed> => {
    // Once more: what northd wrote in several transactions, it counted with the first.
    await settled();
    await settled();
    const acls = await node.run(['ovn-nbctl', '--no-headings', '--format=csv', '--columns=_uuid', 'list', 'ACL']);
    const aggregate = await node.run(['ovs-ofctl', 'dump-aggregate', 'br-int']);
    return {
      acls: acls.split('\n').filter((line) => line !== '').length,
      flows: Number(/flow_count=(\d+)/.exec(aggregate)?.[1]),
    };
  };
  await settled();
  await requireBound(node, ports.length);
  const owner = resources.move();
  return { node, agent, settled, observe, [Symbol.asyncDispose]: () => owner.disposeAsync() };
};

const WAIT_MS = 120_000;

/** `bench0` and so on, in the order of the ports. */
export const addPorts = async (node: OvnNode, ports: readonly Port[]): Promise<void> => {
  await node.run(['ovs-vsctl', ...ports.flatMap(addPort)], { timeoutMs: WAIT_MS });
};

export interface Port {
  readonly name: string;
  /** Of the pod. */
  readonly uid: string;
}

/** The interface that ovn-controller binds the port by: ovn-architecture(7), "Life Cycle of a VIF"; `iface-id-ver` in ovn-nb(5). */
const addPort = ({ name, uid }: Port, index: number): string[] => [
  ...['--', 'add-port', 'br-int', `bench${index}`, '--', 'set', 'Interface', `bench${index}`, 'type=internal'],
  `external_ids:iface-id=${name}`,
  `external_ids:iface-id-ver=${uid}`,
];

/** @throws Error when one of so many ports is not bound */
export const requireBound = async (node: OvnNode, ports: number): Promise<void> => {
  const find = ['--no-headings', '--format=csv', '--columns=name', 'find', 'Interface'];
  const bound = await node.run(['ovs-vsctl', ...find, 'external_ids:ovn-installed=true']);
  const count = bound.split('\n').filter((line) => line.startsWith('bench')).length;
  if (count !== ports) throw new Error(`${count} of ${ports} ports are bound`);
};
