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
  /** The sandbox of each. */
  readonly #down = new Map<string, string>();
  #cancel: (() => void) | undefined;
  #unwatch: (() => void) | undefined;
  #next = 0;
  #isStopped = false;

  constructor(options: LinkKeeperOptions) {
    this.#options = options;
  }

  /** From now on, and what was down before. */
  async start(): Promise<void> {
    this.#unwatch = this.#options.netlink.watch((events) => this.#onEvents(events));
    await this.#look();
  }

  [Symbol.dispose](): void {
    this.#isStopped = true;
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
    const lost = link === undefined ? [] : lostOf(link);
    if (lost.length === 0) this.#down.delete(name);
    this.#gather(lost);
  }

  /** Events before or between may be missing. */
  async #look(): Promise<void> {
    try {
      const { links } = await this.#options.netlink.read({ links: true });
      this.#gather(links.flatMap(lostOf));
    } catch (error) {
      this.#options.onError(error);
    }
  }

  /** A repair or a read that is under way at the end comes here after it. */
  #gather(lost: readonly Lost[]): void {
    if (this.#isStopped) return;
    for (const { name, sandbox } of lost) this.#down.set(name, sandbox);
    if (this.#down.size === 0) return;
    const delay = Math.max(GATHER_MS, this.#next - this.#options.clock.monotonic());
    this.#cancel ??= this.#options.clock.schedule(delay, () => void this.#raise());
  }

  /** What a call is busy with is looked at again after it: on OVN's side nothing says that its link went down. */
  async #raise(): Promise<void> {
    this.#cancel = undefined;
    const { ports, isBusy, clock } = this.#options;
    this.#next = clock.monotonic() + APART_MS;
    const found = [...this.#down].map(([name, sandbox]): Lost => ({ name, sandbox }));
    this.#down.clear();
    const { busy = [], idle = [] } = Object.groupBy(found, ({ sandbox }) => (isBusy(sandbox) ? 'busy' : 'idle'));
    this.#gather(busy);
    const plugged = idle.filter(({ name, sandbox }) => ports.ofSandbox(sandbox).some((port) => port.name === name));
    const results = await Promise.all(plugged.map((one) => this.#raiseOne(one)));
    const raised = plugged.flatMap(({ name }, index) => (results[index] === true ? [name] : []));
    if (raised.length > 0) this.#options.onRaised(raised);
  }

  async #raiseOne(lost: Lost): Promise<boolean> {
    try {
      await this.#options.netlink.pods.raise([lost.name]);
      return true;
    } catch (error) {
      // A link goes down before it is gone.
      if (hasCode(error, 'ENODEV')) return false;
      this.#options.onError(error);
      this.#gather([lost]);
      return false;
    }
  }
}

interface Lost {
  readonly name: string;
  readonly sandbox: string;
}

const lostOf = ({ name, up, alias }: Link): Lost[] => {
  const sandbox = up ? undefined : parseAlias(alias)?.containerId;
  return sandbox === undefined ? [] : [{ name, sandbox }];
};
