/** Shared gateway mode on the kernel's datapath, with VRFs. Needs root and `make build`. */
import { useCluster } from './support/cluster/cluster.ts';
import { northSouth } from './support/networks/north-south.ts';
import { tenantVrfs } from './support/networks/tenant-vrfs.ts';
import { pathMtu } from './support/packets/path-mtu.ts';
import { policyAssociations } from './support/policies/associations.ts';
import { defaultServices } from './support/services/default-services.ts';

const cluster = useCluster({ name: 'test-north-south-kernel', needs: ['vrf', 'kernel-datapath', 'sctp'] });

northSouth(cluster, { hasSctp: true, translatesIcmp: true });
pathMtu(cluster);
policyAssociations(cluster);
tenantVrfs(cluster);
defaultServices(cluster);
