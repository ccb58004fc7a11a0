/**
 * Gives the pods of this node their addresses on networks that are routed between the nodes, and writes them to the API
 * before anybody uses them. The API is the only memory: at start, what pods have is entered before anything is given.
 */
import { type PodNetworkEntry, podNetworkEntryJson } from '../../../api/annotations/pod-networks.ts';
import type { ClusterConfig } from '../../../api/cluster-config.ts';
import { POD_ANNOTATIONS } from '../../../api/names.ts';
import { podNetworkEntry } from '../../../api/pod-network-entry.ts';
import { messageOf } from '../../../base/error-message.ts';
import { isNotFound, isReplaced } from '../../../kube/errors.ts';
import { PODS } from '../../../kube/resources.ts';
import type { KnownAnnotation, Writer } from '../../../kube/writer/types.ts';
import { addressOf } from '../../../net/cidr.ts';
import { isConflict, isExhausted, NetError } from '../../../net/errors.ts';
import {
  type Attachment,
  defaultRouteElsewhere,
  type HeldNetwork,
  type PodAttachments,
} from '../../model/attachments.ts';
import { type PodFact, podKey } from '../../model/facts.ts';
import { AddressBook } from './address-book.ts';
import type { AttachmentRegistry } from './registry.ts';

export interface AnnotatorOptions {
  readonly registry: AttachmentRegistry;
  readonly writer: Pick<Writer, 'patchJsonMap' | 'merge'>;
  readonly cluster: ClusterConfig;
  /** What the mirror knows of the pod's annotation. */
  readonly known: (pod: string) => KnownAnnotation | undefined;
  /** A message for the pod's owner. `exhausted` is followed by a retry when an address is released. */
  readonly onProblem: (problem: AddressProblem) => void;
  /** Calls back after a while, to try again what the API refused for minutes. */
  readonly later: (retry: () => void) => void;
}

export interface AddressProblem {
  readonly pod: string;
  readonly uid: string;
  readonly reason: 'exhausted' | 'conflict' | 'unreadable' | 'write-failed';
  readonly message: string;
}

export class Annotator {
  readonly #options: AnnotatorOptions;
  readonly #book = new AddressBook();
  /** Pods that may lack an address. Looked at in `flush`, when all that pods have is entered. */
  readonly #pending = new Set<string>();
  /** Pods that got none, to be tried again when another pod goes; and why. */
  readonly #starved = new Map<string, string>();
  readonly #writing = new Map<string, string>();
  readonly #unsubscribe: () => void;

  constructor(options: AnnotatorOptions) {
    this.#options = options;
    this.#unsubscribe = options.registry.subscribe((pod, after) => this.#change(pod, after));
  }

  /** Allocates and writes what is lacking. To be called when every change that happened together has been delivered. */
  flush(): void {
    const pending = [...this.#pending];
    this.#pending.clear();
    for (const pod of pending) this.#tryToGive(pod);
  }

  /** Pods that wait for an address to be released, with the reason. */
  starved(): ReadonlyMap<string, string> {
    return this.#starved;
  }

  stop(): void {
    this.#unsubscribe();
  }

  #change(pod: string, after: PodAttachments | undefined): void {
    if (after === undefined) {
      this.#book.releasePod(pod);
      this.#starved.delete(pod);
      this.#pending.delete(pod);
      for (const starved of this.#starved.keys()) this.#pending.add(starved);
      return;
    }
    // Addresses of a pod that runs are its own, whatever it waits for.
    for (const held of ofNode(after.held)) this.#enter(pod, held, after);
    for (const { network, subnets } of ofNode(after.attachments)) this.#book.setSubnets(network, subnets);
    this.#pending.add(pod);
  }

  #enter(pod: string, { nadKey, network, subnets }: HeldNetwork, { pod: { networks, uid } }: PodAttachments): void {
    if (subnets.length > 0) this.#book.setSubnets(network, subnets);
    const entry = networks.get(nadKey);
    if (entry === undefined) return;
    const ips = entry.ipAddresses.map(addressOf);
    const others = this.#book.enter(pod, nadKey, network.name, ips, entry.mac);
    if (others.length === 0) return;
    const message = `${ips.join(', ')} on network ${network.name} is also an address of ${others.join(', ')}`;
    this.#options.onProblem({ pod, uid, reason: 'conflict', message });
  }

