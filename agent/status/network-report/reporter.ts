/**
 * Writes what this node has of the networks to the API, in an object that this agent alone writes: when it has changed, after a
 * while in which more may change, and not more often than all agents together should. While nothing changes nothing is
 * written: that a node is alive is said elsewhere.
 */
import { type NetworkException, type ReportStatus, reportStatusSchema } from '../../../api/node-network-report.ts';
import { NODE_NETWORK_REPORTS } from '../../../api/resources.ts';
import { backoffMs } from '../../../base/backoff.ts';
import type { Clock } from '../../../base/clock.ts';
import { isNotFound } from '../../../kube/errors.ts';
import { jsonEqual } from '../../../kube/json-equal.ts';
import type { KubeClient, KubeObject, ObjectInput } from '../../../kube/types.ts';
import type { Writer } from '../../../kube/writer/types.ts';
import { type NetworkOnNode, type ReportedIds, ReportLedger } from './ledger.ts';

export interface NetworkReporterOptions {
  readonly node: string;
  readonly rendering: ReportStatus['rendering'];
  /** Undefined: this node is not to have the network. */
  readonly look: (network: string) => NetworkOnNode | undefined;
  /** Of networks that are gone. Default: nothing is said of them. */
  readonly ids?: () => ReportedIds;
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
  /** The API server has no such kind: an older cluster. Reported once. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'failed'; readonly error: unknown };

/** What changes together comes together: a network is mostly there before this is over. */
const SETTLE_MS = 1_000;
const MIN_SPREAD_MS = 1_000;
/** All agents together write at most 20 times a second. */
const SPREAD_PER_NODE_MS = 50;
/** From this, twice as long each time, to that: the report of an earlier Node of the name may have to go first. */
const RETRY = { minMs: 30_000, maxMs: 600_000 };

/** The shortest time between two writes of one node, and over what time a change on all nodes is spread. */
export const reportSpreadMs = (nodes: number): number => Math.max(MIN_SPREAD_MS, nodes * SPREAD_PER_NODE_MS);

export class NetworkReporter {
  readonly #options: NetworkReporterOptions;
  readonly #stop = new AbortController();
  readonly #touched = new Set<string>();
  #ledger: ReportLedger | undefined;
  /** What the API has; undefined: it has to be read. */
  #known: Known | undefined;
  #isUnreadyTouched = false;
  #areIdsTouched = false;
  #notBefore = 0;
  #cancel: (() => void) | undefined;
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

  /** The Node came, or is another one of the same name: its report went with the one before. */
  touchNode(): void {
    this.#known = undefined;
    this.#schedule();
  }

  stop(): void {
    this.#stop.abort();
    this.#cancel?.();
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
    if (this.#touched.size > 0 || this.#isUnreadyTouched || this.#areIdsTouched || this.#known === undefined)
      this.#schedule();
  }

  /** @returns whether something was written */
  async #writeIfChanged(uid: string): Promise<boolean> {
    const { writer, node, rendering, observe } = this.#options;
    this.#known ??= await this.#read();
    this.#ledger ??= new ReportLedger(exceptionsOf(this.#known));
    this.#look(this.#ledger);
    this.#areIdsTouched = false;
    const status = this.#ledger.status(rendering, this.#options.ids?.());
    const desired: Known = { uid, status };
    if (jsonEqual(this.#known, desired)) return false;
    await writer.apply(NODE_NETWORK_REPORTS, reportOf(node, uid, status), {}, this.#stop.signal);
    this.#known = desired;
    observe({ kind: 'written' });
    return true;
  }

  #look(ledger: ReportLedger): void {
    const { look, clock } = this.#options;
    const now = new Date(clock.wall()).toISOString().replace(/\.[0-9]+Z$/, 'Z');
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
      if (isNotFound(error)) return { uid: undefined, status: undefined };
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

interface Known {
  /** Of the Node that owns it. */
  readonly uid: string | undefined;
  readonly status: unknown;
}

const knownOf = ({ metadata: { ownerReferences = [] }, status }: KubeObject): Known => ({
  uid: ownerReferences.length === 1 ? ownerReferences[0]?.uid : undefined,
  status,
});

/** The last that this agent wrote; what somebody else put there has no `since` that is worth anything. */
const exceptionsOf = ({ status }: Known): readonly NetworkException[] => {
  const parsed = reportStatusSchema.safeParse(status);
  return parsed.success ? (parsed.data.exceptions ?? []) : [];
};

export const reportOf = (node: string, uid: string, status: ReportStatus): ObjectInput => ({
  metadata: { name: node, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: node, uid }] },
  status,
});
