/** Priorities of policies of cluster routers, transit routers and gateway routers; the highest that matches wins. */
export interface RouterPolicyPriority {
  readonly priority: number;
  readonly purpose: string;
}

export const ROUTER_POLICY_PRIORITIES = {
  groupFrame: {
    priority: 1020,
    purpose:
      'drop multicast frames from outside at the gateway router of the default network: the gateway bridge floods them without other checks',
  },
  managementSource: {
    priority: 1010,
    purpose:
      'drop traffic with the source of this node’s management port from other ports: isolation treats that source as the kubelet',
  },
  hostPorts: {
    priority: 1006,
    purpose:
      'drop traffic of pods to the addresses where the host sends what is for ports of pods: pods there would see the gateway router as the client',
  },
  nodeAddress: {
    priority: 1004,
    purpose: 'traffic of pods to an address of their node takes the management port, not the gateway',
  },
} as const satisfies Readonly<Record<string, RouterPolicyPriority>>;
