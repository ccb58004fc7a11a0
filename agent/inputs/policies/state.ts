/** What the index holds of pods, policies and namespaces between two events. */

import type { DenseMap } from '../../../base/dense-map.ts';
import type { Few } from '../../../base/few.ts';
import type { PolicyDirection } from '../../model/policies/facts.ts';
import type { CompiledRule } from './compile.ts';
import type { HeldRules } from './held-rules.ts';
import type { LivePeers } from './peer-table.ts';
import type { Placement } from './placement.ts';
import type { Postings, Selecting } from './postings.ts';
import type { RuleTemplate } from './templates.ts';
import type { PolicyPod, PolicyProjection } from './types.ts';

export interface PodState {
  readonly key: string;
  pod: PolicyPod;
  /** What it is a peer in; absent for most pods of a cluster, which must cost little. */
  peerOf: Few<LivePeers>;
  /** Only of pods of this node. */
  target: TargetState | undefined;
  /** It waits for its namespace, or not even a fact that closes it could be written. */
  isUndecided?: true | undefined;
}

export interface TargetState {
  readonly groups: Set<TargetGroup>;
  held: HeldRules;
  /** Those of its own numbers for named ports. */
  named: ReadonlyMap<string, CompiledRule>;
  denyGroup: string | undefined;
  /** Ids of the subject sets of administrators' policies that it is in. */
  subjects: readonly string[];
}

/** All policies of a namespace with the same selector, and the pods of this node that it selects. */
export interface TargetGroup extends Selecting {
  readonly policies: Set<PolicyState>;
  /** Those of them that have rules per target. */
  readonly named: Set<PolicyState>;
  /** How many of them isolate in each direction. */
  readonly isolating: Record<PolicyDirection, number>;
  readonly members: Set<PodState>;
  /** By id, with the number of its policies that have it. */
  readonly rules: Map<string, { readonly rule: CompiledRule; uses: number }>;
}

export interface PolicyState {
  readonly key: string;
  readonly projection: PolicyProjection;
  /** Worked out while it has a target: most policies of a cluster have none here. */
  templates: readonly RuleTemplate[] | undefined;
  /** What its namespace has too much of, so that it is closed. */
  excess: string | undefined;
  /** By the selection's text: how many pods it had when it was last used. */
  members: ReadonlyMap<string, number>;
  readonly group: TargetGroup;
  /** Those that are the same for all targets; empty while it has none. */
  rules: ReadonlyMap<string, CompiledRule>;
  /** Those with names of ports that each target has its own numbers for. */
  perTarget: readonly RuleTemplate[];
  /** Ends what it looks at of its peers' ports. */
  unwatch: (() => void)[];
}

export interface NamespaceState {
  readonly name: string;
  readonly placement: Placement;
  readonly pods: DenseMap<PodState>;
  readonly policies: Map<string, PolicyState>;
  /** By the selector's text. */
  readonly groups: Map<string, TargetGroup>;
  readonly filed: Postings<TargetGroup>;
}
