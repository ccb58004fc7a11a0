/** What is held of an administrators' policy between two events. */
import type { AdminPolicy } from '../../../../api/admin-policy/types.ts';
import type { Family } from '../../../../net/ip.ts';
import type { PodState } from '../state.ts';
import type { Selection } from '../templates.ts';
import type { CompiledAdminRule, SubjectPart } from './compile.ts';
import type { AdminTemplate } from './templates.ts';

export interface AdminState {
  readonly key: string;
  readonly policy: AdminPolicy;
  readonly templates: readonly AdminTemplate[];
  /** Of its `subjectNames`. */
  readonly names: readonly string[];
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
  /** Ids of the sets that it is in. */
  readonly sets: readonly string[];
}

export interface SiteState {
  readonly state: AdminState;
  readonly network: string;
  families: readonly Family[];
  /** Id of the set with all of its subjects. */
  readonly whole: string;
  /** By id. */
  readonly sets: Map<string, { readonly part: SubjectPart; members: number }>;
  rules: ReadonlyMap<string, CompiledAdminRule>;
  /** Ends what its rules look at of peers' ports. */
  unwatch: readonly (() => void)[];
}
