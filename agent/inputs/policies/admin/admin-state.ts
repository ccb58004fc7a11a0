/** What is held of an administrators' policy between two events. */
import type { AdminPolicy } from '../../../../api/admin-policy/types.ts';
import type { Family } from '../../../../net/ip.ts';
import type { CanonicalSelector } from '../canonical-selector.ts';
import type { PodState } from '../state.ts';
import type { Selection } from '../templates.ts';
import type { CompiledAdminRule, SubjectPart } from './compile.ts';
import type { Excess } from './firewall-room.ts';
import type { AdminTemplate } from './templates.ts';

interface AdminRules {
  readonly templates: readonly AdminTemplate[];
  /** Of its `subjectNames`. */
  readonly names: readonly string[];
  /** As many parts of its subjects have sets of their own on a network. */
  readonly limit: number;
  /** Those that its rules have, each once. */
  readonly nodes: readonly CanonicalSelector[];
}

export interface AdminState {
  readonly key: string;
  readonly policy: AdminPolicy;
  /** Costs the policy when it is asked for first, and nothing after that. */
  readonly rules: AdminRules;
  /** Whom it is about. */
  readonly selection: Selection;
  readonly selector: Selection['selector'];
  /** By name of the network: where pods of this node are its subjects. */
  readonly sites: Map<string, SiteState>;
  readonly subjects: Map<PodState, Subject>;
}

/** A pod of this node that a policy is about. */
export interface Subject {
  readonly site: SiteState;
  /** Ids of the parts that it is in. */
  readonly parts: readonly string[];
}

export interface SiteSet {
  readonly part: SubjectPart;
  /** By id. */
  readonly rules: ReadonlyMap<string, CompiledAdminRule>;
}

export interface SiteState {
  readonly state: AdminState;
  readonly network: string;
  families: readonly Family[];
  /** OVN's priority that its first rule has. */
  first: number | undefined;
  /** Id of the set with all of its subjects. */
  readonly whole: string;
  /** By id of the set that it has, unless that is one too many. */
  readonly parts: Map<string, { readonly part: SubjectPart; members: number }>;
  /** Ids of parts that share a set: see `limitParts`. */
  excess: ReadonlySet<string>;
  /** Of a firewall for which the node has no room. */
  excessOfNode: Excess | undefined;
  /** By id, with their rules. */
  readonly sets: Map<string, SiteSet>;
  /** What of it cannot be followed to the letter, and is closed. */
  notes: string[];
  /** Ends what its rules look at of peers' ports. */
  unwatch: (() => void)[];
}
