/** Priorities of policies of cluster routers, transit routers and gateway routers; the highest that matches wins. */
export interface RouterPolicyPriority {
  readonly priority: number;
  readonly purpose: string;
}

export const ROUTER_POLICY_PRIORITIES = {
  groupFrame: {
    priority: 1020,
    purpose:
      'what comes to the default network’s gateway router from outside in a frame for a group is dropped: the gateway bridge floods it, and looks at nothing else of it',
  },
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
