/**
 * The index that follows policies, and another one in its place when it has failed. An error of the agent's own leaves an index of which nobody
 * knows what had been done of a change, so nothing of it is mended: a new one reads all objects from the mirrors, as after a restart, and only
 * what differs becomes a change of facts. All of it is one turn, so nothing is rendered in between. See docs/adr/0119.
 */
import { Backoff } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import type { FactStore, FactWriter } from '../model/fact-store.ts';
import type { FactKind } from '../model/facts.ts';
import type { LocalSettings } from '../model/view.ts';
import { type DomainTable, DomainUses } from './policies/domain-table.ts';
import { inTurn } from './policies/in-turn.ts';
import { MultiIndex } from './policies/multi-index.ts';
import { PolicyIndex } from './policies/policy-index.ts';
import { type FollowedPolicies, followPolicies, type PolicyCaches, type PolicyFollower } from './policy-caches.ts';
import type { Problem } from './problem.ts';

export interface PolicyKeeperOptions {
  readonly facts: FactStore;
  readonly settings: LocalSettings;
  /** Shared with all others whose rules name domain names. */
  readonly domains: DomainTable;
  /** Absent: there are no policies. */
  readonly caches: PolicyCaches | undefined;
  /** Absent: what failed stays so until the object changes. */
  readonly clock: Clock | undefined;
  /** A change that was held for a moment has failed: what `handler-failed` of a mirror is for others. */
  readonly onHeldFailure?: ((key: string, error: unknown) => void) | undefined;
}

export class PolicyKeeper {
  readonly #options: PolicyKeeperOptions;
  readonly #backoff = new Backoff({ minMs: 1000, maxMs: MAX_WAIT_MS });
  #index: PolicyIndex;
  #multi: MultiIndex;
  /** Of the index. */
  #domains: DomainUses;
  #followed: FollowedPolicies | undefined;
  #cancel: (() => void) | undefined;
  #lastMs = Number.NEGATIVE_INFINITY;
  #rebuilds = 0;

  /** It follows what is in the caches before it returns. */
  constructor(options: PolicyKeeperOptions) {
    const { facts, caches } = options;
    this.#options = options;
    this.#domains = new DomainUses(options.domains);
    this.#index = this.#newIndex(facts);
    this.#multi = this.#newMulti(facts);
    if (caches !== undefined) this.#follow(caches);
  }

  /** Not to be held: it can be another one later. */
  get index(): PolicyIndex {
    return this.#index;
  }

  /** Of MultiNetworkPolicies. Not to be held either. */
  get multi(): MultiIndex {
    return this.#multi;
  }

  /** Who has no caches says so of a pod. */
  changePod(...change: Parameters<PolicyIndex['changePod']>): void {
    this.#follower().changePod(...change);
  }

