/** Makes and removes the interfaces and ports of a pod on networks of ovn-udn. */
import { CniError } from '../../api/cni/error.ts';
import type { Clock } from '../../base/clock.ts';
import type { PodInterfaceEnd, PodInterfaces } from '../../datapath/netlink/pod-interface/types.ts';
import type { PodAttachments } from '../model/attachments.ts';
import { isLocked, podKey } from '../model/facts.ts';
import type { AttachmentRegistry } from './attachments/registry.ts';
import { refuseLeaving, within } from './await-pod.ts';
import { ignoreForeign } from './call-errors.ts';
import { filtersOf, knownPods } from './filter-keeper.ts';
import type { HostIsolation } from './host-isolation.ts';
import type { CniLimits } from './limits.ts';
import type { OvsPorts, PortSpec } from './ovs-ports.ts';
import type { CniTimer } from './phases.ts';
import type { Plumbing } from './plumbing.ts';
import { raiseOpened } from './raise-opened.ts';
import { settleAll } from './settle-all.ts';

export interface PlumberOptions {
  readonly registry: AttachmentRegistry;
  readonly interfaces: PodInterfaces;
  readonly ports: OvsPorts;
  readonly isolation: HostIsolation;
  /** Follows policies that are held for a moment (ADR 134): those that the agent has heard of are written before the port is there. */
  readonly releasePolicies: () => void;
  readonly clock: Clock;
  readonly limits: CniLimits;
}

export class PodPlumber {
  readonly #options: PlumberOptions;

  constructor(options: PlumberOptions) {
    this.#options = options;
  }

  /**
   * OVS and OVN begin as soon as the node's ends of the interfaces are there, while these get their filters and come up, and the pod's
   * ends are being configured. No port is plugged before nftables has what keeps the node's processes from the pod, which is mostly there since the pod got its addresses.
   * A pod may go from the API before its port: then nobody of the node may reach its address (`host-isolation/default-port.ts`).
   * Settles when nothing goes on, so that all of it can be taken back.
   */
  async connect(plumbing: Plumbing, attachments: PodAttachments, timer: CniTimer, signal: AbortSignal): Promise<void> {
    const { interfaces, ports, releasePolicies } = this.#options;
    const linked = Promise.withResolvers<void>();
    const failed = new AbortController();
    const either = AbortSignal.any([signal, failed.signal]);
    const configured = timer.phase('interfaces', () => interfaces.ensure(plumbing.network, signal, linked.resolve));
    const isolated = this.#untilIsolated(attachments, timer, either);
    const plugged = Promise.all([Promise.race([linked.promise, configured]), isolated]).then(() => {
      releasePolicies();
      return timer.phase('ovs-port', () => ports.plug(plumbing.ports, signal));
    });
    const installed = plugged.then(() =>
      timer.phase('ovn-installed', () => this.#untilInstalled(plumbing, attachments, either)),
    );
    const raised = Promise.all([configured, plugged]).then(() =>
      raiseOpened(plumbing.ports, { interfaces, ports }, either),
    );
    const all = [configured, installed, isolated, raised];
    for (const one of all) one.catch((error: unknown) => failed.abort(error));
    for (const result of await Promise.allSettled(all)) {
      if (result.status === 'rejected') throw result.reason;
    }
  }

  /**
   * Plugs interfaces of a running pod again, whose ports another program has taken away, by the same order: nothing of what keeps
   * others from the pod may be missing when its port is there.
   */
  async replug(ports: readonly PortSpec[], attachments: PodAttachments, signal: AbortSignal): Promise<void> {
    const { interfaces, ports: ovs, releasePolicies, clock, limits } = this.#options;
    const filters = filtersOf(ports, knownPods([attachments])).map(({ filter }) => filter);
    await Promise.all([interfaces.keepFilters(filters), this.#isolated(attachments, signal)]);
    releasePolicies();
    const plug = async (limited: AbortSignal): Promise<void> => {
      await ovs.plug(ports, limited);
      await raiseOpened(ports, { interfaces, ports: ovs }, limited);
    };
    const late = `Open vSwitch has not opened ${ports.map(({ name }) => name).join(', ')} within ${limits.installedMs / 1000} s`;
    await within(clock, limits.installedMs, signal, plug, () => new CniError('notInstalled', late));
  }

  /** A pod of a primary network; others do not wait, and are not timed. */
  async #untilIsolated(attachments: PodAttachments, timer: CniTimer, signal: AbortSignal): Promise<void> {
    if (isLocked(attachments.pod)) await timer.phase('host-isolation', () => this.#isolated(attachments, signal));
  }

  async #isolated(attachments: PodAttachments, signal: AbortSignal): Promise<void> {
    const { clock, limits, isolation } = this.#options;
    if (!isLocked(attachments.pod)) return;
    const late = (): CniError => {
      const what = `host isolation of pod ${podKey(attachments.pod)} was not programmed in nftables within ${limits.installedMs / 1000} s`;
      const details = 'is nft installed, does the kernel have nf_tables? the runtime retries ADD';
      return new CniError('notIsolated', `${what}: ${isolation.lackingOf(attachments)}`, { details });
    };
    const until = (limited: AbortSignal): Promise<void> => isolation.untilIsolated(attachments, limited);
    await within(clock, limits.installedMs, signal, until, late);
  }

  async #untilInstalled({ ports: desired }: Plumbing, { pod }: PodAttachments, signal: AbortSignal): Promise<void> {
    const { clock, limits, ports, registry } = this.#options;
    const controller = new AbortController();
    const late = `ovn-controller has not installed ${desired.map(({ logicalPort }) => logicalPort).join(', ')} within ${limits.installedMs / 1000} s`;
    const cancel = clock.schedule(limits.installedMs, () =>
      controller.abort(new CniError('notInstalled', late, { details: 'are ovn-controller and ovn-northd running?' })),
    );
    const both = AbortSignal.any([signal, controller.signal]);
    const gone = registry.until(
      `${pod.namespace}/${pod.name}`,
      (found) => {
        if (found?.pod.uid !== pod.uid)
          throw new CniError('podGone', `pod ${pod.namespace}/${pod.name} was deleted during ADD`);
        refuseLeaving(found);
        return undefined;
      },
      both,
    );
    gone.catch(() => undefined);
    try {
      await Promise.race([ports.untilInstalled(desired, both), gone]);
    } finally {
      cancel();
      controller.abort();
    }
  }

  /** Takes away ports and links, by the names of the node's ends. */
  async unplug(names: readonly string[], signal?: AbortSignal): Promise<void> {
    const { interfaces, ports } = this.#options;
    const ends = names.map((hostName): PodInterfaceEnd => ({ hostName }));
    await settleAll([ports.unplug(names, signal ?? NEVER), interfaces.remove(ends, signal).catch(ignoreForeign)]);
  }
}

const NEVER = new AbortController().signal;
