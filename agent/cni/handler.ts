/** The verbs of CNI on this node. Everything that a verb changes can be repeated. */
import { CniError } from '../../api/cni/error.ts';
import type { AttachmentRequest, CniRequest, GcRequest } from '../../api/cni/request.ts';
import { formatCniResult } from '../../api/cni/result.ts';
import { formatVersionResult } from '../../api/cni/version.ts';
import { CNI_NETWORK_NAME, DEFAULT_INTERFACE } from '../../api/names.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/error-message.ts';
import type { PodInterfaceEnd, PodInterfaces } from '../../datapath/netlink/pod-interface/types.ts';
import { type PodAttachments, secondaryUnsupported } from '../model/attachments.ts';
import { isLocked, podKey } from '../model/facts.ts';
import type { AttachmentRegistry } from './attachments/registry.ts';
import { awaitAddressedPod, refuseLeaving, within } from './await-pod.ts';
import { endedBy, ignoreForeign, namedError } from './call-errors.ts';
import { collectGarbage, removeOrphans } from './garbage.ts';
import type { HostIsolation } from './host-isolation.ts';
import { PodLanes } from './lanes.ts';
import type { CniLimits } from './limits.ts';
import type { OvsPorts } from './ovs-ports.ts';
import { CniTimer, type ObserveCni } from './phases.ts';
import { hostNames, type Plumbing, plumbingOf } from './plumbing.ts';
import { PodFailures } from './pod-failures.ts';
import { portDifferences } from './port-differences.ts';
import { raiseOpened } from './raise-opened.ts';

export interface CniHandlerOptions {
  readonly registry: AttachmentRegistry;
  readonly interfaces: PodInterfaces;
  readonly ports: OvsPorts;
  readonly isolation: HostIsolation;
  /** Why no pod can be added now, one message each; empty: ready. */
  readonly notReady: () => readonly string[];
  /** Why this node cannot give a pod an address now; undefined: it can. @param pod `namespace/name` */
  readonly shortageOf: (pod: string) => string | undefined;
  /** An ADD failed, or waits for something: what the pod's owner should know. */
  readonly emitPodEvent: (pod: { namespace: string; name: string; uid: string | undefined }, message: string) => void;
  /** GC has removed interfaces, by the names of the node's ends. */
  readonly onGarbage: (interfaces: readonly string[]) => void;
  readonly clock: Clock;
  readonly observe: ObserveCni;
  readonly limits: CniLimits;
}

export class CniHandler {
  readonly failures = new PodFailures();
  readonly #options: CniHandlerOptions;
  readonly #lanes = new PodLanes();

  constructor(options: CniHandlerOptions) {
    this.#options = options;
  }

