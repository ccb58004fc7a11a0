/**
 * Adds pods to a node in the ways that are compared. The pod's network namespace is new and OVN has nothing left to do:
 * - `product`: the shim and the agent; the pod is in the API with its addresses, its ports are in the northbound database.
 * - `floor`: one process that writes these ports as well; the pod is its own, its ports are not there before.
 * - `strict`: the same process with a pod whose ports are there before, as for `product`.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Plumbing, plumbingOf } from '../../agent/cni/plumbing.ts';
import type { PodAttachments } from '../../agent/model/attachments.ts';
import { findArtifacts } from '../../sandbox/artifacts.ts';
import { parseNetworkConf } from '../../sandbox/kubelet/cni/conf.ts';
import { attachmentEnvironment, pluginInput } from '../../sandbox/kubelet/cni/request.ts';
import { nativeProgram } from '../native.ts';
import { type BenchNode, CNI_CONF_PATH } from '../node/bench-node.ts';
import { type NodeView, openNodeView, type RenderedPod } from '../node/node-view.ts';
import { type Run, Stopwatch } from '../stopwatch.ts';
import { Floor } from './floor.ts';
import { portOperations } from './floor-pods.ts';
import { type FloorWork, floorScript } from './floor-script.ts';

const execFileAsync = promisify(execFile);

type Way = 'product' | 'strict';

interface Sandboxed {
  readonly pod: PodAttachments;
  readonly containerId: string;
  readonly netns: string;
}

export class CniRig implements AsyncDisposable {
  readonly view: NodeView;
  readonly #node: BenchNode;
  readonly #stopwatch: Stopwatch;
  readonly #floor: Floor;
  readonly #config: string;
  readonly #firstIndex: number;
  readonly #resources: AsyncDisposableStack;

  private constructor(parts: {
    view: NodeView;
    node: BenchNode;
    stopwatch: Stopwatch;
    floor: Floor;
    config: string;
    firstIndex: number;
    resources: AsyncDisposableStack;
  }) {
    this.view = parts.view;
    this.#node = parts.node;
    this.#stopwatch = parts.stopwatch;
    this.#floor = parts.floor;
    this.#config = parts.config;
    this.#firstIndex = parts.firstIndex;
    this.#resources = parts.resources;
  }

  static async open(node: BenchNode): Promise<CniRig> {
    await using resources = new AsyncDisposableStack();
    const folder = await mkdtemp(join(tmpdir(), 'bench-cni-'));
    resources.defer(() => rm(folder, { recursive: true, force: true }));
    const config = join(folder, 'network.conf');
    const network = parseNetworkConf(await node.run(['cat', CNI_CONF_PATH]), CNI_CONF_PATH);
    await writeFile(config, network.plugins.map((plugin) => pluginInput(network, plugin)).join(''));
    const view = resources.use(await openNodeView(node));
    const stopwatch = resources.use(new Stopwatch());
    const floor = resources.use(await Floor.start(node));
    const firstIndex = await firstLinkIndex(node);
    return new CniRig({ view, node, stopwatch, floor, config, firstIndex, resources: resources.move() });
  }

  /**
   * Adds pods at once and takes them away again, which is not measured.
   * @returns milliseconds until the last one is there
   */
  measure(way: Way, pods: readonly PodAttachments[]): Promise<number> {
    return this.#whileAdded(pods, (sandboxes) =>
      way === 'product'
        ? this.#addByShim(sandboxes)
        : this.#addByFloor(sandboxes.map((one) => ({ plumbing: plumbingIn(one), northbound: [] }))),
    );
  }

  /**
   * Adds pods of the floor's own, with the northbound rows of each, and takes them away again, which is not measured.
   * @returns milliseconds until the last one is there
   */
  measureFloor(pods: readonly RenderedPod[]): Promise<number> {
    const operations = pods.map(({ fragments }) => portOperations(fragments));
    const add = (sandboxes: readonly Sandboxed[]): Promise<number> =>
      this.#addByFloor(
        sandboxes.map((one, index) => ({ plumbing: plumbingIn(one), northbound: operations[index] ?? [] })),
      );
    const attachments = pods.map((pod) => pod.attachments);
    return this.#whileAdded(attachments, add, () => this.view.removePorts(attachments));
  }

  /** The largest resident set of the shim while it adds a pod. */
  shimRssKib(pod: PodAttachments): Promise<number> {
    return this.#whileAdded([pod], async (sandboxes) => {
      const peaks = await Promise.all(sandboxes.map((one) => peakKib(this.#shim('ADD', one))));
      return Math.max(...peaks);
    });
  }

  /** New namespaces for the pods, and what `add` does undone, all of it settled. */
  async #whileAdded<T>(
    pods: readonly PodAttachments[],
    add: (sandboxes: readonly Sandboxed[]) => Promise<T>,
    cleanUp: () => Promise<void> = () => Promise.resolve(),
  ): Promise<T> {
    const sandboxes = pods.map((pod) => {
      const containerId = randomBytes(32).toString('hex');
      return { pod, containerId, netns: `/run/netns/${containerId.slice(0, 12)}` };
    });
    await this.#namespaces('add', sandboxes);
    const result = await add(sandboxes);
    await Promise.all(pods.map((pod) => this.view.bound(pod, true)));
    await this.#stopwatch.timeAll(sandboxes.map((one) => this.#shim('DEL', one)));
    await this.#namespaces('del', sandboxes);
    await Promise.all(pods.map((pod) => this.view.bound(pod, false)));
    await cleanUp();
    await this.view.settled();
    return result;
  }

  /** A call of the shim, as a container runtime makes it. */
  #shim(command: 'ADD' | 'DEL', { pod: { pod }, containerId, netns }: Sandboxed): Run {
    const attachment = { containerId, netns, ifName: 'eth0', pod };
    return {
      file: findArtifacts().shim,
      stdin: this.#config,
      env: {
        ...attachmentEnvironment(command, attachment),
        UDN_CNI_SOCKET: this.#node.pathOf('/run/ovn-udn/cni.sock'),
      },
    };
  }

  async #addByShim(sandboxes: readonly Sandboxed[]): Promise<number> {
    const { runs, milliseconds } = await this.#stopwatch.timeAll(sandboxes.map((one) => this.#shim('ADD', one)));
    return runs.length === 1 ? (runs[0]?.milliseconds ?? 0) : milliseconds;
  }

  #addByFloor(works: readonly FloorWork[]): Promise<number> {
    return this.#floor.play(floorScript(works, this.#firstIndex));
  }

  async #namespaces(verb: 'add' | 'del', sandboxes: readonly Sandboxed[]): Promise<void> {
    const lines = sandboxes.map(({ netns }) => `netns ${verb} ${netns.split('/').at(-1)}\n`);
    await this.#node.run(['ip', '-batch', '-'], { input: lines.join('') });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#resources.disposeAsync();
  }
}

const peakKib = async ({ file, stdin, env }: Run): Promise<number> => {
  const variables = Object.entries(env).map((entry) => entry.join('='));
  const { stdout } = await execFileAsync(nativeProgram('peak'), [file, stdin, ...variables]);
  return Number(stdout);
};

const plumbingIn = ({ pod, containerId, netns }: Sandboxed): Plumbing =>
  plumbingOf(pod, { id: containerId, netns }, { txChecksum: false });

/** Of a link that is made in a new namespace: kernels differ in what they put there themselves. */
const firstLinkIndex = async (node: BenchNode): Promise<number> => {
  const name = 'bench-index';
  await node.run(['ip', 'netns', 'add', name]);
  const links = await node.run(['ip', '-n', name, '-o', 'link']);
  await node.run(['ip', 'netns', 'del', name]);
  return 1 + Math.max(...links.split('\n').map((line) => Number.parseInt(line, 10) || 0));
};
