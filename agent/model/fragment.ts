/**
 * What features produce. A fragment is everything that one feature wants because of one subject: rows of several
 * databases, flows, host objects and nft objects. Its owner is the pair of feature and subject.
 */
import type { ProblemCause } from '../../api/problem-causes.ts';
import type { HostFragment } from '../../datapath/host/types.ts';
import type { NftablesFragment } from '../../datapath/nftables/types.ts';
import type { OpenflowFragment } from '../../datapath/openflow/types.ts';
import type { DesiredFragment, Member } from '../../ovsdb/desired/types.ts';
import type { OpenVSwitch } from '../../ovsdb/models/open-vswitch.gen.ts';
import type { OvnNorthbound } from '../../ovsdb/models/ovn-northbound.gen.ts';
import type { OvnSouthbound } from '../../ovsdb/models/ovn-southbound.gen.ts';
import type { PodAttachments } from './attachments.ts';
import type { BareKind, Facts } from './facts.ts';
import type { NodePortItem } from './node-ports.ts';
import type { View } from './view.ts';

export interface Fragment {
  readonly northbound?: DesiredFragment<OvnNorthbound>;
  readonly southbound?: DesiredFragment<OvnSouthbound>;
  readonly openvswitch?: DesiredFragment<OpenVSwitch>;
  readonly openflow?: OpenflowFragment;
  readonly host?: HostFragment;
  readonly nftables?: NftablesFragment;
  readonly nodePorts?: { readonly items: readonly NodePortItem[] };
  /** Of a pod of this node. */
  readonly attachments?: PodAttachments;
  /** Names of networks that this node has to have, also with `networkRendering: 'on-demand'`; as often as a pod is attached to each. */
  readonly usedNetworks?: readonly string[];
  readonly diagnostics?: readonly Diagnostic[];
}

/** A diagnostic about an object of the API. */
export interface Diagnostic {
  /** `Pod/ns/name`, `Node/n1` */
  readonly object: string;
  /** `error`: the object, or a part of it, could not be rendered. */
  readonly severity: 'error' | 'warning' | 'info';
  readonly message: string;
  /** Absent: `other`. */
  readonly cause?: ProblemCause;
  /** To be reported as an event of the object, too, with this reason. */
  readonly event?: string;
  /** The event is reported if it has been so for as long: what is usual for a while is no event. */
  readonly eventAfterMs?: number;
}

/** What a feature can be about; there is a fragment for each. */
export interface Subjects {
  /** This node's OVN zone: exactly one. */
  readonly zone: Record<never, never>;
  readonly node: { readonly node: string };
  readonly network: { readonly network: string };
  /** Every node with every network. */
  readonly networkNode: { readonly network: string; readonly node: string };
  /** Every pod of this node, and every pod of other nodes that has a port on a shared switch. */
  readonly pod: { readonly pod: string };
  /** Every Service with ClusterIPs, of all networks. */
  readonly service: { readonly service: string };
  /** Every rule of network policies that a pod of this node is in. */
  readonly policyRule: { readonly rule: string };
  /** Every rule of administrators' policies that is about a pod of this node. */
  readonly adminRule: { readonly rule: string };
  /** Every set of pods of this node that such a rule is about. */
  readonly subjectSet: { readonly set: string };
  /** Every set of peers that such a rule names. */
  readonly peerSet: { readonly set: string };
  /** Every domain name that such a rule names, with the network that it does so on. */
  readonly domainSet: { readonly set: string };
  /** Every group of isolated pods of this node. */
  readonly denyGroup: { readonly group: string };
}

export type SubjectKind = keyof Subjects;

/**
 * A capability. `render` is pure and total: what it cannot do is a diagnostic, what is not there yet (an id, a subnet) is
 * a smaller fragment, rendered again when it is. It may be called at any time and any number of times.
 */
export interface FeatureOver<Kind extends SubjectKind> {
  /** Unique; a part of the owner of everything that it renders. */
  readonly name: string;
  readonly over: Kind;
  render(subject: Subjects[Kind], view: View): Fragment;
}

/**
 * A feature over facts of which there are so many, one for each pod of the cluster, that a fragment for each would be dear: all that it
 * desires because of one are elements of sets, and they follow from that fact alone. Each is a text, in a row of ours.
 */
export interface MembersOver<Kind extends BareKind> {
  /** Unique; a part of the owner of everything that it renders. */
  readonly name: string;
  readonly over: Kind;
  /** Pure and total. It is asked again of a fact that has changed. */
  members(fact: Facts[Kind]): readonly Member<OvnNorthbound>[];
}

export type RenderedFeature = { [Kind in SubjectKind]: FeatureOver<Kind> }[SubjectKind];
export type Feature = RenderedFeature | MembersOver<BareKind>;

export const EMPTY_FRAGMENT: Fragment = {};