  /** @returns what goes to the runtime's standard input; empty for verbs that answer nothing @throws CniError */
  handle(request: CniRequest, signal: AbortSignal): Promise<string> {
    const timer = new CniTimer(request.command, this.#options.observe, () => this.#options.clock.monotonic());
    return timer.phase('total', () => this.#dispatch(request, timer, signal));
  }

  /** @param pods UIDs of the pods of this node @returns the names of the interfaces that are gone */
  removeOrphans(pods: ReadonlySet<string>, signal: AbortSignal): Promise<string[]> {
    const { interfaces, ports } = this.#options;
    return removeOrphans({ interfaces, ports, pods, busy: this.#lanes.sandboxes() }, signal);
  }

  /** A call is waiting or under way. */
  isBusy(sandbox: string): boolean {
    return this.#lanes.sandboxes().includes(sandbox);
  }

  async #dispatch(request: CniRequest, timer: CniTimer, signal: AbortSignal): Promise<string> {
    switch (request.command) {
      case 'ADD':
        return this.#remembered(request, (both) => this.#add(request, timer, both), signal);
      case 'DEL':
        // A secondary network was never added: what the sandbox has is another attachment's.
        if (request.config.netAttachDefName !== undefined) return '';
        await this.#remembered(request, (both) => this.#del(request, both), signal);
        return '';
      case 'CHECK':
        await this.#remembered(request, (both) => this.#check(request, both), signal);
        return '';
      case 'STATUS':
        this.#status();
        return '';
      case 'GC':
        await this.#gc(request, signal);
        return '';
      case 'VERSION':
        return formatVersionResult(request.cniVersion);
    }
  }

  #inLane<Result>(
    request: AttachmentRequest,
    work: (signal: AbortSignal) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    const { pod, containerId: sandbox, command } = request;
    return this.#lanes.run({ pod: `${pod.namespace}/${pod.name}`, sandbox, command }, work, signal);
  }

  async #remembered<Result>(
    request: AttachmentRequest,
    work: (signal: AbortSignal) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    try {
      const result = await this.#inLane(request, work, signal);
      this.failures.succeeded(request);
      return result;
    } catch (error) {
      this.failures.failed(request, error);
      throw error;
    }
  }

  async #add(request: AttachmentRequest, timer: CniTimer, signal: AbortSignal): Promise<string> {
    refuseSecondary(request);
    refuseOtherName(request);
    const { registry, clock, limits, shortageOf } = this.#options;
    try {
      const report = (message: string): void => this.#waits(request, message);
      const attachments = await timer.phase('addresses', () =>
        awaitAddressedPod(request.pod, { registry, clock, report, shortageOf, ...limits }, signal),
      );
      const plumbing = this.#plumbing(attachments, request);
      await this.#plumb(plumbing, attachments, timer, signal);
      return formatCniResult(plumbing.result, request.cniVersion);
    } catch (error) {
      const known = endedBy(signal, error) ?? namedError(error);
      if (!signal.aborted) this.#report(request, messageOf(known));
      throw known;
    }
  }

