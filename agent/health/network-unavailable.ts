/**
 * Whether the network of the node takes new pods: condition `NetworkUnavailable`. While it is True, the node lifecycle controller
 * keeps new pods away by the taint node.kubernetes.io/network-unavailable:NoSchedule, and those that run stay. Pure.
 */
import { AGENT_REASONS } from '../../api/node-condition.ts';
import { type Component, type ComponentHealth, isNetworkDown } from './component.ts';
import type { ConditionVerdict } from './node-condition.ts';

/** The first that fails explains those behind it. Undefined: it is not known how all stand. */
export const verdictOf = (health: readonly ComponentHealth[]): ConditionVerdict | undefined => {
  const failed = health.find(isNetworkDown);
  if (failed !== undefined) {
    const { component, message } = failed;
    return { status: 'True', reason: REASONS[component] ?? AGENT_REASONS.other, message };
  }
  if (health.some((one) => one.component in REASONS && one.state !== 'working' && !one.allowsPods)) return undefined;
  return { status: 'False', reason: AGENT_REASONS.up, message: 'OVN and Open vSwitch process what udn-agent programs' };
};

const REASONS: Readonly<Partial<Record<Component, string>>> = {
  'openvswitch-db': AGENT_REASONS.openVSwitchDatabase,
  'northbound-db': AGENT_REASONS.northboundDatabase,
  'southbound-db': AGENT_REASONS.southboundDatabase,
  'ovs-vswitchd': AGENT_REASONS.vswitchd,
  'ovn-northd': AGENT_REASONS.northd,
  'ovn-controller': AGENT_REASONS.ovnController,
  uplink: AGENT_REASONS.uplink,
};
