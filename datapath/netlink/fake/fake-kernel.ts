/**
 * A kernel in memory: namespaces, veth pairs, addresses, routes and settings, with the side effects that planning depends
 * on. The conformance suite holds it to what the real one does.
 */
import { constants } from 'node:os';
import { kernelError, NetlinkError } from '../errors.ts';
import type { Kernel, KernelOp } from '../kernel/types.ts';
import type { NetlinkListener } from '../monitor/events.ts';
import { eventsBetween, stateOf } from './fake-events.ts';
import { FakeNetns } from './fake-netns.ts';

const OWN = '';

export class FakeKernel implements Kernel {
  readonly #namespaces = new Map<string, FakeNetns>();
  readonly #faults: { matches: (op: KernelOp) => boolean; code: string }[] = [];

  readonly #listeners = new Set<NetlinkListener>();
  readonly #features: { readonly vrf: boolean; readonly egress: boolean };

  /** @param options `vrf`: whether this kernel has VRFs; `egress`: whether it takes frame filters */
  constructor({ vrf = true, egress = true }: { readonly vrf?: boolean; readonly egress?: boolean } = {}) {
    this.#features = { vrf, egress };
    this.addNetns(OWN);
  }

  /** Emits changes of the own namespace, at once. */
  watch(listener: NetlinkListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** As when more changed than the kernel could report. */
  loseEvents(): void {
    for (const listener of this.#listeners) listener([{ kind: 'lost' }]);
  }

  #changing(op: KernelOp, change: () => void): void {
    if (this.#listeners.size === 0) {
      change();
      return;
    }
    const before = stateOf(this.netns());
    change();
    const events = eventsBetween(op, before, stateOf(this.netns()));
    if (events.length > 0) for (const listener of this.#listeners) listener(events);
  }

  netns(path: string = OWN): FakeNetns {
    const found = this.#namespaces.get(path);
    if (found === undefined) throw kernelError(`open network namespace ${path}`, constants.errno.ENOENT);
    return found;
  }

  async deleteGroup(group: number): Promise<void> {
    await Promise.resolve();
    const own = this.netns();
    for (const { name } of own.links().filter((link) => link.group === group)) own.apply([{ op: 'link.delete', name }]);
  }

  release(): void {}

  addNetns(path: string): void {
    this.#namespaces.set(
      path,
      new FakeNetns({
        find: (other) => this.netns(other),
        fault: (op) => this.#fault(op),
        changing: (op, change) => this.#changing(op, change),
        ...this.#features,
      }),
    );
  }

  /** As when the last process leaves it: its links go, and the other ends of those. */
  removeNetns(path: string): void {
    this.netns(path).clear();
    this.#namespaces.delete(path);
  }

  /** The next operation that matches fails. */
  failOnce(code: string, matches: (op: KernelOp) => boolean): void {
    this.#faults.push({ matches, code });
  }

  #fault(op: KernelOp): NetlinkError | undefined {
    const index = this.#faults.findIndex(({ matches }) => matches(op));
    const [fault] = index < 0 ? [] : this.#faults.splice(index, 1);
    return fault && new NetlinkError(fault.code, `${op.op}: ${fault.code} (injected)`, { errno: 1 });
  }
}
