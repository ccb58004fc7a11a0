/**
 * Pods that run and whose ports another program has taken away, with `ovs-vsctl del-port` or the whole bridge: they have no network, and
 * nothing but their links on the node says that they had one. They are plugged again. Links are read at the start and after ports
 * have gone, and again so long as a pod lacks its port.
 */
import { CniError } from '../../api/cni/error.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/error-message.ts';
import type { Netlink } from '../../datapath/netlink/netlink.ts';
import type { Problem } from '../inputs/problem.ts';
import type { PodAttachments } from '../model/attachments.ts';
import type { OvsPorts } from './ovs-ports.ts';
import { type PodLink, parseAlias } from './plumbing.ts';

/** Of a pod's latest sandbox. */
export interface LostInterfaces {
  readonly pod: PodAttachments['pod'];
  readonly sandbox: string;
  /** They have no port. */
  readonly links: readonly PodLink[];
}

export interface LostPortsOptions {
  readonly netlink: Pick<Netlink, 'read'>;
  readonly ports: Pick<OvsPorts, 'all' | 'isReady'>;
  readonly pods: () => Iterable<Pick<PodAttachments, 'pod'>>;
  /** A CNI call of this sandbox is under way. */
  readonly isBusy: (sandbox: string) => boolean;
  /**
   * Calls back when ports have gone, or may have while the database was away, with the sandboxes that they were of.
   * @returns what ends it
   */
  readonly onPortsGone: (listener: (sandboxes: readonly string[]) => void) => () => void;
  readonly clock: Pick<Clock, 'schedule'>;
  readonly replug: (lost: LostInterfaces, signal: AbortSignal) => Promise<void>;
  /** With the pods that have their ports again, as found by one look. */
  readonly onReplugged: (replugged: readonly LostInterfaces[]) => void;
  /** Why a pod's interfaces could not be plugged again, once for each reason. */
  readonly report: (pod: PodAttachments['pod'], message: string) => void;
  readonly onError: (error: unknown) => void;
  /** Aborts when the agent ends. A `replug` that ends with it has not failed: the next agent does it. */
  readonly signal: AbortSignal;
}

export interface LostPorts {
  problems(): readonly Problem[];
  stop(): void;
}

/** A sandbox may be about to go, and is not lost before it is seen twice, so far apart. */
const SOON_MS = 500;
/** Until something is tried again that did not work, and of links of pods that are not known. */
const AGAIN_MS = 10_000;

/** What could not be made good. */
interface Failure extends LostInterfaces {
  readonly reason: string;
}

export const watchLostPorts = (options: LostPortsOptions): LostPorts => new Watch(options);

class Watch implements LostPorts {
  readonly #options: LostPortsOptions;
  readonly #unlisten: () => void;
  /** Of the look before, by the pod's UID. */
  #seen: ReadonlyMap<string, LostInterfaces> = new Map();
  readonly #failed = new Map<string, Failure>();
  /** By the pod's UID: those that are being plugged again. */
  readonly #underWay = new Set<string>();
  #next: { readonly milliseconds: number; readonly cancel: () => void } | undefined;
  #isLooking = false;
  #isStopped = false;

