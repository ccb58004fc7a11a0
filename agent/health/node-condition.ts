/**
 * Says on the Node whether its network takes new pods: condition `NetworkUnavailable`. While it is True, the node lifecycle
 * controller keeps new pods away by the taint node.kubernetes.io/network-unavailable:NoSchedule, and those that run stay.
 */
import { NETWORK_UNAVAILABLE } from '../../api/node-condition.ts';
import type { Clock } from '../../base/clock.ts';
import { readNodeCondition } from '../../kube/node-condition.ts';
import { NODES } from '../../kube/resources.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { Writer } from '../../kube/writer/types.ts';
import { type Component, type ComponentHealth, isNetworkDown } from './component.ts';

export interface NodeConditionOptions {
  readonly node: string;
  readonly client: Pick<KubeClient, 'get'>;
  readonly writer: Pick<Writer, 'apply'>;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

interface Verdict {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

const REASONS: Readonly<Partial<Record<Component, string>>> = {
  'openvswitch-db': 'OpenVSwitchDatabaseFailed',
  'northbound-db': 'NorthboundDatabaseFailed',
  'southbound-db': 'SouthboundDatabaseFailed',
  'ovs-vswitchd': 'VswitchdNotResponding',
  'ovn-northd': 'NorthdNotProcessing',
  'ovn-controller': 'OVNControllerNotProcessing',
};

const RETRY_MS = 5_000;

/** The first that fails explains those behind it. Undefined: it is not known how all stand. */
export const verdictOf = (health: readonly ComponentHealth[]): Verdict | undefined => {
  const failed = health.find(isNetworkDown);
  if (failed !== undefined) {
    const { component, message } = failed;
    return { status: 'True', reason: REASONS[component] ?? 'ComponentFailed', message };
  }
  if (health.some(({ component, state }) => component in REASONS && state !== 'working')) return undefined;
  return { status: 'False', reason: 'OVNUDNIsUp', message: 'OVN and Open vSwitch process what udn-agent programs' };
};

/** Writes the condition when it has changed, until the server has it. */
export class NodeCondition {
  readonly #options: NodeConditionOptions;
  readonly #stop = new AbortController();
  #desired: Verdict | undefined;
  #written: (Verdict & { readonly since: string }) | undefined;
  /** How often others have written in our place. */
  #overruled = 0;
  #isWriting = false;
  #cancelRetry = (): void => undefined;

  constructor(options: NodeConditionOptions) {
    this.#options = options;
  }

  set(verdict: Verdict | undefined): void {
    if (verdict === undefined) return;
    this.#desired = verdict;
    void this.#write();
  }

  /** Somebody has written the condition in our place, while we were silent. */
  overruled(): void {
    this.#overruled += 1;
    this.#written = undefined;
    void this.#write();
  }

  stop(): void {
    this.#stop.abort();
    this.#cancelRetry();
  }

  async #write(): Promise<void> {
    if (this.#isWriting) return;
    this.#isWriting = true;
    const { signal } = this.#stop;
    try {
      while (this.#desired !== undefined && !signal.aborted && !isSame(this.#desired, this.#written)) {
        await this.#writeOnce(this.#desired, signal);
      }
    } catch (error) {
      if (!signal.aborted) this.#failed(error);
    }
    this.#isWriting = false;
  }

  async #writeOnce(verdict: Verdict, signal: AbortSignal): Promise<void> {
    const { node, client, writer, clock } = this.#options;
    const overruled = this.#overruled;
    const before = this.#written ?? (await readNodeCondition(client, node, NETWORK_UNAVAILABLE, signal));
    const now = new Date(clock.wall()).toISOString().replace(/\.[0-9]+Z$/, 'Z');
    const since = before?.status === verdict.status ? before.since : now;
    const condition = { type: NETWORK_UNAVAILABLE, ...verdict, lastHeartbeatTime: now, lastTransitionTime: since };
    const object = { metadata: { name: node }, status: { conditions: [condition] } };
    await writer.apply(NODES, object, { subresource: 'status' }, signal);
    // What others wrote meanwhile may have come after this.
    this.#written = overruled === this.#overruled ? { ...verdict, since } : undefined;
  }

  #failed(error: unknown): void {
    this.#written = undefined;
    this.#options.onError(error);
    this.#cancelRetry();
    this.#cancelRetry = this.#options.clock.schedule(RETRY_MS, () => void this.#write());
  }
}

const isSame = (a: Verdict, b: Verdict | undefined): boolean =>
  a.status === b?.status && a.reason === b.reason && a.message === b.message;
