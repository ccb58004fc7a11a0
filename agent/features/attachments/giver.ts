/** Who gives the addresses of a network, and from which subnets. Pure. */
import { hasClusterIpam } from '../../../api/network.ts';
import type { Attachment } from '../../model/attachments.ts';
import type { NetworkFact } from '../../model/facts.ts';
import type { View } from '../../model/view.ts';

export const giverOf = (network: NetworkFact, view: View): Pick<Attachment, 'givenBy' | 'subnets'> =>
  hasClusterIpam(network)
    ? { givenBy: 'cluster', subnets: [] }
    : { givenBy: 'node', subnets: view.nodeSubnets(view.node, network.name) };
