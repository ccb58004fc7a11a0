/**
 * Frame filters of the pods that are plugged: at the start, when another program has deleted some, and every 15 seconds, as
 * everything else: no event reports a change without a deletion.
 */
import { DEFAULT_NETWORK_NAME } from '../../api/names.ts';
import type { Clock } from '../../base/clock.ts';
import {
  FILTER_TABLE,
  type FrameFilter,
  isSharedChain,
  LOCKED_SET,
  linkOfChain,
} from '../../datapath/netlink/frame-filter/types.ts';
import { filterOf } from '../../datapath/netlink/pod-interface/plan.ts';
import type { PodInterfaces } from '../../datapath/netlink/pod-interface/types.ts';
import type { Mac } from '../../net/mac.ts';
import type { PodAttachments } from '../model/attachments.ts';
import { isLocked } from '../model/facts.ts';
import { podPortName } from '../model/names.ts';
import { hearing } from './hearing.ts';
import type { OvsPorts, PluggedPort } from './ovs-ports.ts';

export interface FilterKeeperOptions {
  /** Of the pods of this node. */
  readonly pods: () => Iterable<PodAttachments>;
  readonly ports: Pick<OvsPorts, 'all'>;
  readonly interfaces: Pick<PodInterfaces, 'keepFilters'>;
  readonly clock: Pick<Clock, 'schedule'>;
  /** Filters that were not as they should be are again. */
  readonly onRepaired: (links: readonly string[]) => void;
  readonly onError: (error: unknown) => void;
}

/** What comes at once is repaired at once: `flush ruleset` is a line for each rule. */
const GATHER_MS = 20;
const RETRY_MS = 10_000;
/** As the places that a reconcile loop keeps (`agent/reconcile/reconcile-loop.ts`). */
const FULL_EVERY_MS = 15_000;

export class FilterKeeper implements Disposable {
  readonly #options: FilterKeeperOptions;
  #losses: Loss[] = [];
  #cancel: (() => void) | undefined;
  #cancelFull: (() => void) | undefined;
  #isStopped = false;

  constructor(options: FilterKeeperOptions) {
    this.#options = options;
  }

  /** Pods that an earlier version has plugged have other filters, or none. */
  async keepAll(): Promise<void> {
    await this.#keep([{ kind: 'all' }]).catch((error: unknown) => this.#again(error));
    this.#later();
  }

  /** One look after the other, however long it takes. */
  #later(): void {
    if (this.#isStopped) return;
    this.#cancelFull?.();
    this.#cancelFull = this.#options.clock.schedule(FULL_EVERY_MS, () => {
      void this.#keep([{ kind: 'timer' }])
        .catch((error: unknown) => this.#options.onError(error))
        .finally(() => this.#later());
    });
  }

  /** @param line of `nft monitor` */
  onMonitored(line: string): void {
    const loss = lossIn(line);
    if (loss === undefined) return;
    this.#losses.push(loss);
    this.#cancel ??= this.#options.clock.schedule(GATHER_MS, () => this.#repair());
  }

  [Symbol.dispose](): void {
    this.#isStopped = true;
    this.#cancel?.();
    this.#cancelFull?.();
  }

  #repair(): void {
    this.#cancel = undefined;
    this.#keep(this.#losses.splice(0)).catch((error: unknown) => this.#again(error));
  }

  /** Which were lost is not known any more. */
  #again(error: unknown): void {
    this.#options.onError(error);
    this.#losses.push({ kind: 'all' });
    this.#cancel ??= this.#options.clock.schedule(RETRY_MS, () => this.#repair());
  }

  async #keep(losses: readonly (Loss | { readonly kind: 'timer' })[]): Promise<void> {
    const { pods, ports, interfaces, onRepaired } = this.#options;
    const isReported = losses.some(({ kind }) => kind === 'all');
    const isAll = isReported || losses.some(({ kind }) => kind === 'timer');
    const links = new Set(losses.flatMap((loss) => (loss.kind === 'link' ? [loss.link] : [])));
    const macs = new Set<string>(losses.flatMap((loss) => (loss.kind === 'mac' ? [loss.mac] : [])));
    const isAsked = ({ name }: PluggedPort): boolean => isAll || macs.size > 0 || links.has(name);
    const asked = ports.all().filter(isAsked);
    // As after each DEL of ours: nobody has that link any more.
    if (!isAll && asked.length === 0) return;
    const known = knownPods(pods());
    const isLost = ({ name, podUid }: PluggedPort): boolean =>
      isAll || links.has(name) || macs.has(lockedMac(known.get(podUid)) ?? '');
    const plugged = asked.filter(isLost);
    if (!isAll && plugged.length === 0) return;
    const needless = isAll ? { shared: isReported, lockedMacs: lockedMacsOf(plugged, known) } : undefined;
    const desired = filtersOf(plugged, known).map(({ filter }) => filter);
    const repaired = await interfaces.keepFilters(desired, needless);
    if (repaired.length > 0) onRepaired(repaired);
  }
}