  /** What could not be followed because of an error of the agent's own. */
  failed(): Problem[] {
    return [...this.#index.failed(), ...this.#multi.failed()];
  }

  /** How often the index was replaced. */
  get rebuilds(): number {
    return this.#rebuilds;
  }

  problems(): Problem[] {
    this.release();
    return [...this.#index.problems(), ...this.#multi.problems()];
  }

  /** Those that are this node's to report: what is the same on all nodes the cluster manager reports. */
  localProblems(): Problem[] {
    this.release();
    return [...this.#index.problems(), ...this.#multi.localProblems()];
  }

  get isHolding(): boolean {
    return this.#followed?.isHolding === true;
  }

  /** Follows policies that are held for a moment: a pod starts, or somebody reads what policies do. */
  release(): void {
    this.#followed?.release();
  }

  stop(): void {
    this.#cancel?.();
    this.#followed?.stop();
    this.#stopIndexes();
  }

  #follow(caches: PolicyCaches): void {
    const { clock, onHeldFailure: onFailure = () => undefined } = this.#options;
    this.#followed = followPolicies(this.#follower(), caches, { clock, onFailure });
  }

  #stopIndexes(): void {
    inTurn([() => this.#index.stop(), () => this.#multi.stop()]);
  }

  #newIndex(writer: FactWriter): PolicyIndex {
    const { facts, settings } = this.#options;
    return new PolicyIndex({ facts, settings, writer, domains: this.#domains, onFailure: () => this.#schedule() });
  }

  #newMulti(writer: FactWriter): MultiIndex {
    const { facts, settings } = this.#options;
    return new MultiIndex({ facts, settings, writer, onFailure: () => this.#schedule() });
  }

  /** What even escapes the index has not reached it. */
  #follower(): PolicyFollower {
    const [index, multi] = [this.#index, this.#multi];
    const guard =
      <Args extends readonly unknown[]>(change: (...args: Args) => void) =>
      (...args: Args): void => {
        try {
          change(...args);
        } catch (error) {
          this.#schedule();
          throw error;
        }
      };
    return {
      changeNode: guard((...change) => index.changeNode(...change)),
      changeAdminPolicy: guard((...change) => index.changeAdminPolicy(...change)),
      changeNamespace: guard((...change) =>
        inTurn([() => index.changeNamespace(...change), () => multi.changeNamespace(...change)]),
      ),
      changePod: guard((...change) => inTurn([() => index.changePod(...change), () => multi.changePod(...change)])),
      together: (follow) => index.together(follow),
      changePolicy: guard((...change) => index.changePolicy(...change)),
      changeMultiPolicy: guard((...change) => multi.changePolicy(...change)),
    };
  }

  /** Later each time, and from the start again when nothing has failed for the longest wait. */
  #schedule(): void {
    const { clock, caches } = this.#options;
    if (this.#cancel !== undefined || clock === undefined || caches === undefined) return;
    if (clock.monotonic() - this.#lastMs > 2 * MAX_WAIT_MS) this.#backoff.reset();
    this.#cancel = clock.schedule(this.#backoff.nextMs(), () => {
      this.#cancel = undefined;
      this.#lastMs = clock.monotonic();
      // Also when the object was followed since: what the error had left half done may not be of that object alone.
      this.#rebuild(caches);
    });
  }

  #rebuild(caches: PolicyCaches): void {
    const { facts, domains } = this.#options;
    this.#followed?.stop();
    this.#stopIndexes();
    const ledger = new Ledger(facts);
    const before = this.#domains;
    this.#domains = new DomainUses(domains);
    this.#index = this.#newIndex(ledger);
    this.#multi = this.#newMulti(ledger);
    this.#follow(caches);
    ledger.dropOthers();
    before.end();
    this.#rebuilds += 1;
  }
}

/** With 60,000 pods a rebuild takes the agent seconds, which what fails always must not cost all the time. */
const MAX_WAIT_MS = 600_000;

/** Facts that policies alone are kept by. */
const KINDS = [
  ...(['policyRule', 'adminRule', 'subjectSet', 'peerSet', 'denyGroup'] as const),
  ...(['podPolicy', 'policyPeer', 'decidedPod', 'multiPolicies'] as const),
] satisfies readonly FactKind[];

/** Which facts the new index has written, until those of the old one are gone. */
class Ledger implements FactWriter {
  readonly #facts: FactStore;
  #written: Map<FactKind, Set<string>> | undefined = new Map(KINDS.map((kind) => [kind, new Set()]));

  constructor(facts: FactStore) {
    this.#facts = facts;
  }

  get: FactWriter['get'] = (kind, id) => this.#facts.get(kind, id);

  set: FactWriter['set'] = (kind, id, value) => {
    const ids = this.#written?.get(kind);
    if (value === undefined) ids?.delete(id);
    else ids?.add(id);
    this.#facts.set(kind, id, value);
  };

  dropOthers(): void {
    const written = this.#written;
    this.#written = undefined;
    for (const [kind, own] of written ?? [])
      for (const id of [...this.#facts.ids(kind)]) if (!own.has(id)) this.#facts.set(kind, id, undefined);
  }
}
