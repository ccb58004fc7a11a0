/** What a NAD may say and nobody here does yet: a network that is only half of what was asked for would be worse than none. */
import { ApiError } from '../../api/errors.ts';
import type { NetConf } from '../../api/net-conf.ts';

const PARTS = ['excludeSubnets', 'reservedSubnets', 'infrastructureSubnets'] as const;

/** @throws ApiError ERR_API_UNSUPPORTED */
export const refuseUnsupported = (conf: NetConf): void => {
  const { topology, transport, uplink } = conf;
  const refuse = (what: string): never => {
    throw new ApiError('ERR_API_UNSUPPORTED', `${what} is not supported yet`);
  };
  if (transport !== undefined && transport !== 'geneve') refuse(`transport ${transport}`);
  if (uplink !== undefined) refuse('uplink');
  // Nodes get their parts of all of the subnets, and each part has a gateway of its own.
  const part = topology === 'layer3' ? PARTS.find((field) => conf[field].length > 0) : undefined;
  if (part !== undefined) refuse(`${part} of topology layer3`);
};
