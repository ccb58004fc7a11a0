/**
 * Which EgressFirewalls this node has applied, ready to be reported. A firewall is the node's while pods of its namespace are on it; it is
 * applied when its rules, the sets of its subjects and the memberships of these pods are, and no rule is left that it had before. An event
 * costs what it is about.
 */
import { MAX_FIREWALL_PROBLEMS, MAX_FIREWALLS, type ReportedFirewalls } from '../../../api/node-network-report.ts';
import type { Clock } from '../../../base/clock.ts';
import { type Status, worst } from '../../../base/reconciler.ts';
import type { FactListener, FactStore } from '../../model/fact-store.ts';
import { shortened } from './ledger.ts';

export interface NodeFirewallsOptions {
  readonly facts: Pick<FactStore, 'get' | 'ids'>;
  /** Who programs a rule, a set of subjects, or a pod's port with its memberships. */
  readonly ownersOver: (subject: 'adminRule' | 'subjectSet' | 'pod', id: string) => readonly string[];
  readonly statusOf: (owner: string) => Status;
  /** Of `EgressFirewall/red/default`, as it was read last; undefined: it is gone. */
  readonly versionOf: (policy: string) => string | undefined;
  /** By firewall: why this node does not follow it, though it can be read. */
  readonly problems: () => ReadonlyMap<string, string>;
  /** What its domain names make of it. */
  readonly names: () => FirewallNames;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** While a daemon does not follow: why, and up to when what was written is in effect all the same. */
  readonly unfollowed: () => Unfollowed | undefined;
  /** Something else may have to be reported. */
  readonly onTouched: () => void;
}

export interface FirewallNames {
  /** By firewall: rules by these names are programmed, and apply to nothing. */
  readonly unresolved: ReadonlyMap<string, string>;
  /** Firewalls with names that have no answer yet. */
  readonly awaiting: ReadonlySet<string>;
}

export interface Unfollowed {
  readonly message: string;
  /** By the clock; undefined: nothing is known to be. */
  readonly inEffectUntil: number | undefined;
}

type Kind = (typeof KINDS)[number];
const KINDS = ['adminRule', 'subjectSet', 'podPolicy'] as const;
const SUBJECTS = { adminRule: 'adminRule', subjectSet: 'subjectSet', podPolicy: 'pod' } as const;

interface Part {
  readonly kind: Kind;
  readonly id: string;
  readonly owners: readonly string[];
  /** A pod is a subject of two while one takes the place of another. */
  policies: ReadonlySet<string>;
  /** Of a rule that is not desired any more: its rows may be there still. `rendered`: who programs it knows. */
  leaving?: 'announced' | 'rendered';
}

interface Firewall {
  parts: number;
  /** Sets of its subjects: without one it is not the node's. */
  sets: number;
  /** Parts that are not programmed. */
  readonly unready: Map<Part, Status>;
  /** The version that is all written, and when that was seen first. */
  written?: { readonly version: string; readonly at: number } | undefined;
}

export class NodeFirewalls {
  readonly #options: NodeFirewallsOptions;
  readonly #firewalls = new Map<string, Firewall>();
  readonly #parts = new Map<string, Part>();
  readonly #owned = new Map<string, Part>();
  readonly #dirty = new Set<Part>();
  #reported: ReportedFirewalls | undefined;

  constructor(options: NodeFirewallsOptions) {
    this.#options = options;
    for (const kind of KINDS) for (const id of options.facts.ids(kind)) this.follow(kind, id, true);
  }

  /** A fact came or went. */
  readonly follow: FactListener = (kind, id, isPresent) => {
    if (!isKind(kind)) return;
    const key = `${kind} ${id}`;
    const known = this.#parts.get(key);
    if (isPresent && known === undefined) this.#add(key, kind, id);
    else if (!isPresent && known !== undefined) this.#drop(key, known);
  };

