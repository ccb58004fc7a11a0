/**
 * Brings one pod, by its uid, to what its spec says: sandbox, containers, status; and takes it away when it is deleted.
 * One step at a time; whatever happens meanwhile makes another round.
 */
import { backoffMs } from '../../base/backoff.ts';
import { messageOf } from '../../base/error-message.ts';
import { isConflict, isNotFound, isReplaced } from '../../kube/errors.ts';
import type { EventRecorder } from '../../kube/events/types.ts';
import { PODS } from '../../kube/resources.ts';
import type { KubeClient, ObjectRef } from '../../kube/types.ts';
import { unlessReplaced } from '../../kube/writer/replaced.ts';
import type { NetworkConf } from './cni/conf.ts';
import type { ContainerRuntime } from './container-runtime.ts';
import type { ExecFiles } from './exec-files.ts';
import type { ExecInfo } from './exec-info.ts';
import { decide, type Phase } from './lifecycle.ts';
import type { NetworkReadiness } from './network-readiness.ts';
import {
  containerCgroup,
  enterContainer,
  execInfoOf,
  type NodeIdentity,
  nextStart,
  observe,
  removeContainers,
  startContainer,
} from './pod-containers.ts';
import { createPodProbes, type PodProbes } from './pod-probes.ts';
import type { PodSandboxes } from './pod-sandbox.ts';
import type { Pod } from './pod-spec.ts';
import type { RecordStore, SandboxRecord } from './records.ts';
import { podStatus } from './status.ts';

export interface WorkerContext {
  readonly client: KubeClient;
  readonly runtime: ContainerRuntime;
  readonly sandboxes: PodSandboxes;
  readonly records: RecordStore;
  readonly execFiles: ExecFiles;
  readonly events: EventRecorder;
  readonly network: NetworkReadiness;
  readonly node: NodeIdentity;
  readonly onError: (error: unknown) => void;
}

/** Between tries of making or removing a sandbox; a real kubelet takes ten seconds and more. */
const SANDBOX_RETRY = { minMs: 500, maxMs: 5_000, random: Math.random };
const API_RETRY_MS = 1_000;
/** Of a pod whose object is gone. */
const ORPHAN_GRACE_SECONDS = 1;
const LIVENESS_GRACE_MS = 5_000;

export class PodWorker {
  readonly #context: WorkerContext;
  readonly #probes: PodProbes;
  readonly #ended = Promise.withResolvers<void>();
  #pod: Pod | undefined;
  /** What is left of it on the node; the object may be gone. */
  #record: SandboxRecord | undefined;
  #isDirty = false;
  #isRunning = false;
  #isEnded = false;
  /** Succeeded or failed for good, and its sandbox is gone. */
  #isDone = false;
  #problem: string | undefined;
  #failures = 0;
  #retryAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #written = '';
  #exec = '';

