/**
 * Writes `k8s.v1.cni.cncf.io/network-status` of the pods of this node that are plugged: once after each ADD, which does not wait for it,
 * and again where it is not what it should be, after a start of the agent, too. A write is for the very pod that was plugged, never for
 * the next one of its name.
 */
import type { AttachedNetwork } from '../../../api/annotations/attached-networks.ts';
import { DEFAULT_NETWORK_NAME, POD_ANNOTATIONS } from '../../../api/names.ts';
import { backoffMs } from '../../../base/backoff.ts';
import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/error-message.ts';
import { isMoot } from '../../../kube/errors.ts';
import type { ObjectCache } from '../../../kube/reflector/types.ts';
import { PODS } from '../../../kube/resources.ts';
import type { Writer } from '../../../kube/writer/types.ts';
import type { PodProjection } from '../../inputs/pod-projection.ts';
import type { PodAttachments } from '../../model/attachments.ts';
import { type PodFact, podKey } from '../../model/facts.ts';
import type { OvsPorts } from '../ovs-ports.ts';
import { networkStatusText } from './network-status.ts';
import type { AttachmentRegistry } from './registry.ts';

export interface StatusKeeperOptions {
  readonly registry: AttachmentRegistry;
  readonly ports: Pick<OvsPorts, 'ofSandbox' | 'all'>;
  /** The mirror. */
  readonly pods: Pick<ObjectCache<Pick<PodProjection, 'fact' | 'networkStatus'>>, 'get' | 'subscribe'>;
  /** What plugins of other networks have made in a sandbox, as it is on record. */
  readonly recorded: (sandbox: string) => Promise<readonly AttachedNetwork[]>;
  readonly writer: Pick<Writer, 'merge'>;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  /** Once for each write that the API server refuses, or does not answer for minutes. */
  readonly onProblem: (pod: PodIdentity, message: string) => void;
  readonly observe: (result: StatusWrite) => void;
}

export type StatusWrite = 'written' | 'failed';
type PodIdentity = Pick<PodFact, 'namespace' | 'name' | 'uid'>;

/** Addresses of other pods, which their ADDs wait for, are written by the same writer, of twice as many at once. */
const MOST_AT_ONCE = 4;
/** Another program that writes it again and again gets an answer as seldom as this. */
const MEND_MS = 5_000;
const UNWRITTEN = `${POD_ANNOTATIONS.networkStatus} cannot be written`;
const RETRY = { minMs: 5_000, maxMs: 300_000 };

interface Plugged extends PodIdentity {
  readonly sandbox: string;
  readonly foreign: readonly AttachedNetwork[];
  /** What the API has, as far as that was heard. */
  annotation: string | undefined;
  /** The mirror has said something of it since the write under way was sent. */
  isHeard: boolean;
  isWriting: boolean;
  failures: number;
  /** Of the clock. */
  notBefore: number;
  cancel: (() => void) | undefined;
}

export type NetworkStatusKeeper = Pick<StatusKeeper, 'attached' | 'detached' | 'adopt' | 'unwritten'>;

export class StatusKeeper {
  readonly #options: StatusKeeperOptions;
  readonly #plugged = new Map<string, Plugged>();
  readonly #podOfSandbox = new Map<string, string>();
  readonly #queue = new Set<string>();
  readonly #unwritten = new Map<string, string>();
  readonly #ends: readonly (() => void)[];
  #writing = 0;

  constructor(options: StatusKeeperOptions) {
    this.#options = options;
    this.#ends = [
      options.registry.subscribe((key, after) => this.#changed(key, after)),
      options.pods.subscribe(({ key, before, after }) => {
        if (after !== undefined && before?.networkStatus !== after.networkStatus) this.#heard(key, after);
      }),
    ];
  }

