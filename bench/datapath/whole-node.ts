/** A node of its own with the agent's parts on it, see `node-agent.ts`. */

import { NODE_PROGRAM } from '../../sandbox/machine/node-root.ts';
import { GATEWAY_BRIDGE } from '../../sandbox/plan/links.ts';
import { LineProcess } from '../line-process.ts';
import { type OvnNode, startOvnNode } from '../node/ovn-node.ts';
import { nodeProgram } from '../program.ts';
import type { BenchAgentSpec } from './agent.ts';
import type { Done } from './node-agent.ts';

export interface WholeNode extends AsyncDisposable {
  readonly node: OvnNode;
  /** Resolves when northd and ovn-controller have nothing left to do. */
  quiet(): Promise<void>;
  readonly networks: number;
  /** What the start took. */
  readonly started: Done;
  add(network: number): Promise<Done>;
  /** Of layer 2, without a pod. */
  addSecondary(network: number): Promise<Done>;
  remove(network: number): Promise<Done>;
  /** Resolves when the agent is done, whatever OVN still has to do. */
  setEndpoints(service: number, count: number): Promise<Done>;
  /** The agent ends, another one starts. */
  restart(): Promise<Done>;
}

export interface WholeNodeSpec extends BenchAgentSpec {
  readonly name: string;
  /**
   * Whether northd and ovn-controller work. Without them the patch ports of so many networks are there from the start, as
   * ovn-controller would have made them.
   */
  readonly withOvn: boolean;
  /** Networks beyond those of the start that will be added. */
  readonly spare: number;
  /** Before there are networks. */
  readonly prepare?: (node: OvnNode) => Promise<void>;
}

export const startWholeNode = async (spec: WholeNodeSpec, signal: AbortSignal): Promise<WholeNode> => {
  await using resources = new AsyncDisposableStack();
  const program = await nodeProgram('node-agent', 'bench/datapath/node-agent.ts');
  const node = resources.use(await startOvnNode(spec.name, signal));
  await node.run([
    'ovs-vsctl',
    'set',
    'Open_vSwitch',
    '.',
    `external_ids:ovn-bridge-mappings=physnet:${GATEWAY_BRIDGE}`,
  ]);
  await spec.prepare?.(node);
  if (!spec.withOvn) await standIn(node, spec);
  const [file, args] = node.enter([NODE_PROGRAM, program, JSON.stringify(agentSpec(spec))]);
  const start = async (): Promise<{ agent: LineProcess; done: Done }> => {
    const agent = new LineProcess('node-agent', file, args);
    return { agent, done: await answer(agent) };
  };
  let running = await start();
  resources.defer(() => running.agent[Symbol.asyncDispose]());
  const { done: started } = running;
  // ovn-nbctl(8)
  const quiet = async (): Promise<void> => {
    if (spec.withOvn) await node.run(['ovn-nbctl', '--wait=hv', 'sync'], { timeoutMs: QUIET_MS });
  };
  await quiet();
  const command = (line: string): Promise<Done> => {
    running.agent.write(`${line}\n`);
    return answer(running.agent);
  };
  const ask = async (line: string): Promise<Done> => {
    const done = await command(line);
    await quiet();
    return done;
  };
  const owner = resources.move();
  return {
    node,
    quiet,
    networks: spec.networks,
    started,
    add: (network) => ask(`add ${network}`),
    addSecondary: (network) => ask(`add-secondary ${network}`),
    remove: (network) => ask(`remove ${network}`),
    setEndpoints: (service, count) => command(`endpoints ${service} ${count}`),
    restart: async () => {
      await running.agent[Symbol.asyncDispose]();
      running = await start();
      return running.done;
    },
    [Symbol.asyncDispose]: () => owner.disposeAsync(),
  };
};

const agentSpec = ({ networks, used, networkRendering, services }: WholeNodeSpec): BenchAgentSpec => ({
  networks,
  ...(used !== undefined && { used }),
  ...(networkRendering !== undefined && { networkRendering }),
  ...(services !== undefined && { services }),
});

const QUIET_MS = 120_000;

const answer = async (agent: LineProcess): Promise<Done> => JSON.parse(await agent.line()) as Done;

const standIn = async (node: OvnNode, { networks, spare }: WholeNodeSpec): Promise<void> => {
  for (const program of ['northd', 'ovn-controller'] as const) await node.hold(program);
  const bridge = ['--may-exist', 'add-br', 'br-int', '--', 'set', 'Bridge', 'br-int'];
  await node.run(['ovs-vsctl', ...bridge, 'datapath_type=netdev', 'fail_mode=secure']);
  await addPatchPorts(node, networks + spare);
};

/** What an ovn-controller that stands still would make of OVS, for the default network and so many tenants. */
export const addPatchPorts = async (node: Pick<OvnNode, 'run'>, networks: number): Promise<void> => {
  const tenants = Array.from({ length: networks }, (_, index) => `tenant.${index + 1}_net_`);
  const ports = ['', ...tenants].flatMap((prefix) => patch(`${prefix}node-1`));
  for (let first = 0; first < ports.length; first += 200) {
    await node.run(['ovs-vsctl', '--no-wait', ...ports.slice(first, first + 200).flat()], { timeoutMs: 60_000 });
  }
};

/** Both ends, with the names that ovn-controller gives them. */
const patch = (suffix: string): string[][] => {
  const port = `${GATEWAY_BRIDGE}_${suffix}`;
  const [outer, inner] = [`patch-${port}-to-br-int`, `patch-br-int-to-${port}`];
  return [
    [
      '--',
      '--may-exist',
      'add-port',
      GATEWAY_BRIDGE,
      outer,
      '--',
      'set',
      'Interface',
      outer,
      'type=patch',
      `options:peer=${inner}`,
    ],
    [
      '--',
      '--may-exist',
      'add-port',
      'br-int',
      inner,
      '--',
      'set',
      'Interface',
      inner,
      'type=patch',
      `options:peer=${outer}`,
    ],
  ];
};
