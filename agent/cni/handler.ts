/** The verbs of CNI on this node. Everything that a verb changes can be repeated. */
import { CniError } from '../../api/cni/error.ts';
import type { AttachmentRequest, CniRequest, GcRequest } from '../../api/cni/request.ts';
import { formatCniResult } from '../../api/cni/result.ts';
import { formatVersionResult } from '../../api/cni/version.ts';
import { CNI_NETWORK_NAME } from '../../api/names.ts';
import { messageOf } from '../../base/error-message.ts';
import { type PodAttachments, requestedDefaultRoute } from '../model/attachments.ts';
import { podKey } from '../model/facts.ts';
import type { MultiNetwork } from '../model/view.ts';
import { foreignNetwork } from './attachments/foreign-status.ts';
import type { NetworkStatusKeeper } from './attachments/status-keeper.ts';
import { awaitAddressedPod } from './await-pod.ts';
import { endedBy, ignoreForeign, namedError } from './call-errors.ts';
import { partOf, refuseCall } from './delegated.ts';
import type { ForeignAttachments, MadeAttachment } from './foreign/foreign-attachments.ts';
import { mergedResult } from './foreign/merged-result.ts';
import { rangesOfOurs } from './foreign/overlap.ts';
import type { PluginHost } from './foreign/plugin-host.ts';
import { collectGarbage, removeOrphans } from './garbage.ts';
import { PodLanes } from './lanes.ts';
import type { LostInterfaces } from './lost-ports.ts';
import type { PluggedPort } from './ovs-ports.ts';
import { CniTimer, type ObserveCni } from './phases.ts';
import { hostNames, type Plumbing, plumbingOf, portOfLink } from './plumbing.ts';
import { PodFailures } from './pod-failures.ts';
import { type PlumberOptions, PodPlumber } from './pod-plumber.ts';
import { portDifferences } from './port-differences.ts';
import { settleAll } from './settle-all.ts';

export interface CniHandlerOptions extends PlumberOptions {
  /** Why no pod can be added now, one message each; empty: ready. */
  readonly notReady: () => readonly string[];
  /** Why this node cannot give a pod an address now; undefined: it can. @param pod `namespace/name` */
  readonly shortageOf: (pod: string) => string | undefined;
  /** An ADD failed, or waits for something: what the pod's owner should know. */
  readonly emitPodEvent: (pod: { namespace: string; name: string; uid: string | undefined }, message: string) => void;
  /** Hears of sandboxes whose interfaces are all made, and of those that lose them. */
  readonly status: Pick<NetworkStatusKeeper, 'attached' | 'detached'>;
  /** GC has removed interfaces, by the names of the node's ends, and attachments of other plugins, by their sandboxes. */
  readonly onGarbage: (removed: readonly string[]) => void;
  /** Attachments to networks of other plugins. */
  readonly foreign: ForeignAttachments;
  readonly multiNetwork: MultiNetwork;
  readonly observe: ObserveCni;
}

export class CniHandler {
  readonly failures = new PodFailures();
  readonly #options: CniHandlerOptions;
  readonly #plumber: PodPlumber;
  readonly #lanes = new PodLanes();

  constructor(options: CniHandlerOptions) {
    this.#options = options;
    this.#plumber = new PodPlumber(options);
  }

