/** The parts that a node's networks need beside the agent, and how each stands. */

import { FOLLOWING_COMPONENTS } from '../../api/components.ts';
import type { ProblemCause } from '../../api/problem-causes.ts';
import type { Problem } from '../inputs/problem.ts';

/** In the order in which one needs another: what stands first explains what follows. */
export const COMPONENTS = [
  'api-server',
  ...FOLLOWING_COMPONENTS,
  'uplink',
  'tunnels',
  'mtu',
  'kubelet-cgroup',
] as const;

export type Component = (typeof COMPONENTS)[number];

/** `unknown`: it cannot be asked, since another component that it is asked by has failed, or was not checked yet. */
export const COMPONENT_STATES = ['working', 'failed', 'unknown'] as const;
export type ComponentState = (typeof COMPONENT_STATES)[number];

export interface ComponentHealth {
  readonly component: Component;
  readonly state: ComponentState;
  /** What fails and what that means; empty while it works. */
  readonly message: string;
  /** It has failed, and new pods work on this node all the same. */
  readonly allowsPods?: true;
}

export interface TimedHealth extends ComponentHealth {
  /** When it came to this state: milliseconds since the epoch, by the clock of the node. */
  readonly since: number;
}

/** Without them no pod can be added, nothing new is programmed, or nothing leaves the node: no place for new pods. */
const NEEDED: ReadonlySet<Component> = new Set<Component>([...FOLLOWING_COMPONENTS, 'uplink']);

/** Whether new pods fail on this node. */
export const isNetworkDown = ({ component, state, allowsPods }: ComponentHealth): boolean =>
  state === 'failed' && NEEDED.has(component) && !allowsPods;

const FOLLOWING: ReadonlySet<Component> = new Set(FOLLOWING_COMPONENTS);

/** Why what is written may have no effect: the message of the first that others need. Undefined: everybody follows. */
export const failureToFollow = (health: readonly ComponentHealth[]): string | undefined =>
  health.find(({ component, state }) => state === 'failed' && FOLLOWING.has(component))?.message;

/** Why the agent may not know what is desired by now. Undefined: it hears of it. */
export const failureToHear = (health: readonly ComponentHealth[]): string | undefined =>
  health.find(({ component, state }) => state === 'failed' && component === 'api-server')?.message;

/** What speaks against pods on this node, a message each: failures, and without any what is not known. @param isSaid of which others say it */
export const reasonsOfHealth = (
  health: readonly ComponentHealth[],
  isSaid: (component: Component) => boolean = () => false,
): string[] => {
  const failed = health.filter(isNetworkDown);
  if (failed.length > 0) return failed.filter(({ component }) => !isSaid(component)).map(({ message }) => message);
  return health
    .filter(({ component, state }) => state === 'unknown' && NEEDED.has(component))
    .map(({ component, message }) => `the state of ${component} is not known: ${message}`);
};

/** Of those that are missing here others report the problem: the node's keeper, and features. */
const CAUSES: Readonly<Partial<Record<Component, ProblemCause>>> = {
  'api-server': 'api-server-unreachable',
  'openvswitch-db': 'database-failed',
  'northbound-db': 'database-failed',
  'southbound-db': 'database-failed',
  'ovs-vswitchd': 'vswitchd-not-responding',
  'ovn-northd': 'northd-not-processing',
  'ovn-controller': 'controller-not-processing',
  tunnels: 'tunnels-silent',
};

/** Problems of the node; what is unknown has its cause among them. */
export const problemsOfHealth = (node: string, health: readonly ComponentHealth[]): Problem[] =>
  health
    .filter(({ state }) => state === 'failed')
    .flatMap(({ component, message }): Problem[] => {
      const cause = CAUSES[component];
      if (cause === undefined) return [];
      return [{ object: `Node/${node}`, message, cause, ...(component === 'tunnels' && { severity: 'warning' }) }];
    });
