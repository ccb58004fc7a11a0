/** What others of the agent have found out about the node's places for traffic, as components. Pure. */
import type { Problem } from '../inputs/problem.ts';
import type { Component, ComponentHealth } from './component.ts';
import type { ConditionVerdict } from './node-condition.ts';

export interface FoundPlaces {
  /** Of the node's gateway bridge and its uplink. */
  readonly gateway: readonly Problem[];
  /** Of the condition `NetworkMTUTooLarge`; undefined: the largest MTU that fits is not known. */
  readonly mtu: ConditionVerdict | undefined;
  /** What the kubelet's cgroup lacks; undefined: nothing. */
  readonly kubeletLacks: string | undefined;
}

/** Nothing is asked for this: each is known by events of the kernel and of Open_vSwitch. */
export const placesHealth = ({ gateway, mtu, kubeletLacks }: FoundPlaces): ComponentHealth[] => [
  judged('uplink', gateway.find(({ cause }) => cause !== undefined && UPLINK_CAUSES.has(cause))?.message),
  mtu === undefined
    ? { component: 'mtu', state: 'unknown', message: 'the MTU of the tunnels is not known' }
    : judged('mtu', mtu.status === 'True' ? mtu.message : undefined),
  judged('kubelet-cgroup', kubeletLacks),
];

const UPLINK_CAUSES: ReadonlySet<string> = new Set(['uplink-off-bridge', 'gateway-missing']);

const judged = (component: Component, message: string | undefined): ComponentHealth => ({
  component,
  state: message === undefined ? 'working' : 'failed',
  message: message ?? '',
});