  /**
   * @param host runs plugins of other networks for this call
   * @returns what goes to the runtime's standard input; empty for verbs that answer nothing @throws CniError
   */
  handle(request: CniRequest, signal: AbortSignal, host: PluginHost): Promise<string> {
    const timer = new CniTimer(request.command, this.#options.observe, () => this.#options.clock.monotonic());
    return timer.phase('total', () => this.#dispatch(request, { timer, host }, signal));
  }

  /** @param pods UIDs of the pods of this node @returns the names of the interfaces that are gone */
  removeOrphans(pods: ReadonlySet<string>, signal: AbortSignal): Promise<string[]> {
    const { interfaces, ports } = this.#options;
    return removeOrphans({ interfaces, ports, pods, busy: this.#lanes.sandboxes() }, signal);
  }

  /**
   * Plugs interfaces of a pod again whose ports another program has taken away.
   * @throws CniError when the pod is not to have one of them any more, it takes longer than ADD would wait, or the runtime calls
   */
  async replug({ pod, sandbox, links }: LostInterfaces, signal: AbortSignal): Promise<void> {
    const call = { pod: podKey(pod), sandbox, command: 'replug' } as const;
    await this.#lanes.run(call, (both) => this.#replug({ pod, sandbox, links }, both), signal);
  }

  async #replug({ pod, sandbox, links }: LostInterfaces, signal: AbortSignal): Promise<void> {
    const attachments = this.#options.registry.get(podKey(pod));
    if (attachments?.pod.uid !== pod.uid) throw new CniError('podGone', 'the pod is gone');
    const lost = links.flatMap((link) => portOfLink(attachments, sandbox, link) ?? []);
    // An ADD ran meanwhile. Its ports have the same logical ports, and would be removed.
    const logicalPorts = new Set(lost.map(({ logicalPort }) => logicalPort));
    const isOfLater = (port: PluggedPort): boolean => logicalPorts.has(port.logicalPort) && port.sandbox !== sandbox;
    if (this.#options.ports.all().some(isOfLater)) throw new CniError('podGone', 'the pod has a later sandbox');
    if (lost.length > 0) await this.#plumber.replug(lost, attachments, signal);
    if (lost.length < links.length) {
      const { refused, waitingFor } = attachments;
      const why =
        refused ?? waitingFor ?? 'no network of the pod that is known has the MAC addresses of its interfaces';
      throw new CniError('networkNotReady', why);
    }
  }

  /** A call is waiting or under way. */
  isBusy(sandbox: string): boolean {
    return this.#lanes.sandboxes().includes(sandbox);
  }

  async #dispatch(request: CniRequest, call: Call, signal: AbortSignal): Promise<string> {
    switch (request.command) {
      case 'ADD':
        return this.#remembered(request, (both) => this.#add(request, call, both), signal);
      case 'DEL':
        await this.#remembered(request, (both) => this.#del(request, call.host, both), signal);
        return '';
      case 'CHECK':
        await this.#remembered(request, (both) => this.#check(request, call.host, both), signal);
        return '';
      case 'STATUS':
        this.#status();
        return '';
      case 'GC':
        await this.#gc(request, call.host, signal);
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

  async #add(request: AttachmentRequest, call: Call, signal: AbortSignal): Promise<string> {
    const { registry, clock, limits, shortageOf, multiNetwork, releasePolicies } = this.#options;
    const { timer } = call;
    refuseCall(request, multiNetwork);
    // First of all: OVN works them out while the interfaces are being made.
    releasePolicies();
    try {
      const report = (message: string): void => this.#waits(request, message);
      const attachments = await timer.phase('addresses', () =>
        awaitAddressedPod(request.pod, { registry, clock, report, shortageOf, ...limits }, signal),
      );
      const plumbing = this.#plumbing(attachments, request);
      const others = await this.#plumb(plumbing, attachments, { request, ...call }, signal);
      this.#options.status.attached(attachments.pod, request.containerId, others.map(foreignNetwork));
      const results = others.map(({ result }) => result);
      return formatCniResult(mergedResult(plumbing.result, results), request.cniVersion);
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

  /** Of what the call is about: all of the pod's attachments, or what Multus asks for. */
  #plumbing(attachments: PodAttachments, request: AttachmentRequest): Plumbing {
    const { ports, multiNetwork } = this.#options;
    const { containerId, netns } = request;
    const datapath = { txChecksum: !ports.isUserspace() };
    const all = plumbingOf(attachments, { id: containerId, netns }, datapath);
    return multiNetwork === 'native' ? all : partOf(all, attachments, request);
  }

  /**
   * Ours first, then those of other plugins. What was made is taken away again when a later step fails.
   * @returns what the other plugins have made
   */
  async #plumb(
    plumbing: Plumbing,
    attachments: PodAttachments,
    { request, timer, host }: Call & { readonly request: AttachmentRequest },
    signal: AbortSignal,
  ): Promise<readonly MadeAttachment[]> {
    const { foreign } = this.#options;
    const others = attachments.foreign ?? [];
    try {
      await this.#plumber.connect(plumbing, attachments, timer, signal);
      if (others.length === 0) {
        // Of an ADD that ended with its agent, when the pod selected more.
        await foreign.remove(request, host);
        return [];
      }
      const desired = {
        ...{ attachments: others, defaultRoute: requestedDefaultRoute(attachments) },
        taken: rangesOfOurs(attachments.attachments),
      };
      return await timer.phase('foreign-plugins', () => foreign.add(desired, request, host, signal));
    } catch (error) {
      await settleAll([
        foreign.remove(request, host),
        this.#plumber.unplug(plumbing.ports.map(({ name }) => name)),
      ]).catch((cause: unknown) => {
        throw new AggregateError([error, cause], `${messageOf(error)}; rollback failed: ${messageOf(cause)}`);
      });
      throw error;
    }
  }

  /** Knows the interfaces by what OVS has of the sandbox and by their names: either may be all that is left. */
  async #del(request: AttachmentRequest, host: PluginHost, signal: AbortSignal): Promise<void> {
    const { multiNetwork, foreign } = this.#options;
    if (request.config.netAttachDefName === undefined) {
      await settleAll([foreign.remove(request, host), this.#delOwn(request, signal)]);
    } else if (multiNetwork === 'delegated') await this.#delOne(request, signal);
    // Natively none was added by a call of its own: what the sandbox has is the pod's.
  }

  async #delOwn({ containerId, netns, ifName }: AttachmentRequest, signal: AbortSignal): Promise<void> {
    this.#options.status.detached(containerId);
    const plugged = this.#options.ports.ofSandbox(containerId).map(({ name }) => name);
    const names = [...new Set([...plugged, ...hostNames(containerId)])];
    await this.#plumber.unplug(names, signal);
    if (netns !== '') await this.#options.interfaces.remove([{ netns, name: ifName }], signal).catch(ignoreForeign);
  }

  /** One that Multus asks to be taken away; whatever of it is not found goes with the default network's, which Multus has deleted last. */
  async #delOne({ containerId, netns, ifName }: AttachmentRequest, signal: AbortSignal): Promise<void> {
    const { ports, interfaces } = this.#options;
    const names = ports.ofSandbox(containerId).flatMap((one) => (one.interfaceName === ifName ? [one.name] : []));
    if (names.length > 0) await this.#plumber.unplug(names, signal);
    if (netns !== '') await interfaces.remove([{ netns, name: ifName }], signal).catch(ignoreForeign);
  }

  async #check(request: AttachmentRequest, host: PluginHost, signal: AbortSignal): Promise<void> {
    const { registry, interfaces, ports, foreign, multiNetwork } = this.#options;
    refuseCall(request, multiNetwork);
    const attachments = registry.get(`${request.pod.namespace}/${request.pod.name}`);
    if (attachments === undefined) throw new CniError('podGone', 'the API server has no such pod on this node');
    const plumbing = this.#plumbing(attachments, request);
    const differences = await interfaces.check(plumbing.network, signal);
    const plugged = ports.ofSandbox(request.containerId);
    const others = await foreign.check(attachments.foreign, request, host);
    const found = [...differences, ...portDifferences(attachments, plumbing.ports, plugged), ...others];
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
  async #gc({ config, validAttachments }: GcRequest, host: PluginHost, signal: AbortSignal): Promise<void> {
    if (config.netAttachDefName !== undefined || config.name !== CNI_NETWORK_NAME) return;
    const { interfaces, ports, foreign, onGarbage } = this.#options;
    const kept = [...validAttachments.map(({ containerId }) => containerId), ...this.#lanes.sandboxes()];
    const report = (removed: readonly string[]): void => {
      if (removed.length > 0) onGarbage(removed);
    };
    await settleAll([
      foreign.collect(kept, host).then(report),
      collectGarbage({ interfaces, ports, kept }, signal).then(report),
    ]);
  }
}

/** What a call has beside its request. */
interface Call {
  readonly timer: CniTimer;
  readonly host: PluginHost;
}
