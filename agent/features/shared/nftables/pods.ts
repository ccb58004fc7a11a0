/** How chains of several features know pods: by their links, by the default network's port, by their cgroups. */
import { DYING_LINK_GROUP, POD_LINK_GROUP } from '../../../../api/pod-links.ts';
import { DEFAULT_NETWORK_ID } from '../../../../net/ids.ts';
import { managementLinkName } from '../../../model/host-names.ts';
import { jump } from './text.ts';

/** For the hooks `output` and `forward`: nothing is sent or forwarded past Open vSwitch, straight to a pod. */
export const notByPodLinks = (): string => `oifgroup { ${POD_LINK_GROUP}, ${DYING_LINK_GROUP} } drop`;

/** For the hooks `output` and `forward`: returns what may go there. */
export const throughDefaultPort = (): string =>
  `oifname "${managementLinkName(DEFAULT_NETWORK_ID)}" ${jump('defaultPort')}`;

/** Pods of any quality of service and driver are this deep below the root; below a kubelet with a root of its own, deeper. */
export const POD_LEVELS = [1, 2, 3, 4, 5, 6] as const;
