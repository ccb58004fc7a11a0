/** A cluster as NetworkPolicies see it: objects as Kubernetes has them, and nothing of how the agent reads them. */

export type Labels = Readonly<Record<string, string>>;
export const POLICY_PROTOCOLS = ['TCP', 'UDP', 'SCTP'] as const;
export type PolicyProtocol = (typeof POLICY_PROTOCOLS)[number];
export type Direction = 'Ingress' | 'Egress';

export interface Selector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
    readonly values?: readonly string[];
  }[];
}

export interface Peer {
  readonly podSelector?: Selector;
  readonly namespaceSelector?: Selector;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}

export interface Port {
  readonly protocol?: PolicyProtocol;
  readonly port?: number | string;
  readonly endPort?: number;
}

export interface PolicySpec {
  readonly podSelector: Selector;
  readonly policyTypes?: readonly Direction[];
  readonly ingress?: readonly { readonly from?: readonly Peer[]; readonly ports?: readonly Port[] }[];
  readonly egress?: readonly { readonly to?: readonly Peer[]; readonly ports?: readonly Port[] }[];
}

export interface Policy {
  readonly namespace: string;
  readonly name: string;
  readonly spec: PolicySpec;
}

export interface PolicyPod {
  readonly namespace: string;
  readonly name: string;
  readonly labels: Labels;
  /** Pods reach no other network, and are no peers there. */
  readonly network: string;
  readonly addresses: readonly string[];
  readonly ports: readonly { readonly name: string; readonly protocol: PolicyProtocol; readonly port: number }[];
}

export interface World {
  /** Labels by the namespace's name. */
  readonly namespaces: ReadonlyMap<string, Labels>;
  readonly pods: readonly PolicyPod[];
  readonly policies: readonly Policy[];
}

/** What a client tries. */
export interface Try {
  readonly from: PolicyPod;
  readonly to: PolicyPod;
  /** Which of the receiver's. */
  readonly address: string;
  readonly protocol: PolicyProtocol;
  readonly port: number;
}
