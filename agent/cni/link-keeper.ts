/**
 * The node's ends of pods' interfaces stay up: one that another program sets down loses all packets of its pod, with everything
 * that OVN and OVS know in place.
 */
import type { Clock } from '../../base/clock.ts';
import { hasCode } from '../../datapath/netlink/errors.ts';
import type { Link } from '../../datapath/netlink/link/types.ts';
import type { NetlinkEvent } from '../../datapath/netlink/monitor/events.ts';
import type { Netlink } from '../../datapath/netlink/netlink.ts';
import type { OvsPorts } from './ovs-ports.ts';
import { parseAlias } from './plumbing.ts';

export interface LinkKeeperOptions {
  readonly ports: Pick<OvsPorts, 'ofSandbox'>;
  readonly netlink: Pick<Netlink, 'read' | 'watch'> & { readonly pods: Pick<Netlink['pods'], 'raise'> };
  /** A CNI call of this sandbox is under way: a new link is down until its filter is in place. */
  readonly isBusy: (sandbox: string) => boolean;
  readonly clock: Pick<Clock, 'schedule' | 'monotonic'>;
  readonly onRaised: (links: readonly string[]) => void;
  readonly onError: (error: unknown) => void;
}

/** Links that go down together are set up together. */
const GATHER_MS = 20;
/** Between two repairs, where another program does not give in. */
const APART_MS = 1_000;

export class LinkKeeper implements Disposable {
  readonly #options: LinkKeeperOptions;
  readonly #down = new Set<string>();
  #cancel: (() => void) | undefined;
  #unwatch: (() => void) | undefined;
  #next = 0;

  constructor(options: LinkKeeperOptions) {
    this.#options = options;
  }

  /** From now on, and what was down before. */
  async start(): Promise<void> {
    this.#unwatch = this.#options.netlink.watch((events) => this.#onEvents(events));
    await this.#look();
  }

  [Symbol.dispose](): void {
    this.#unwatch?.();
    this.#cancel?.();
  }

  #onEvents(events: readonly NetlinkEvent[]): void {
    for (const event of events) {
      if (event.kind === 'lost') void this.#look();
      else if (event.kind === 'link') this.#onLink(event.change === 'gone' ? undefined : event.link, event.link.name);
    }
  }

  #onLink(link: Link | undefined, name: string): void {
    if (link !== undefined && this.#isLost(link)) this.#gather([name]);
    else this.#down.delete(name);
  }

  /** Events before or between may be missing. */
  async #look(): Promise<void> {
    try {
      const { links } = await this.#options.netlink.read({ links: true });
      this.#gather(links.filter((link) => this.#isLost(link)).map(({ name }) => name));
    } catch (error) {
      this.#options.onError(error);
    }
  }

  #isLost({ name, up, alias }: Link): boolean {
    if (up) return false;
    const sandbox = parseAlias(alias)?.containerId;
    if (sandbox === undefined || this.#options.isBusy(sandbox)) return false;
    return this.#options.ports.ofSandbox(sandbox).some((port) => port.name === name);
  }

  #gather(names: readonly string[]): void {
    for (const name of names) this.#down.add(name);
    if (this.#down.size === 0) return;
    const delay = Math.max(GATHER_MS, this.#next - this.#options.clock.monotonic());
    this.#cancel ??= this.#options.clock.schedule(delay, () => void this.#raise());
  }

  async #raise(): Promise<void> {
    this.#cancel = undefined;
    const { netlink, clock, onRaised, onError } = this.#options;
    const names = [...this.#down];
    this.#down.clear();
    if (names.length === 0) return;
    this.#next = clock.monotonic() + APART_MS;
    try {
      await netlink.pods.raise(names);
      onRaised(names);
    } catch (error) {
      // A link goes down before it is gone.
      if (!hasCode(error, 'ENODEV')) onError(error);
    }
  }
}
