/** What others of the agent have found out about the node's places for traffic, as components. Pure. */
import type { ProblemCause } from '../../api/problem-causes.ts';
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
  uplinkHealth(gateway),
  mtu === undefined
    ? { component: 'mtu', state: 'unknown', message: 'the MTU of the tunnels is not known' }
    : judged('mtu', mtu.status === 'True' ? mtu.message : undefined),
  judged('kubelet-cgroup', kubeletLacks),
];

/** Without a gateway bridge pods still reach pods; by a bridge that has lost its uplink nothing leaves the node. */
const uplinkHealth = (gateway: readonly Problem[]): ComponentHealth => {
  const messageOf = (cause: ProblemCause) => gateway.find((one) => one.cause === cause)?.message;
  const missing = messageOf('gateway-missing');
  if (missing !== undefined) return { ...judged('uplink', missing), allowsPods: true };
  return judged('uplink', messageOf('uplink-off-bridge'));
};

const judged = (component: Component, message: string | undefined): ComponentHealth => ({
  component,
  state: message === undefined ? 'working' : 'failed',
  message: message ?? '',
});
