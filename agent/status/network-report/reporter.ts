/**
 * Writes what this node has of the networks to the API, in an object that this agent alone writes: when it has changed, after a
 * while in which more may change, and not more often than all agents together should. While nothing changes it is renewed, so
 * that nobody takes the last word of an agent that has stopped for what its node has (ADR 80).
 */
import {
  type NetworkException,
  type ReportedFirewalls,
  type ReportStatus,
  reportStatusSchema,
} from '../../../api/node-network-report.ts';
import { NODE_NETWORK_REPORTS } from '../../../api/resources.ts';
import { backoffMs } from '../../../base/backoff.ts';
import type { Clock } from '../../../base/clock.ts';
import { isNotFound } from '../../../kube/errors.ts';
import { recordOr } from '../../../kube/is-record.ts';
import { jsonEqual } from '../../../kube/json-equal.ts';
import type { KubeClient, KubeObject, ObjectInput } from '../../../kube/types.ts';
import type { Writer } from '../../../kube/writer/types.ts';
import type { TimedHealth } from '../../health/component.ts';
import { type NetworkOnNode, type ReportedIds, ReportLedger, shortened } from './ledger.ts';

export interface NetworkReporterOptions {
  readonly node: string;
  readonly rendering: ReportStatus['rendering'];
  /** Undefined: this node is not to have the network. */
  readonly look: (network: string) => NetworkOnNode | undefined;
  /** Of networks that are gone. Default: nothing is said of them. */
  readonly ids?: () => ReportedIds;
  /** Of what the networks need beside the agent. Default: nothing is said of it. */
  readonly health?: () => readonly TimedHealth[];
  /** Of EgressFirewalls. Default: nothing is said of them. */
  readonly firewalls?: () => ReportedFirewalls;
  /** The uid of this Node; undefined while it is not there: nothing is written then. */
  readonly nodeUid: () => string | undefined;
  /** How many nodes the cluster has: with them the time between two writes grows. */
  readonly nodes: () => number;
  readonly client: Pick<KubeClient, 'get'>;
  readonly writer: Pick<Writer, 'apply'>;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly observe: (observation: ReportObservation) => void;
}

export type ReportObservation =
  | { readonly kind: 'written' }
  /** The report has not changed. */
  | { readonly kind: 'renewed' }
  /** The API server has no such kind: an older cluster. Reported once. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'failed'; readonly error: unknown };

/** What changes together comes together: a network is mostly there before this is over. */
const SETTLE_MS = 1_000;
const MIN_SPREAD_MS = 1_000;
/** All agents together write at most 20 times a second. */
const SPREAD_PER_NODE_MS = 50;
/** As often as a kubelet renews the Lease of its node, and in large clusters as seldom as reports change. */
const MIN_RENEW_MS = 10_000;
/** A kubelet's Lease counts for as long. */
const MIN_LEASE_SECONDS = 40;
/** One renewal may be late, or fail. */
const RENEWALS_PER_LEASE = 3;
/** From this, twice as long each time, to that: the report of an earlier Node of the name may have to go first. */
const RETRY = { minMs: 30_000, maxMs: 600_000 };

/** The shortest time between two writes of one node, and over what time a change on all nodes is spread. */
export const reportSpreadMs = (nodes: number): number => Math.max(MIN_SPREAD_MS, nodes * SPREAD_PER_NODE_MS);

/** Between two renewals of a report that does not change. */
export const renewMs = (nodes: number): number => Math.max(MIN_RENEW_MS, reportSpreadMs(nodes));

/** How long a report counts after it was written. */
export const leaseSeconds = (nodes: number): number =>
  Math.max(MIN_LEASE_SECONDS, Math.ceil((RENEWALS_PER_LEASE * renewMs(nodes)) / 1_000));

