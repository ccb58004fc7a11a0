/** What network policies need to know of the cluster, and nothing else of the agent does. No label becomes a fact. */
import type { Labels } from '../../../api/label-selector.ts';
import type { NetworkPolicy } from '../../../api/network-policy.ts';
import type { Ip } from '../../../net/ip.ts';
import type { AclSeverity, PolicyProtocol } from '../../model/policies/facts.ts';
import type { Problem } from '../problem.ts';
import type { PolicyCost } from './cost.ts';
import type { RuleTemplate } from './templates.ts';

/** A pod of any node: its labels, and addresses by NAD key. Equal parts are one object. */
export interface PolicyPod {
  readonly namespace: string;
  readonly labels: Labels;
  /** Never of a host-network pod, which no policy isolates. */
  readonly isLocal: boolean;
  /** A host-network pod: its addresses are those of its node. */
  readonly isHost?: true | undefined;
  /** Absent until the pod is scheduled. */
  readonly node?: string | undefined;
  /** Succeeded or failed: its addresses are others' now. */
  readonly finished: boolean;
  /** Empty until it has been given some. */
  readonly addresses: ReadonlyMap<string, readonly Ip[]>;
  readonly ports: readonly NamedPort[];
}

export interface NamedPort {
  readonly name: string;
  readonly protocol: PolicyProtocol;
  readonly port: number;
}

export interface PolicyNamespace {
  readonly name: string;
  readonly labels: Labels;
  /** By the annotation `k8s.ovn.org/acl-logging`; absent: nothing is logged. */
  readonly log?: { readonly deny?: AclSeverity | undefined; readonly allow?: AclSeverity | undefined } | undefined;
  readonly problems: readonly Problem[];
}

export interface PolicyProjection {
  /** Of what it follows from: the same again is not worked out again. */
  readonly source: string;
  /** Of one that is closed nothing. */
  readonly cost: PolicyCost;
  /** What its cost was worked out from, for who needs it soon: of most policies of a cluster nobody does, so they are not kept. */
  readonly templates?: WeakRef<readonly RuleTemplate[]> | undefined;
  /** Of one that cannot be read: it isolates what it may select and allows nothing. */
  readonly policy: NetworkPolicy;
  readonly problems: readonly Problem[];
}
