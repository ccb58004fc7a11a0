/** NetworkPolicy (networking.k8s.io/v1), with what Kubernetes leaves out filled in. */
import type { Cidr } from '../net/cidr.ts';
import type { LabelSelector } from './label-selector.ts';

export type PolicyType = 'Ingress' | 'Egress';

export interface NetworkPolicy {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly podSelector: LabelSelector;
  /** As `policyTypes` says; without it Ingress, and Egress where the policy has egress rules. */
  readonly types: readonly PolicyType[];
  readonly ingress: readonly PolicyRule[];
  readonly egress: readonly PolicyRule[];
  /** `k8s.ovn.org/acl-stateless: "true"` */
  readonly stateless: boolean;
}

export interface PolicyRule {
  /** Empty: everybody. */
  readonly peers: readonly PolicyPeer[];
  /** Empty: all traffic. */
  readonly ports: readonly PolicyPort[];
}

export type PolicyPeer =
  | {
      readonly kind: 'pods';
      /** Absent: of the policy's namespace. */
      readonly namespaces?: LabelSelector | undefined;
      /** `{}` where only namespaces are selected. */
      readonly pods: LabelSelector;
    }
  | { readonly kind: 'block'; readonly cidr: Cidr; readonly except: readonly Cidr[] };

export interface PolicyPort {
  readonly protocol: 'tcp' | 'udp' | 'sctp';
  /** A number, a name, or absent: every port of the protocol. */
  readonly port?: number | string | undefined;
  /** With a number only, and not below it. */
  readonly endPort?: number | undefined;
}