  /** An ADD has made all interfaces of the pod. @param foreign those of other plugins */
  attached({ namespace, name, uid }: PodIdentity, sandbox: string, foreign: readonly AttachedNetwork[]): void {
    const key = podKey({ namespace, name });
    this.#forget(key);
    this.#podOfSandbox.set(sandbox, key);
    this.#plugged.set(key, {
      ...{ namespace, name, uid, sandbox, foreign, annotation: this.#options.pods.get(key)?.networkStatus },
      ...{ isHeard: false, isWriting: false, failures: 0, notBefore: 0, cancel: undefined },
    });
    this.#look(key);
  }

  /** A DEL is about to remove them. */
  detached(sandbox: string): void {
    const key = this.#podOfSandbox.get(sandbox);
    if (key !== undefined) this.#forget(key);
  }

  /** At the start: pods that an earlier agent has plugged. */
  async adopt(): Promise<void> {
    const { registry, ports } = this.#options;
    const first = ports.all().filter(({ nadKey }) => nadKey === DEFAULT_NETWORK_NAME);
    const sandboxes = new Map(first.map(({ podUid, sandbox }) => [podUid, sandbox]));
    for (const { pod } of [...registry.values()]) {
      const sandbox = sandboxes.get(pod.uid);
      if (sandbox !== undefined) await this.#adoptOne(pod, sandbox);
    }
  }

  /** Pods that an ADD, or the end of the pod, comes in between are that one's. */
  async #adoptOne(pod: PodIdentity, sandbox: string): Promise<void> {
    const { registry, recorded, onProblem } = this.#options;
    const key = podKey(pod);
    try {
      const foreign = await recorded(sandbox);
      if (!this.#plugged.has(key) && registry.get(key)?.pod.uid === pod.uid) this.attached(pod, sandbox, foreign);
    } catch (error) {
      const message = `${UNWRITTEN}: ${messageOf(error)}`;
      this.#unwritten.set(key, message);
      onProblem(pod, message);
    }
  }

  /** Pods whose annotation could not be written, with the reason. */
  unwritten(): ReadonlyMap<string, string> {
    return this.#unwritten;
  }

  stop(): void {
    for (const end of this.#ends) end();
    for (const key of [...this.#plugged.keys()]) this.#forget(key);
  }

  #changed(key: string, after: PodAttachments | undefined): void {
    const known = this.#plugged.get(key);
    if (known !== undefined && after?.pod.uid === known.uid) this.#look(key);
    else if (known !== undefined || after === undefined) this.#forget(key);
  }

  #heard(key: string, { fact, networkStatus }: Pick<PodProjection, 'fact' | 'networkStatus'>): void {
    const known = this.#plugged.get(key);
    if (known === undefined || fact.uid !== known.uid) return;
    known.annotation = networkStatus;
    known.isHeard = true;
    this.#look(key);
  }

  #forget(key: string): void {
    this.#unwritten.delete(key);
    const known = this.#plugged.get(key);
    if (known === undefined) return;
    known.cancel?.();
    this.#plugged.delete(key);
    if (this.#podOfSandbox.get(known.sandbox) === key) this.#podOfSandbox.delete(known.sandbox);
    this.#queue.delete(key);
  }

  /** Writes it now or later, if it is not as it should be. */
  #look(key: string): void {
    const known = this.#plugged.get(key);
    if (known === undefined || known.isWriting || known.cancel !== undefined) return;
    if (this.#lacking(key, known) === undefined) return;
    const { clock } = this.#options;
    const wait = known.notBefore - clock.monotonic();
    if (wait > 0) {
      known.cancel = clock.schedule(wait, () => {
        known.cancel = undefined;
        this.#look(key);
      });
      return;
    }
    this.#queue.add(key);
    this.#writeNext();
  }

  /** The text to be written; undefined: nothing is. */
  #lacking(key: string, known: Plugged): string | undefined {
    const { registry, ports } = this.#options;
    const attachments = registry.get(key);
    if (attachments?.pod.uid !== known.uid) return undefined;
    const text = networkStatusText(attachments, ports.ofSandbox(known.sandbox), known.foreign);
    if (text === known.annotation) this.#unwritten.delete(key);
    return text === known.annotation ? undefined : text;
  }

  #writeNext(): void {
    for (const key of this.#queue) {
      if (this.#writing >= MOST_AT_ONCE) return;
      this.#queue.delete(key);
      const known = this.#plugged.get(key);
      const text = known && this.#lacking(key, known);
      if (known !== undefined && text !== undefined) void this.#write(key, known, text);
    }
  }

  async #write(key: string, known: Plugged, text: string): Promise<void> {
    const { writer, clock, observe } = this.#options;
    const { namespace, name, uid } = known;
    this.#writing += 1;
    known.isWriting = true;
    known.isHeard = false;
    try {
      const annotations = { [POD_ANNOTATIONS.networkStatus]: text };
      await writer.merge(PODS, { namespace, name }, { metadata: { uid, annotations } });
      observe('written');
      // What the mirror has said meanwhile may be newer than this.
      if (!known.isHeard) known.annotation = text;
      known.failures = 0;
      known.notBefore = clock.monotonic() + MEND_MS;
      this.#unwritten.delete(key);
    } catch (error) {
      this.#failed(key, known, error);
    }
    known.isWriting = false;
    this.#writing -= 1;
    if (this.#plugged.get(key) === known) this.#look(key);
    this.#writeNext();
  }

  #failed(key: string, known: Plugged, error: unknown): void {
    if (this.#plugged.get(key) !== known) return;
    // Gone. What has its name now is a pod of its own, with an ADD of its own.
    if (isMoot(error)) {
      this.#forget(key);
      return;
    }
    const { clock, random, observe, onProblem } = this.#options;
    known.failures += 1;
    known.notBefore = clock.monotonic() + backoffMs({ ...RETRY, random }, known.failures);
    const message = `${UNWRITTEN}: ${messageOf(error)}`;
    this.#unwritten.set(key, message);
    observe('failed');
    onProblem(known, message);
  }
}