  /** What an owner makes of it has changed: it was rendered, or programmed. */
  touchOwner(owner: string): void {
    const part = this.#owned.get(owner);
    if (part?.leaving !== undefined) part.leaving = 'rendered';
    if (part === undefined || (part.policies.size === 0 && this.#policiesOf(part).size === 0)) return;
    this.#dirty.add(part);
    this.#touch();
  }

  /** There is another version of it, which may have the same rules. */
  touchFirewall(policy: string): void {
    if (this.#firewalls.has(policy)) this.#touch();
  }

  /** A daemon does not follow any more, or follows again; or a domain name stands for something else. */
  touchAll(): void {
    if (this.#firewalls.size > 0) this.#touch();
  }

  /** A report is renewed far more often than a firewall changes. */
  report(): ReportedFirewalls {
    this.#reported ??= this.#report();
    return this.#reported;
  }

  #touch(): void {
    this.#reported = undefined;
    this.#options.onTouched();
  }

  #report(): ReportedFirewalls {
    for (const part of this.#dirty) {
      if (part.leaving === undefined) this.#look(part);
      else if (part.leaving === 'rendered') this.#lookAtLeaving(part);
    }
    this.#dirty.clear();
    const problems = this.#options.problems();
    const names = this.#firewalls.size === 0 ? NO_NAMES : this.#options.names();
    const applied: string[] = [];
    const failed: { firewall: string; message: string }[] = [];
    const unfollowed = this.#options.unfollowed();
    for (const [policy, firewall] of this.#firewalls) {
      const { sets, unready } = firewall;
      const version = this.#options.versionOf(policy);
      if (sets === 0 || version === undefined) continue;
      const status = worst([...unready.values()]);
      const message =
        problems.get(policy) ??
        (status.kind === 'failed' ? status.message : this.#notInEffect(firewall, version, unfollowed)) ??
        names.unresolved.get(policy);
      if (message !== undefined) failed.push({ firewall: version, message: shortened(message) });
      else if (unready.size === 0 && !names.awaiting.has(policy)) applied.push(version);
    }
    failed.sort((a, b) => (a.firewall < b.firewall ? -1 : 1));
    return {
      applied: applied.sort().slice(0, MAX_FIREWALLS).join(),
      ...(failed.length > 0 && { problems: failed.slice(0, MAX_FIREWALL_PROBLEMS) }),
    };
  }

  /** Rows that are written have no effect before daemons have followed them. Who does not follow is known some seconds later. */
  #notInEffect(firewall: Firewall, version: string, unfollowed: Unfollowed | undefined): string | undefined {
    if (firewall.unready.size > 0) firewall.written = undefined;
    else if (firewall.written?.version !== version) firewall.written = { version, at: this.#options.clock.monotonic() };
    if (firewall.written === undefined || unfollowed === undefined) return undefined;
    const { message, inEffectUntil } = unfollowed;
    return inEffectUntil !== undefined && firewall.written.at < inEffectUntil ? undefined : message;
  }

  #add(key: string, kind: Kind, id: string): void {
    const owners = this.#options.ownersOver(SUBJECTS[kind], id);
    const part: Part = { kind, id, owners, policies: NONE };
    // Of administrators' policies there may be more, and they are none of ours.
    if (kind !== 'podPolicy' && this.#policiesOf(part).size === 0) return;
    this.#parts.set(key, part);
    for (const owner of owners) {
      const before = this.#owned.get(owner);
      if (before?.leaving !== undefined) this.#end(before);
      this.#owned.set(owner, part);
    }
    this.#dirty.add(part);
    for (const policy of this.#policiesOf(part)) this.#count(part, policy, 1);
    this.#touch();
  }

  #drop(key: string, part: Part): void {
    this.#parts.delete(key);
    if (part.kind === 'adminRule') {
      part.leaving = 'announced';
      for (const policy of part.policies) this.#firewalls.get(policy)?.unready.set(part, REMOVING);
      this.#dirty.add(part);
    } else this.#end(part);
    this.#touch();
  }

  #end(part: Part): void {
    this.#dirty.delete(part);
    for (const owner of part.owners) if (this.#owned.get(owner) === part) this.#owned.delete(owner);
    for (const policy of part.policies) this.#count(part, policy, -1);
  }

  #look(part: Part): void {
    const policies = this.#policiesOf(part);
    for (const policy of part.policies.difference(policies)) this.#count(part, policy, -1);
    for (const policy of policies.difference(part.policies)) this.#count(part, policy, 1);
    const status = worst(part.owners.map(this.#options.statusOf));
    for (const policy of policies) {
      const firewall = this.#firewalls.get(policy);
      if (status.kind === 'done') firewall?.unready.delete(part);
      else firewall?.unready.set(part, status);
    }
  }

  #lookAtLeaving(part: Part): void {
    const status = worst(part.owners.map(this.#options.statusOf));
    if (status.kind === 'done') this.#end(part);
    else for (const policy of part.policies) this.#firewalls.get(policy)?.unready.set(part, status);
  }

  #count(part: Part, policy: string, by: 1 | -1): void {
    const firewall = this.#firewalls.get(policy) ?? { parts: 0, sets: 0, unready: new Map() };
    firewall.parts += by;
    if (part.kind === 'subjectSet') firewall.sets += by;
    part.policies = by === 1 ? part.policies.union(new Set([policy])) : part.policies.difference(new Set([policy]));
    if (by === -1) firewall.unready.delete(part);
    if (firewall.parts === 0) this.#firewalls.delete(policy);
    else this.#firewalls.set(policy, firewall);
  }

  #policiesOf({ kind, id }: Part): ReadonlySet<string> {
    const { facts } = this.#options;
    if (kind === 'podPolicy') {
      const sets = (facts.get('podPolicy', id)?.subjects ?? []).map((set) => facts.get('subjectSet', set));
      return new Set(sets.flatMap((set) => (set?.tier === 'firewall' ? set.policy : [])));
    }
    const fact = facts.get(kind, id);
    return fact?.tier === 'firewall' ? new Set([fact.policy]) : NONE;
  }
}

const isKind = (kind: string): kind is Kind => (KINDS as readonly string[]).includes(kind);

const NO_NAMES: FirewallNames = { unresolved: new Map(), awaiting: new Set() };

const REMOVING: Status = { kind: 'pending' };

const NONE: ReadonlySet<string> = new Set();