  /** Whatever a pod says stops that pod alone. */
  #tryToGive(pod: string): void {
    try {
      this.#give(pod);
    } catch (error) {
      const uid = this.#options.registry.get(pod)?.pod.uid ?? '';
      const message = `no address can be given: ${messageOf(error)}`;
      this.#options.onProblem({ pod, uid, reason: 'conflict', message });
    }
  }

  #give(pod: string): void {
    const desired = this.#options.registry.get(pod);
    if (desired === undefined || this.#writing.get(pod) === desired.pod.uid) return;
    if (desired.pod.unreadable !== undefined) {
      void this.#reset(desired.pod, desired.pod.unreadable);
      return;
    }
    const { networks, lost, refused, barred } = desired.pod;
    // The annotation stays, for people to see; whoever refused it reports it.
    if (barred !== undefined) return;
    const lacking = ofNode(desired.attachments).filter(
      ({ nadKey }) => !networks.has(nadKey) || lost?.has(nadKey) === true,
    );
    for (const message of refused?.values() ?? [])
      this.#options.onProblem({ ...problemOf(desired), reason: 'conflict', message });
    if (lacking.length === 0) return;
    try {
      const entries = lacking.map((attachment): [string, PodNetworkEntry] => [
        attachment.nadKey,
        this.#entry(pod, attachment, desired.pod),
      ]);
      this.#starved.delete(pod);
      void this.#write(desired, new Map(entries));
    } catch (error) {
      if (!isExhausted(error) && !isConflict(error)) throw error;
      this.#starved.set(pod, error.message);
      const reason = isExhausted(error) ? 'exhausted' : 'conflict';
      this.#options.onProblem({ ...problemOf(desired), reason, message: error.message });
    }
  }

  #entry(pod: string, attachment: Attachment, of: PodFact): PodNetworkEntry {
    const { network, role, selection } = attachment;
    return podNetworkEntry({
      ...{ network, role, cluster: this.#options.cluster },
      addresses: this.#addresses(pod, attachment),
      mac: selection?.mac,
      requestedGateways: selection?.defaultRoute,
      defaultRouteElsewhere: defaultRouteElsewhere(of, attachment),
    });
  }

  /** @throws NetError that names the network when it has no address left, or not the MAC that the pod asks for */
  #addresses(pod: string, { nadKey, network, selection }: Attachment): ReturnType<AddressBook['give']> {
    try {
      return this.#book.give(pod, nadKey, network.name, selection?.mac);
    } catch (error) {
      if (!isExhausted(error) && !isConflict(error)) throw error;
      throw new NetError(error.code, `network ${network.name}: ${error.message}`, error.input);
    }
  }

  /** Takes away an annotation that says nothing. Everybody who has something to say in it writes it again then. */
  async #reset(pod: PodFact, unreadable: string): Promise<void> {
    const { uid } = pod;
    const key = podKey(pod);
    this.#options.onProblem({ pod: key, uid, reason: 'unreadable', message: `overwritten: ${unreadable}` });
    this.#writing.set(key, uid);
    try {
      const annotations = { [POD_ANNOTATIONS.networks]: null };
      await this.#options.writer.merge(PODS, pod, { metadata: { uid, annotations } });
    } catch (error) {
      this.#failed(pod, `cannot be removed: ${unreadable}`, error);
    } finally {
      if (this.#writing.get(key) === uid) this.#writing.delete(key);
    }
    // The mirror may have delivered it before the answer came; else its change will make the pod pending.
    if (this.#options.registry.get(key)?.pod.unreadable !== undefined) return;
    this.#pending.add(key);
    this.flush();
  }

  async #write({ pod }: PodAttachments, entries: ReadonlyMap<string, PodNetworkEntry>): Promise<void> {
    const key = podKey(pod);
    this.#writing.set(key, pod.uid);
    const changes = Object.fromEntries(entries.entries().map(([nad, entry]) => [nad, podNetworkEntryJson(entry)]));
    try {
      const options = { known: this.#options.known(key), uid: pod.uid };
      await this.#options.writer.patchJsonMap(PODS, pod, POD_ANNOTATIONS.networks, changes, options);
    } catch (error) {
      this.#failed(pod, `cannot write addresses ${addressesOf(entries)}`, error);
    } finally {
      if (this.#writing.get(key) === pod.uid) this.#writing.delete(key);
    }
  }

  /** The addresses stay with the pod until it is gone: whether the write arrived is not always known. */
  #failed({ uid, ...pod }: PodFact, what: string, error: unknown): void {
    // Gone. What has its name now is a pod of its own, for which a change has come or will come.
    if (isNotFound(error) || isReplaced(error)) return;
    const reason = messageOf(error);
    const key = podKey(pod);
    this.#options.onProblem({ pod: key, uid, reason: 'write-failed', message: `${what}: ${reason}` });
    this.#options.later(() => {
      this.#pending.add(key);
      this.flush();
    });
  }
}

const problemOf = ({ pod }: PodAttachments): Pick<AddressProblem, 'pod' | 'uid'> => ({
  pod: podKey(pod),
  uid: pod.uid,
});

/** For people: `10.128.0.3/23 on default`. */
const addressesOf = (entries: ReadonlyMap<string, PodNetworkEntry>): string =>
  [...entries].map(([nadKey, { ipAddresses }]) => `${ipAddresses.join(' ')} on ${nadKey}`).join(', ');

const ofNode = <T extends HeldNetwork>(networks: readonly T[]): T[] =>
  networks.filter(({ givenBy }) => givenBy === 'node');