  constructor(context: WorkerContext, record: SandboxRecord | undefined) {
    this.#context = context;
    this.#record = record;
    this.#probes = createPodProbes({
      onReadiness: () => this.poke(),
      onUnready: (name, message) => this.#report('Warning', 'Unhealthy', `Readiness probe failed: ${message}`, name),
      onDead: (name, message) => this.#restart(name, message),
    });
  }

  /** Resolves when nothing of the pod is left on this node. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  owns(containerId: string): boolean {
    return Object.values(this.#record?.containers ?? {}).some(({ id }) => id === containerId);
  }

  /** @param pod undefined when the object is gone */
  update(pod: Pod | undefined): void {
    const isLeaving = pod?.metadata.deletionTimestamp !== undefined;
    // What failed before says nothing about taking the pod away.
    if (isLeaving && this.#pod?.metadata.deletionTimestamp === undefined) this.#retryAt = 0;
    this.#pod = pod;
    this.poke();
  }

  poke(): void {
    this.#isDirty = true;
    if (this.#isRunning || this.#isEnded) return;
    this.#isRunning = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    while (this.#isDirty && !this.#isEnded) {
      this.#isDirty = false;
      try {
        await this.#step();
      } catch (error) {
        this.#context.onError(error);
        this.#pokeIn(API_RETRY_MS);
      }
    }
    this.#isRunning = false;
  }

  async #step(): Promise<void> {
    const pod = this.#pod;
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return await this.#terminate(pod);
    if (this.#isDone || isTerminal(pod.status.phase)) return await this.#clear();
    const phase = (await this.#hasSandbox(pod)) ? await this.#runContainers(pod) : 'Pending';
    await this.#writeStatus(pod, phase);
    if (isTerminal(phase)) await this.#finish();
  }

  async #hasSandbox(pod: Pod): Promise<boolean> {
    if (this.#record?.phase === 'ready') return true;
    if (this.#isTooEarly()) return false;
    const network = this.#context.network.current();
    if (!pod.spec.hostNetwork && network.conf === undefined) {
      this.#problem = `network is not ready: ${network.reason}`;
      this.#report('Warning', 'NetworkNotReady', this.#problem);
      return false;
    }
    try {
      await this.#createSandbox(pod, pod.spec.hostNetwork ? undefined : network.conf);
      return true;
    } catch (error) {
      this.#problem = messageOf(error);
      this.#report('Warning', 'FailedCreatePodSandBox', `Failed to create pod sandbox: ${this.#problem}`);
      this.#retryLater();
      return false;
    }
  }

  /** Each try has a container id of its own; what an earlier one left goes first. */
  async #createSandbox(pod: Pod, conf: NetworkConf | undefined): Promise<void> {
    const { sandboxes, node } = this.#context;
    await this.#removeSandbox();
    this.#record = await sandboxes.prepare(pod, conf, node.addresses);
    try {
      this.#record = await sandboxes.attach(this.#record);
    } catch (error) {
      await this.#removeSandbox().catch(this.#context.onError);
      throw error;
    }
    this.#problem = undefined;
    this.#failures = 0;
  }

  async #runContainers(pod: Pod): Promise<Phase> {
    const record = this.#record;
    if (record === undefined) return 'Pending';
    const { runtime, records, node } = this.#context;
    const now = Date.now();
    const decision = decide(pod.spec.restartPolicy, observe(runtime, pod, record), now);
    for (const container of pod.spec.containers) {
      if (!decision.start.includes(container.name)) continue;
      const before = record.containers[container.name];
      record.containers[container.name] = nextStart(runtime, before, now);
      this.#probes.stop(container.name);
      await records.save(record);
      if (before !== undefined) await runtime.remove(before.id, containerCgroup(record, before));
      await startContainer(runtime, node, pod, record, container);
    }
    if (decision.retryAt !== undefined) this.#pokeIn(decision.retryAt - now);
    // Only of those that the file has: who sees by a probe that a container runs may run a command there.
    this.#startProbes(pod, record, await this.#writeExecFile(pod, record));
    // Of now: one that has started meanwhile may be ready already, and a pod that is ready runs.
    return decide(pod.spec.restartPolicy, observe(runtime, pod, record), now).phase;
  }

  #startProbes(pod: Pod, record: SandboxRecord, { containers }: ExecInfo): void {
    const { runtime, node } = this.#context;
    for (const container of pod.spec.containers) {
      const enter = (): string[] | undefined => enterContainer(runtime, node, pod, record, container);
      const id = record.containers[container.name]?.id;
      const isEntered = containers.some(({ name }) => name === container.name);
      if (id === undefined || !isEntered) this.#probes.stop(container.name);
      else this.#probes.start(id, container, { address: record.addresses[0] ?? '', enter });
    }
  }

  async #writeExecFile(pod: Pod, record: SandboxRecord): Promise<ExecInfo> {
    const info = execInfoOf(this.#context.runtime, this.#context.node, pod, record);
    const content = JSON.stringify(info);
    if (content === this.#exec) return info;
    await this.#context.execFiles.write(pod.metadata, info);
    this.#exec = content;
    return info;
  }

  async #writeStatus(pod: Pod, phase: Phase): Promise<void> {
    const { runtime, node } = this.#context;
    const status = podStatus({
      pod,
      phase,
      containers: observe(runtime, pod, this.#record),
      ready: this.#probes.ready(),
      hasSandbox: this.#record?.phase === 'ready',
      podAddresses: this.#record?.addresses ?? [],
      nodeAddresses: node.addresses,
      problem: this.#problem,
      now: Date.now(),
    });
    const content = JSON.stringify(status);
    if (content === this.#written) return;
    // The uid keeps the status off a later pod of the same name.
    const { uid } = pod.metadata;
    const patch = { type: 'merge', body: { metadata: { uid }, status } } as const;
    const { client } = this.#context;
    const write = () => client.patch(PODS, refOf(pod), patch, { subresource: 'status' });
    await unlessGone(unlessReplaced(client, { resource: PODS, ref: refOf(pod), uid }, write));
    this.#written = content;
  }

  /** All containers have ended for good. */
  async #finish(): Promise<void> {
    await this.#clear();
    this.#isDone = true;
  }

  /** Nothing is left on the node. @throws what CNI DEL refused */
  async #clear(): Promise<void> {
    if (this.#record === undefined) return;
    this.#probes.stop();
    await this.#context.execFiles.remove(this.#record.pod);
    await removeContainers(this.#context.runtime, this.#record);
    await this.#removeSandbox();
  }

  async #removeSandbox(): Promise<void> {
    if (this.#record === undefined) return;
    await this.#context.sandboxes.remove(this.#record);
    this.#record = undefined;
  }

  async #terminate(pod: Pod | undefined): Promise<void> {
    if (this.#isTooEarly()) return;
    try {
      await this.#stopContainers(pod);
      await this.#clear();
    } catch (error) {
      this.#report('Warning', 'FailedKillPod', `error killing pod: ${messageOf(error)}`);
      this.#retryLater();
      return;
    }
    if (pod !== undefined) await this.#deleteObject(pod);
    this.#end();
  }

  async #stopContainers(pod: Pod | undefined): Promise<void> {
    const graceSeconds =
      pod?.metadata.deletionGracePeriodSeconds ?? pod?.spec.terminationGracePeriodSeconds ?? ORPHAN_GRACE_SECONDS;
    this.#probes.stop();
    const containers = Object.values(this.#record?.containers ?? {});
    await Promise.all(containers.map(({ id }) => this.#context.runtime.stop(id, graceSeconds * 1000)));
  }

  async #deleteObject(pod: Pod): Promise<void> {
    const options = { gracePeriodSeconds: 0, preconditions: { uid: pod.metadata.uid } };
    await unlessGone(this.#context.client.delete(PODS, refOf(pod), options));
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#isEnded = true;
    this.#ended.resolve();
  }

  #restart(name: string, message: string): void {
    this.#report('Warning', 'Unhealthy', `Liveness probe failed: ${message}`, name);
    const id = this.#record?.containers[name]?.id;
    this.#probes.stop(name);
    if (id !== undefined) void this.#context.runtime.stop(id, LIVENESS_GRACE_MS);
  }

  #retryLater(): void {
    this.#failures++;
    const wait = backoffMs(SANDBOX_RETRY, this.#failures);
    this.#retryAt = Date.now() + wait;
    this.#pokeIn(wait);
  }

  /** Something else than the timer asked for a step while a failed one waits to be tried again. */
  #isTooEarly(): boolean {
    const wait = this.#retryAt - Date.now();
    if (wait > 0) this.#pokeIn(wait);
    return wait > 0;
  }

  #pokeIn(milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.poke(), milliseconds);
  }

  #report(type: 'Normal' | 'Warning', reason: string, message: string, container?: string): void {
    const pod = this.#pod;
    if (pod === undefined) return;
    const { namespace, name, uid } = pod.metadata;
    const fieldPath = container === undefined ? undefined : `spec.containers{${container}}`;
    const regarding = { apiVersion: 'v1', kind: 'Pod', namespace, name, uid, fieldPath };
    this.#context.events.record({ regarding, type, reason, message });
  }
}

const isTerminal = (phase: string): boolean => phase === 'Succeeded' || phase === 'Failed';

const refOf = ({ metadata }: Pod): ObjectRef => ({ namespace: metadata.namespace, name: metadata.name });

/** The object was deleted, or another one has its name: then there is nothing to write. */
const unlessGone = async (write: Promise<unknown>): Promise<void> => {
  try {
    await write;
  } catch (error) {
    if (!isNotFound(error) && !isReplaced(error) && !isConflict(error)) throw error;
  }
};
