/** Whether the uplink is where packets leave the node by. Pure. */
import type { Problem } from '../inputs/problem.ts';
import type { Bridge } from './uplink/types.ts';

export interface UplinkPlace {
  readonly bridge: string;
  /** Undefined: there is none, as it was asked for. */
  readonly uplink: string | undefined;
}

/** An adopted bridge names its uplink, also while that is no port of it: nothing that the agent may repair. */
export const uplinkProblems = (
  node: string,
  { bridge, uplink }: UplinkPlace,
  bridges: readonly Pick<Bridge, 'name' | 'ports'>[],
): Problem[] => {
  const ports = bridges.find(({ name }) => name === bridge)?.ports;
  if (uplink === undefined || ports === undefined || ports.some(({ name }) => name === uplink)) return [];
  const message = `uplink ${uplink} is not on ${bridge}: no traffic leaves this node`;
  return [{ object: `Node/${node}`, message, cause: 'uplink-off-bridge' }];
};
