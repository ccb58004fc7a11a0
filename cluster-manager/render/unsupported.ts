/** What a NAD may say and nobody here does yet: a network that is only half of what was asked for would be worse than none. */
import { ApiError } from '../../api/errors.ts';
import type { NetConf } from '../../api/net-conf.ts';

/** @throws ApiError ERR_API_UNSUPPORTED */
export const refuseUnsupported = ({ topology, transport, uplink }: NetConf): void => {
  const refuse = (what: string): never => {
    throw new ApiError('ERR_API_UNSUPPORTED', `${what} is not supported yet`);
  };
  if (topology === 'localnet') refuse('topology localnet');
  if (transport !== undefined && transport !== 'geneve') refuse(`transport ${transport}`);
  if (uplink !== undefined) refuse('uplink');
};
