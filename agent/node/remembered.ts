/**
 * What a node said of itself before its agent ended. It stands in for what was not seen yet, so that nothing of it is taken
 * away meanwhile and comes back later. Pure.
 */
import type { NodeProjection } from '../inputs/node-projection.ts';
import type { GatewayFact } from '../model/facts.ts';
import type { NodeIdentity } from './annotations.ts';
import { uplinkOf } from './uplink/choose.ts';
import type { Bridge } from './uplink/types.ts';

export interface RememberedInputs {
  readonly published: Pick<NodeProjection, 'gateway' | 'hostAddresses'> | undefined;
  /** Undefined: not read yet. */
  readonly bridges: readonly Bridge[] | undefined;
  readonly canAdvertise: (bridge: string) => boolean;
}

/** `seen`, with what it lacks as it was said. */
export const withRemembered = (
  seen: NodeIdentity,
  { published, bridges, canAdvertise }: RememberedInputs,
): NodeIdentity => ({
  ...seen,
  gateway: seen.gateway ?? rememberedGateway(published?.gateway, bridges, canAdvertise),
  hostAddresses: seen.hostAddresses ?? (published?.hostAddresses.length ? published.hostAddresses : undefined),
});

/**
 * The annotation says neither the bridge's port to the outside nor what its datapath can do: without them, flows of all
 * networks would be others. Open vSwitch knows both.
 */
const rememberedGateway = (
  gateway: GatewayFact | undefined,
  bridges: readonly Bridge[] | undefined,
  canAdvertise: (bridge: string) => boolean,
): GatewayFact | undefined => {
  if (gateway === undefined || bridges === undefined) return undefined;
  const bridge = bridges.find(({ name }) => name === gateway.bridge);
  const uplink = bridge && uplinkOf(bridge);
  return { ...gateway, uplink, ...(canAdvertise(gateway.bridge) ? {} : { cannotAdvertise: true }) };
};