export class NetworkReporter {
  readonly #options: NetworkReporterOptions;
  readonly #stop = new AbortController();
  readonly #touched = new Set<string>();
  #ledger: ReportLedger | undefined;
  /** What the API has; undefined: it has to be read. */
  #known: Known | undefined;
  #isUnreadyTouched = false;
  #areIdsTouched = false;
  #isHealthTouched = false;
  #areFirewallsTouched = false;
  #notBefore = 0;
  #cancel: (() => void) | undefined;
  #cancelRenewal: (() => void) | undefined;
  #isWriting = false;
  #isAbsent = false;
  #failures = 0;

  constructor(options: NetworkReporterOptions) {
    this.#options = options;
  }

  /** Something of a network may be another way now. */
  touch(network: string): void {
    this.#touched.add(network);
    this.#schedule();
  }

  /** Something happened that those which are not ready may have waited for. */
  touchUnready(): void {
    if (this.#isUnreadyTouched || this.#ledger === undefined || this.#ledger.isAllReady) return;
    this.#isUnreadyTouched = true;
    this.#schedule();
  }

  /** Something else may be said of ids. */
  touchIds(): void {
    this.#areIdsTouched = true;
    this.#schedule();
  }

  /** Something that networks need has failed, or works again. */
  touchHealth(): void {
    this.#isHealthTouched = true;
    this.#schedule();
  }

  /** A firewall has been applied, or is not any more. */
  touchFirewalls(): void {
    this.#areFirewallsTouched = true;
    this.#schedule();
  }

  /** The Node came, or is another one of the same name: its report went with the one before. */
  touchNode(): void {
    this.#known = undefined;
    this.#schedule();
  }

  stop(): void {
    this.#stop.abort();
    this.#cancel?.();
    this.#cancelRenewal?.();
  }

  #schedule(): void {
    if (this.#cancel !== undefined || this.#isWriting || this.#stop.signal.aborted) return;
    const { clock, random, nodes } = this.#options;
    const wait = SETTLE_MS + random() * reportSpreadMs(nodes());
    this.#cancel = clock.schedule(Math.max(wait, this.#notBefore - clock.monotonic()), () => {
      this.#cancel = undefined;
      void this.#report();
    });
  }

  async #report(): Promise<void> {
    const { clock, nodes, nodeUid } = this.#options;
    const uid = nodeUid();
    if (uid === undefined) return;
    this.#isWriting = true;
    try {
      if (await this.#writeIfChanged(uid)) this.#notBefore = clock.monotonic() + reportSpreadMs(nodes());
      this.#isAbsent = false;
      this.#failures = 0;
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#failed(error);
    }
    this.#isWriting = false;
    // Another Node of the name meanwhile.
    if (nodeUid() !== uid) this.#known = undefined;
    if (
      this.#touched.size > 0 ||
      this.#isUnreadyTouched ||
      this.#areIdsTouched ||
      this.#isHealthTouched ||
      this.#areFirewallsTouched ||
      this.#known === undefined
    )
      this.#schedule();
    this.#planRenewal();
  }

  #planRenewal(): void {
    this.#cancelRenewal?.();
    if (this.#stop.signal.aborted || this.#known === undefined) return;
    this.#cancelRenewal = this.#options.clock.schedule(this.#renewInMs(), () => {
      this.#cancelRenewal = undefined;
      // What is scheduled renews it, too.
      if (this.#cancel === undefined && !this.#isWriting) void this.#report();
    });
  }

  /** 0: it is due. */
  #renewInMs(): number {
    const { clock, nodes } = this.#options;
    const age = clock.wall() - (this.#known?.renewedAt ?? 0);
    // A clock that was put back says nothing.
    return age < 0 ? 0 : Math.max(0, renewMs(nodes()) - age);
  }

  /** @returns whether something was written */
  async #writeIfChanged(uid: string): Promise<boolean> {
    const { writer, node, rendering, observe, clock, nodes } = this.#options;
    this.#known ??= await this.#read();
    this.#ledger ??= new ReportLedger(exceptionsOf(this.#known));
    this.#look(this.#ledger);
    this.#areIdsTouched = false;
    this.#isHealthTouched = false;
    this.#areFirewallsTouched = false;
    const firewalls = this.#options.firewalls?.();
    const status = {
      ...this.#ledger.status(rendering, this.#options.ids?.()),
      ...reportedHealth(this.#options.health?.()),
      ...(firewalls && { firewalls }),
    };
    const isSame = this.#known.uid === uid && jsonEqual(this.#known.status, status);
    if (isSame && this.#renewInMs() > 0) return false;
    const renewedAt = clock.wall();
    const renewal = { renewTime: timeOf(renewedAt), leaseDurationSeconds: leaseSeconds(nodes()) };
    await writer.apply(NODE_NETWORK_REPORTS, reportOf(node, uid, { ...status, ...renewal }), {}, this.#stop.signal);
    this.#known = { uid, status, renewedAt };
    observe({ kind: isSame ? 'renewed' : 'written' });
    return true;
  }

  #look(ledger: ReportLedger): void {
    const { look, clock } = this.#options;
    const now = timeOf(clock.wall());
    if (this.#isUnreadyTouched) for (const network of ledger.unready) this.#touched.add(network);
    this.#isUnreadyTouched = false;
    for (const network of this.#touched) ledger.set(network, look(network), now);
    this.#touched.clear();
  }

  async #read(): Promise<Known> {
    const { client, node } = this.#options;
    try {
      return knownOf(await client.get(NODE_NETWORK_REPORTS, { name: node }, this.#stop.signal));
    } catch (error) {
      if (isNotFound(error)) return { uid: undefined, status: undefined, renewedAt: 0 };
      throw error;
    }
  }

  #failed(error: unknown): void {
    const { clock, observe } = this.#options;
    // Whether it was written is not known, either.
    this.#known = undefined;
    this.#failures += 1;
    const wait = isNotFound(error) ? RETRY.maxMs : backoffMs(RETRY, this.#failures);
    this.#notBefore = clock.monotonic() + wait;
    if (!isNotFound(error)) observe({ kind: 'failed', error });
    else if (!this.#isAbsent) observe({ kind: 'absent' });
    this.#isAbsent = isNotFound(error);
  }
}

/** An empty list: everything works. What is unknown has its cause in the list, or was not asked yet. */
const reportedHealth = (health: readonly TimedHealth[] | undefined): Pick<ReportStatus, 'failedComponents'> =>
  health === undefined
    ? {}
    : {
        failedComponents: health
          .filter(({ state }) => state === 'failed')
          .map(({ component, message, since }) => ({ component, message: shortened(message), since: timeOf(since) })),
      };

interface Known {
  /** Of the Node that owns it. */
  readonly uid: string | undefined;
  /** Without what renews it. */
  readonly status: unknown;
  /** By the clock of this node; 0: never. */
  readonly renewedAt: number;
}

const knownOf = ({ metadata: { ownerReferences = [] }, ...object }: KubeObject): Known => {
  const { renewTime, leaseDurationSeconds: _, ...status } = recordOr(object['status']);
  const renewedAt = typeof renewTime === 'string' ? Date.parse(renewTime) : Number.NaN;
  return {
    uid: ownerReferences.length === 1 ? ownerReferences[0]?.uid : undefined,
    status,
    renewedAt: Number.isNaN(renewedAt) ? 0 : renewedAt,
  };
};

const timeOf = (milliseconds: number): string => new Date(milliseconds).toISOString().replace(/\.[0-9]+Z$/, 'Z');

/** The last that this agent wrote; what somebody else put there has no `since` that is worth anything. */
const exceptionsOf = ({ status }: Known): readonly NetworkException[] => {
  const parsed = reportStatusSchema.safeParse(status);
  return parsed.success ? (parsed.data.exceptions ?? []) : [];
};

export const reportOf = (node: string, uid: string, status: ReportStatus): ObjectInput => ({
  metadata: { name: node, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: node, uid }] },
  status,
});
