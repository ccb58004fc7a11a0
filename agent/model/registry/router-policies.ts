/** Priorities of policies of cluster routers and transit routers; the highest that matches wins. */
export interface RouterPolicyPriority {
  readonly priority: number;
  readonly purpose: string;
}

export const ROUTER_POLICY_PRIORITIES = {
  managementSource: {
    priority: 1010,
    purpose:
      'what has the source of this node’s management port and does not come from it is dropped: isolation takes it for the kubelet',
  },
  nodeAddress: {
    priority: 1004,
    purpose: 'what pods send to an address of their node goes to the management port, not out through the gateway',
  },
} as const satisfies Readonly<Record<string, RouterPolicyPriority>>;
