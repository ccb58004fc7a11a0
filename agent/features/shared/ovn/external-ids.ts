/** `external_ids` that say which network a row belongs to. Rows of the default network have none of these. */
import type { NetworkFact } from '../../../model/facts.ts';

type NetworkIdentity = Pick<NetworkFact, 'name' | 'topology' | 'role'>;
type ExternalIds = Readonly<Record<string, string>>;

export const networkIds = ({ name, topology, role }: NetworkIdentity): ExternalIds =>
  role === 'default' ? {} : { 'k8s.ovn.org/network': name, 'k8s.ovn.org/topology': topology };

export const networkAndRoleIds = (network: NetworkIdentity): ExternalIds =>
  network.role === 'default' ? {} : { ...networkIds(network), 'k8s.ovn.org/role': network.role };