  #waits(request: AttachmentRequest, message: string): void {
    this.failures.waits(request, message);
    this.#report(request, `waiting: ${message}`);
  }

  #report({ pod: { namespace, name, uid } }: AttachmentRequest, message: string): void {
    this.#options.emitPodEvent({ namespace, name, uid }, message);
  }

  #plumbing(attachments: PodAttachments, { containerId, netns }: AttachmentRequest): Plumbing {
    const datapath = { txChecksum: !this.#options.ports.isUserspace() };
    return plumbingOf(attachments, { id: containerId, netns }, datapath);
  }

  /** What was made is taken away again when a later step fails. */
  async #plumb(plumbing: Plumbing, attachments: PodAttachments, timer: CniTimer, signal: AbortSignal): Promise<void> {
    try {
      await this.#connect(plumbing, attachments, timer, signal);
    } catch (error) {
      await this.#unplumb(plumbing.ports.map(({ name }) => name)).catch((cause: unknown) => {
        throw new AggregateError([error, cause], `${messageOf(error)}; rollback failed: ${messageOf(cause)}`);
      });
      throw error;
    }
  }

  /**
   * OVS and OVN begin as soon as the node's ends of the interfaces are there, while these get their filters and come up, and the pod's
   * ends are being configured. No port is plugged before nftables has what keeps the node's processes from the pod, which is mostly there since the pod got its addresses.
   * A pod may go from the API before its port: then nobody of the node may reach its address (`host-isolation/default-port.ts`).
   * Settles when nothing goes on, so that all of it can be taken back.
   */
  async #connect(plumbing: Plumbing, attachments: PodAttachments, timer: CniTimer, signal: AbortSignal): Promise<void> {
    const { interfaces, ports } = this.#options;
    const linked = Promise.withResolvers<void>();
    const failed = new AbortController();
    const either = AbortSignal.any([signal, failed.signal]);
    const configured = timer.phase('interfaces', () => interfaces.ensure(plumbing.network, signal, linked.resolve));
    const isolated = this.#untilIsolated(attachments, timer, either);
    const plugged = Promise.all([Promise.race([linked.promise, configured]), isolated]).then(() =>
      timer.phase('ovs-port', () => ports.plug(plumbing.ports, signal)),
    );
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

  /** A pod of a primary network; others do not wait, and are not timed. */
  async #untilIsolated(attachments: PodAttachments, timer: CniTimer, signal: AbortSignal): Promise<void> {
    const { clock, limits, isolation } = this.#options;
    if (!isLocked(attachments.pod)) return;
    const late = (): CniError => {
      const what = `host isolation of pod ${podKey(attachments.pod)} was not programmed in nftables within ${limits.installedMs / 1000} s`;
      const details = 'is nft installed, does the kernel have nf_tables? the runtime retries ADD';
      return new CniError('notIsolated', `${what}: ${isolation.lackingOf(attachments)}`, { details });
    };
    const until = (limited: AbortSignal): Promise<void> => isolation.untilIsolated(attachments, limited);
    await timer.phase('host-isolation', () => within(clock, limits.installedMs, signal, until, late));
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

  /** Knows the interfaces by what OVS has of the sandbox and by their names: either may be all that is left. */
  async #del({ containerId, netns, ifName }: AttachmentRequest, signal: AbortSignal): Promise<void> {
    const plugged = this.#options.ports.ofSandbox(containerId).map(({ name }) => name);
    const names = [...new Set([...plugged, ...hostNames(containerId)])];
    await this.#unplumb(names, signal);
    if (netns !== '') await this.#options.interfaces.remove([{ netns, name: ifName }], signal).catch(ignoreForeign);
  }

  async #unplumb(names: readonly string[], signal?: AbortSignal): Promise<void> {
    const { interfaces, ports } = this.#options;
    const ends = names.map((hostName): PodInterfaceEnd => ({ hostName }));
    const results = await Promise.allSettled([
      ports.unplug(names, signal ?? NEVER),
      interfaces.remove(ends, signal).catch(ignoreForeign),
    ]);
    const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    if (failures.length > 0)
      throw failures.length === 1 ? failures[0] : new AggregateError(failures, failures.map(messageOf).join('; '));
  }

  async #check(request: AttachmentRequest, signal: AbortSignal): Promise<void> {
    const { registry, interfaces, ports } = this.#options;
    const attachments = registry.get(`${request.pod.namespace}/${request.pod.name}`);
    if (attachments === undefined) throw new CniError('podGone', 'the API server has no such pod on this node');
    const plumbing = this.#plumbing(attachments, request);
    const differences = await interfaces.check(plumbing.network, signal);
    const plugged = ports.ofSandbox(request.containerId);
    const found = [...differences, ...portDifferences(attachments, plumbing.ports, plugged)];
    if (found.length > 0)
      throw new CniError('internal', `the pod's network differs from the desired state: ${found.join('; ')}`);
  }

  #status(): void {
    const reasons = this.#options.notReady();
    if (reasons.length > 0) throw new CniError('pluginNotAvailable', `not ready: ${reasons.join('; ')}`);
  }

  /**
   * Takes away what no valid attachment, and no call under way, has. The attachments of another network say nothing about
   * those that are made here.
   */
  async #gc({ config, validAttachments }: GcRequest, signal: AbortSignal): Promise<void> {
    if (config.netAttachDefName !== undefined || config.name !== CNI_NETWORK_NAME) return;
    const { interfaces, ports, onGarbage } = this.#options;
    const kept = [...validAttachments.map(({ containerId }) => containerId), ...this.#lanes.sandboxes()];
    const removed = await collectGarbage({ interfaces, ports, kept }, signal);
    if (removed.length > 0) onGarbage(removed);
  }
}

const NEVER = new AbortController().signal;

const refuseSecondary = ({ config, ifName }: AttachmentRequest): void => {
  if (config.netAttachDefName === undefined) return;
  throw new CniError('invalidConfig', secondaryUnsupported(`${config.netAttachDefName} as ${ifName}`), {
    field: 'netAttachDefName',
  });
};

/** The default network's interface has the name that Kubernetes looks for; it is not the runtime's to choose. */
const refuseOtherName = ({ ifName }: AttachmentRequest): void => {
  if (ifName === DEFAULT_INTERFACE) return;
  throw new CniError('invalidEnvironment', `CNI_IFNAME must be ${DEFAULT_INTERFACE}, not ${ifName}`, {
    field: 'CNI_IFNAME',
  });
};
