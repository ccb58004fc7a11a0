/** Priorities of our QoS rows. Of those that match a packet OVN follows the one with the highest. */
export const QOS_PRIORITIES = {
  podBandwidth: { priority: 100, purpose: 'limits of a pod’s interface, one row for each direction' },
} as const;