  constructor(options: LostPortsOptions) {
    this.#options = options;
    this.#unlisten = options.onPortsGone((sandboxes) => {
      if (!sandboxes.every(options.isBusy)) this.#later(SOON_MS);
    });
    this.#later(SOON_MS);
  }

  problems(): readonly Problem[] {
    const known = new Set(Array.from(this.#options.pods(), ({ pod }) => pod.uid));
    return [...this.#failed.values()].filter(({ pod }) => known.has(pod.uid)).map(problemOf);
  }

  stop(): void {
    this.#isStopped = true;
    this.#unlisten();
    this.#next?.cancel();
  }

  #later(milliseconds: number): void {
    if (this.#isStopped || (this.#next !== undefined && this.#next.milliseconds <= milliseconds)) return;
    this.#next?.cancel();
    this.#next = { milliseconds, cancel: this.#options.clock.schedule(milliseconds, () => void this.#look()) };
  }

  /** One at a time, which does not wait for what it finds: to plug a pod again may take as long as its ADD. */
  async #look(): Promise<void> {
    this.#next = undefined;
    if (this.#isLooking) return this.#later(SOON_MS);
    this.#isLooking = true;
    try {
      // What a database that is away does not say is not taken away.
      if (this.#options.ports.isReady()) await this.#compare();
      else this.#later(SOON_MS);
    } catch (error) {
      if (!this.#isStopped) this.#options.onError(error);
      this.#later(AGAIN_MS);
    } finally {
      this.#isLooking = false;
    }
  }

  async #compare(): Promise<void> {
    const { found, isUnknown } = await lossesOf(this.#options);
    if (this.#isStopped) return;
    const isKnown = (uid: string): boolean => found.has(uid) || this.#underWay.has(uid);
    for (const uid of this.#failed.keys()) if (!isKnown(uid)) this.#failed.delete(uid);
    const lost = [...found].flatMap(([uid, loss]) => (this.#seen.has(uid) && !this.#underWay.has(uid) ? [loss] : []));
    const isNew = found.keys().some((uid) => !this.#seen.has(uid));
    this.#seen = found;
    if (lost.length > 0) this.#replugAll(lost).catch(this.#options.onError);
    if (isNew) this.#later(SOON_MS);
    if (isUnknown) this.#later(AGAIN_MS);
  }

  async #replugAll(lost: readonly LostInterfaces[]): Promise<void> {
    const outcomes = await Promise.all(lost.map((loss) => this.#replug(loss)));
    const replugged = lost.filter((_, index) => outcomes[index]);
    if (replugged.length > 0) this.#options.onReplugged(replugged);
  }

  /** @returns whether it has its ports again */
  async #replug(loss: LostInterfaces): Promise<boolean> {
    const { uid } = loss.pod;
    this.#underWay.add(uid);
    try {
      await this.#options.replug(loss, this.#options.signal);
      this.#failed.delete(uid);
      return true;
    } catch (error) {
      if (error instanceof CniError && error.reason === 'podGone') this.#failed.delete(uid);
      else this.#fail({ ...loss, links: this.#stillLost(loss), reason: messageOf(error) });
      return false;
    } finally {
      this.#underWay.delete(uid);
    }
  }

  #fail(failure: Failure): void {
    const { pod, reason } = failure;
    const isTold = this.#failed.get(pod.uid)?.reason === reason;
    this.#failed.set(pod.uid, failure);
    this.#later(AGAIN_MS);
    if (!isTold && !this.#options.signal.aborted) this.#options.report(pod, textOf(failure));
  }

  /** Some may have been plugged. Where all have been, they are not open. */
  #stillLost({ links }: LostInterfaces): readonly PodLink[] {
    const plugged = new Set(this.#options.ports.all().map(({ name }) => name));
    const lost = links.filter(({ name }) => !plugged.has(name));
    return lost.length > 0 ? lost : links;
  }
}

const problemOf = (failure: Failure): Problem => ({
  object: `Pod/${failure.pod.namespace}/${failure.pod.name}`,
  message: textOf(failure),
  cause: 'port-removed',
});

interface Losses {
  /** By the pod's UID. */
  readonly found: ReadonlyMap<string, LostInterfaces>;
  /** Some link without a port is of a pod that is not known, or that a call is about. */
  readonly isUnknown: boolean;
}

/** A port of a later sandbox of the pod takes the place of an earlier one's, and of its link. */
const lossesOf = async ({ netlink, ports, pods, isBusy }: LostPortsOptions): Promise<Losses> => {
  const { links } = await netlink.read({ links: true });
  // Without its logical port ovn-controller does not bind a port.
  const bindable = ports.all().filter(({ logicalPort }) => logicalPort !== '');
  const plugged = new Set(bindable.map(({ podUid, interfaceName }) => `${podUid} ${interfaceName}`));
  const known = new Map(Array.from(pods(), ({ pod }) => [pod.uid, pod]));
  const found = new Map<string, LostInterfaces>();
  let isUnknown = false;
  for (const { name, mac, alias } of links.toSorted((one, other) => one.index - other.index)) {
    const owner = parseAlias(alias);
    if (owner === undefined || plugged.has(`${owner.podUid} ${owner.interfaceName}`)) continue;
    const pod = known.get(owner.podUid);
    const { containerId: sandbox, interfaceName } = owner;
    if (pod === undefined || isBusy(sandbox)) isUnknown = true;
    else found.set(pod.uid, withLink(found.get(pod.uid), { pod, sandbox, links: [{ name, mac, interfaceName }] }));
  }
  return { found, isUnknown };
};

const withLink = (before: LostInterfaces | undefined, one: LostInterfaces): LostInterfaces =>
  before?.sandbox === one.sandbox ? { ...one, links: [...before.links, ...one.links] } : one;

const textOf = ({ links, reason }: Failure): string => {
  const interfaces = links.map(({ interfaceName }) => interfaceName).join(', ');
  return `its ports in Open vSwitch were removed, and it has no network any more on ${interfaces}: they could not be added again: ${reason}`;
};
