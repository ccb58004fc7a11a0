/**
 * The events that arrived while the kernel was asked for something: events come before the answer to the request that they
 * follow, so they are newer than that answer. Another program may have changed again what the request brought about.
 */
import type { KernelOp } from '../netlink/kernel/types.ts';
import type { NetlinkEvent } from '../netlink/monitor/events.ts';
import { linkOfSysctl } from './desired-index.ts';

/** Events arrive between two of them. */
export type Moment = number;

export class ReportedSince {
  #moment: Moment = 0;
  readonly #at = new Map<string, Moment>();

  now(): Moment {
    return this.#moment++;
  }

  note(event: NetlinkEvent): void {
    const thing = thingOf(event);
    if (thing !== undefined) this.#at.set(thing, this.#moment);
  }

  /** Whether any event after a moment is about the object of an operation, or about the end of its link. */
  has(moment: Moment, op: KernelOp): boolean {
    return thingsFor(op).some((thing) => (this.#at.get(thing) ?? -1) > moment);
  }

  /** When no answer is waited for. */
  forget(): void {
    this.#at.clear();
  }
}

const thingOf = (event: NetlinkEvent): string | undefined => {
  switch (event.kind) {
    case 'link':
      return event.change === 'gone' ? `link ${event.link.name}` : undefined;
    case 'address':
      return `address ${event.address.link} ${event.address.address}`;
    case 'neighbour':
      return `neighbour ${event.neighbour.link} ${event.neighbour.address}`;
    case 'setting':
      return `sysctl ${event.key}`;
    default:
      return undefined;
  }
};

const thingsFor = (op: KernelOp): string[] => {
  switch (op.op) {
    case 'address.put':
      return [`link ${op.address.link}`, `address ${op.address.link} ${op.address.address}`];
    case 'neighbour.put':
      return [`link ${op.neighbour.link}`, `neighbour ${op.neighbour.link} ${op.neighbour.address}`];
    case 'filter.put':
      return [`link ${op.filter.link}`];
    case 'sysctl.set':
      return [`link ${linkOfSysctl(op.key)}`, `sysctl ${op.key}`];
    default:
      return [];
  }
};
