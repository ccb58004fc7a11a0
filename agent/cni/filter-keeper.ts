/** Frame filters of the pods that are plugged: at the start, and when another program has deleted some. */
import { DEFAULT_NETWORK_NAME } from '../../api/names.ts';
import {
  FILTER_TABLE,
  type FrameFilter,
  isSharedChain,
  LOCKED_SET,
  linkOfChain,
} from '../../datapath/netlink/frame-filter/types.ts';
import { filterOf } from '../../datapath/netlink/pod-interface/plan.ts';
import type { PodInterfaces } from '../../datapath/netlink/pod-interface/types.ts';
import type { Clock } from '../../kube/clock.ts';
import { isAddressed, type PodAttachments } from '../model/attachments.ts';
import { isLocked } from '../model/facts.ts';
import type { OvsPorts, PluggedPort } from './ovs-ports.ts';
import { plumbingOf } from './plumbing.ts';

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

export class FilterKeeper implements Disposable {
  readonly #options: FilterKeeperOptions;
  #losses: Loss[] = [];
  #cancel: (() => void) | undefined;

  constructor(options: FilterKeeperOptions) {
    this.#options = options;
  }

  /** Pods that an earlier version has plugged have other filters, or none. */
  async keepAll(): Promise<void> {
    await this.#keep([{ kind: 'all' }]).catch((error: unknown) => this.#again(error));
  }

  /** @param line of `nft monitor` */
  onMonitored(line: string): void {
    const loss = lossIn(line);
    if (loss === undefined) return;
    this.#losses.push(loss);
    this.#cancel ??= this.#options.clock.schedule(GATHER_MS, () => this.#repair());
  }

  [Symbol.dispose](): void {
    this.#cancel?.();
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

  async #keep(losses: readonly Loss[]): Promise<void> {
    const { pods, ports, interfaces, onRepaired } = this.#options;
    const isAll = losses.some(({ kind }) => kind === 'all');
    const links = new Set(losses.flatMap((loss) => (loss.kind === 'link' ? [loss.link] : [])));
    const macs = new Set<string>(losses.flatMap((loss) => (loss.kind === 'mac' ? [loss.mac] : [])));
    const isAsked = ({ name }: PluggedPort): boolean => isAll || macs.size > 0 || links.has(name);
    const asked = ports.all().filter(isAsked);
    // As after each DEL of ours: nobody has that link any more.
    if (!isAll && asked.length === 0) return;
    const known = new Map([...pods()].filter(isAddressed).map((one) => [one.pod.uid, one]));
    const isLost = ({ name, podUid }: PluggedPort): boolean =>
      isAll || links.has(name) || macs.has(lockedMac(known.get(podUid)) ?? '');
    const plugged = asked.filter(isLost);
    if (!isAll && plugged.length === 0) return;
    const repaired = await interfaces.keepFilters(filtersOf(plugged, known), isAll);
    if (repaired.length > 0) onRepaired(repaired);
  }
}

const lockedMac = (attachments: PodAttachments | undefined): string | undefined =>
  attachments !== undefined && isLocked(attachments.pod)
    ? attachments.pod.networks.get(DEFAULT_NETWORK_NAME)?.mac
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
  return isSharedChain(chain) || WHOLE.test(line) || EVENTS_LOST.test(line) ? { kind: 'all' } : undefined;
};

const GONE = '^(?:delete|destroy|flush|replace)';
const ELEMENT = new RegExp(`${GONE} element netdev ${FILTER_TABLE} ${LOCKED_SET} \\{ (\\S+)`);
const OF_CHAIN = new RegExp(`${GONE} (?:chain|rule) netdev ${FILTER_TABLE} (\\S+)`);
const WHOLE = new RegExp(`${GONE} (?:table|set) netdev ${FILTER_TABLE}(?: |$)`);
const EVENTS_LOST = /^# ERROR: We lost some netlink events/;

const filtersOf = (plugged: readonly PluggedPort[], known: ReadonlyMap<string, PodAttachments>): FrameFilter[] =>
  plugged.flatMap(({ name, podUid, sandbox }) => {
    const attachments = known.get(podUid);
    if (attachments === undefined) return [];
    const { network } = plumbingOf(attachments, { id: sandbox, netns: '' }, { txChecksum: true });
    return network.interfaces.filter(({ hostName }) => hostName === name).map(filterOf);
  });
