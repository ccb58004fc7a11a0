/** What the numbers of the databases and the answers of the daemons mean. Pure. */
import type { ComponentHealth } from './component.ts';
import { type Behind, isStalled } from './lag.ts';

/** Undefined: not checked yet. An Error: it does not answer. */
export type Answer<T> = T | Error | undefined;

/** Awaited: for a moment where it was never seen. Nameless: Open vSwitch does not say by which name. */
export type Registration = 'there' | 'awaited' | 'missing' | 'nameless';

/** Found by one look, ages in milliseconds. */
export interface Observations {
  readonly northbound: Answer<object>;
  readonly southbound: Answer<object>;
  readonly openvswitch: Answer<object>;
  readonly vswitchd: Answer<object>;
  /** How long ovn-northd has not processed what was asked, and what that is. */
  readonly northd: Behind;
  readonly controller: Behind;
  /** Daemons that have owed answers since before the agent looked first. */
  readonly unproven: Readonly<Record<'northd' | 'controller', boolean>>;
  /** Why the southbound database rejects writes, where that was tried. */
  readonly southboundWrites: Error | undefined;
  /** The same of the Open_vSwitch database. */
  readonly openvswitchWrites: Error | undefined;
  /** The row of this node; undefined: not checked yet. */
  readonly registration: Registration | undefined;
  /** By which name it is, where that is not the one that it should have. */
  readonly otherName: string | undefined;
}

/** How the components of OVN and Open vSwitch stand. */
export const judge = (seen: Observations): ComponentHealth[] => {
  const { northbound, southbound, openvswitch, vswitchd } = seen;
  const canWriteSouthbound = seen.southboundWrites === undefined;
  return [
    database('openvswitch-db', openvswitch, seen.openvswitchWrites),
    database('northbound-db', northbound, undefined),
    database('southbound-db', southbound, seen.southboundWrites),
    switchHealth(vswitchd),
    firstOf(
      unknownWithout('ovn-northd', ['the northbound database', northbound], ['the southbound database', southbound]),
      canWriteSouthbound ? undefined : unknown('ovn-northd', 'the southbound database rejects writes'),
      () => northdHealth(seen),
    ),
    firstOf(
      unknownWithout('ovn-controller', ['the southbound database', southbound], ['ovs-vswitchd', vswitchd]),
      canWriteSouthbound ? undefined : unknown('ovn-controller', 'the southbound database rejects writes'),
      () => controllerHealth(seen),
    ),
  ];
};

const DATABASES = {
  'openvswitch-db': ['the Open_vSwitch database', 'no pod can be plugged on this node'],
  'northbound-db': ['the northbound database', 'no change of networks, pods and Services is programmed on this node'],
  'southbound-db': ['the southbound database', 'no change of networks, pods and Services is programmed on this node'],
} as const;

const database = (
  component: keyof typeof DATABASES,
  answer: Answer<object>,
  writes: Error | undefined,
): ComponentHealth => {
  const [name, effect] = DATABASES[component];
  if (answer === undefined) return unknown(component, 'not checked yet');
  if (answer instanceof Error) return failed(component, `${name} does not answer: ${answer.message}: ${effect}`);
  if (writes !== undefined) return failed(component, `${name} rejects writes: ${writes.message}: ${effect}`);
  return working(component);
};

const switchHealth = (answer: Answer<object>): ComponentHealth => {
  if (answer === undefined) return unknown('ovs-vswitchd', 'not checked yet');
  if (!(answer instanceof Error)) return working('ovs-vswitchd');
  return failed(
    'ovs-vswitchd',
    `ovs-vswitchd does not answer: ${answer.message}: no pod can be plugged on this node, and new connections may fail`,
  );
};

const northdHealth = ({ northd, unproven }: Observations): ComponentHealth => {
  if (isStalled(northd)) {
    return failed(
      'ovn-northd',
      `ovn-northd has not processed configuration ${northd.asked} of the northbound database: new and changed networks, pods and Services have no effect on this node`,
    );
  }
  return unproven.northd ? unknown('ovn-northd', NOT_SEEN) : working('ovn-northd');
};

/** An agent that has just started must not take a daemon for well that had stopped before. */
const NOT_SEEN = 'it has not processed yet what was asked before the agent started';

const controllerHealth = ({ controller, registration, otherName, northd, unproven }: Observations): ComponentHealth => {
  if (registration === 'nameless') {
    return failed(
      'ovn-controller',
      `external_ids:system-id is missing in the Open_vSwitch database: without it ovn-controller processes nothing on this node; set it to ${otherName ?? 'the name of the chassis'}`,
    );
  }
  if (registration === 'awaited') return unknown('ovn-controller', 'it has not registered this node yet');
  if (registration === 'missing' && otherName !== undefined) {
    return failed(
      'ovn-controller',
      `external_ids:system-id of Open vSwitch was changed, and the node is still registered as chassis ${otherName}: ovn-controller processes nothing until it is set back, or until ovn-sbctl chassis-del ${otherName}`,
    );
  }
  if (registration === 'missing') {
    return failed(
      'ovn-controller',
      'ovn-controller has not registered this node in the southbound database: the node has no flows of pods',
    );
  }
  if (isStalled(controller)) {
    return failed(
      'ovn-controller',
      `ovn-controller has not processed configuration ${controller.asked} of the southbound database: flows of new and changed pods are not installed on this node`,
    );
  }
  if (isStalled(northd)) return unknown('ovn-controller', 'ovn-northd does not process changes');
  if (unproven.controller) return unknown('ovn-controller', NOT_SEEN);
  return working('ovn-controller');
};

const unknownWithout = (
  component: ComponentHealth['component'],
  ...needs: readonly (readonly [string, Answer<object>])[]
): ComponentHealth | undefined => {
  for (const [name, answer] of needs) {
    if (answer === undefined) return unknown(component, `${name} was not checked yet`);
    if (answer instanceof Error) return unknown(component, `${name} does not answer`);
  }
  return undefined;
};

const firstOf = (
  ...candidates: readonly (ComponentHealth | undefined | (() => ComponentHealth))[]
): ComponentHealth => {
  for (const one of candidates) {
    if (typeof one === 'function') return one();
    if (one !== undefined) return one;
  }
  throw new Error('unreachable: the last candidate is a function');
};

const working = (component: ComponentHealth['component']): ComponentHealth => ({
  component,
  state: 'working',
  message: '',
});
const failed = (component: ComponentHealth['component'], message: string): ComponentHealth => ({
  component,
  state: 'failed',
  message,
});
const unknown = (component: ComponentHealth['component'], message: string): ComponentHealth => ({
  component,
  state: 'unknown',
  message,
});