type KnownPods = ReadonlyMap<string, PodAttachments>;

/** Also those that wait for something or are refused: what is plugged of them was addressed, and has its filters. */
export const knownPods = (pods: Iterable<PodAttachments>): KnownPods =>
  new Map([...pods].filter(({ pod }) => pod.networks.has(DEFAULT_NETWORK_NAME)).map((one) => [one.pod.uid, one]));

const lockedMac = (attachments: PodAttachments | undefined): Mac | undefined =>
  attachments !== undefined && isLocked(attachments.pod)
    ? attachments.pod.networks.get(DEFAULT_NETWORK_NAME)?.mac
    : undefined;

/**
 * Of pods that are to be plugged, too: theirs may be there already. Undefined while a pod is plugged that is not known any more: its
 * MAC is not, either, and while it can send it is a locked pod's.
 */
export const lockedMacsOf = (plugged: readonly PluggedPort[], known: KnownPods): readonly Mac[] | undefined =>
  plugged.every(({ podUid }) => known.has(podUid))
    ? [...known.values()].flatMap((attachments) => lockedMac(attachments) ?? [])
    : undefined;

export type Loss =
  | { readonly kind: 'all' }
  | { readonly kind: 'link'; readonly link: string }
  /** It is no longer known as that of a locked pod. */
  | { readonly kind: 'mac'; readonly mac: string };

/** Our own deletions are of links that go, and of MACs that are no locked pod's. */
export const lossIn = (line: string): Loss | undefined => {
  const [, mac] = ELEMENT.exec(line) ?? [];
  if (mac !== undefined) return { kind: 'mac', mac };
  const [, chain = ''] = OF_CHAIN.exec(line) ?? [];
  const link = linkOfChain(chain);
  if (link !== undefined) return { kind: 'link', link };
  const [, loosened = ''] = POLICY.exec(line) ?? [];
  const loose = linkOfChain(loosened);
  if (loose !== undefined) return { kind: 'link', link: loose };
  return isSharedChain(chain) || WHOLE.test(line) || EVENTS_LOST.test(line) ? { kind: 'all' } : undefined;
};

const GONE = '^(?:delete|destroy|flush|replace)';
const ELEMENT = new RegExp(`${GONE} element netdev ${FILTER_TABLE} ${LOCKED_SET} \\{ (\\S+)`);
const OF_CHAIN = new RegExp(`${GONE} (?:chain|rule) netdev ${FILTER_TABLE} (\\S+)`);
const WHOLE = new RegExp(`${GONE} (?:table|set) netdev ${FILTER_TABLE}(?: |$)`);
/** Ours is `drop`. */
const POLICY = new RegExp(`^add chain netdev ${FILTER_TABLE} (\\S+) \\{.* policy accept;`);
const EVENTS_LOST = /^# ERROR: We lost some netlink events/;

export interface PodFilter {
  readonly filter: FrameFilter;
  /** `namespace/name` */
  readonly pod: string;
}

/**
 * By the names of ports: the place of a network in the pod's annotation is another one when that is edited. While a
 * node has no subnet of a network, filters there stay as they are: whose MACs are its infrastructure’s is not known.
 */
export const filtersOf = (
  plugged: readonly Pick<PluggedPort, 'name' | 'podUid' | 'logicalPort'>[],
  known: KnownPods,
): PodFilter[] =>
  plugged.flatMap(({ name: hostName, podUid, logicalPort }) => {
    const attachments = known.get(podUid);
    if (attachments === undefined) return [];
    const { pod, held } = attachments;
    return held
      .filter(({ givenBy, subnets }) => givenBy === 'cluster' || subnets.length > 0)
      .filter(({ nadKey }) => podPortName(nadKey, pod.namespace, pod.name) === logicalPort)
      .flatMap((one) => {
        const entry = pod.networks.get(one.nadKey);
        if (entry === undefined) return [];
        const filter = filterOf({ hostName, mac: entry.mac, hears: hearing(one, entry) });
        return { filter, pod: `${pod.namespace}/${pod.name}` };
      });
  });
