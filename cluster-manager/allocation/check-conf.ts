/** What a CNI configuration comes to in this cluster: a network, or the reason why not. Pure. */
import type { ClusterConfig } from '../../api/cluster-config.ts';
import { ApiError } from '../../api/errors.ts';
import type { NetConf } from '../../api/net-conf.ts';
import { type Network, networkOfNetConf } from '../../api/network.ts';
import { refuseOverlaps } from '../../api/network-overlap.ts';
import { refuseUnsupported } from '../render/unsupported.ts';

/** Why a NAD that was written by hand can be no network; what is rendered has been evaluated before. */
export const refusalOf = (conf: NetConf, cluster: ClusterConfig): string | undefined => {
  try {
    refuseUnsupported(conf);
    refuseOverlaps(conf, cluster);
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error.message;
    throw error;
  }
};

export const networkOrNone = (conf: NetConf, cluster: ClusterConfig): Network | undefined => {
  try {
    return networkOfNetConf(conf, cluster);
  } catch {
    return undefined;
  }
};
