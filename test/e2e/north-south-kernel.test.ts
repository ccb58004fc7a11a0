/** Shared gateway mode on the kernel's datapath, with VRFs. Needs root and `make build`. */
import { useCluster } from './support/cluster.ts';
import { defaultServices } from './support/default-services.ts';
import { northSouth } from './support/north-south.ts';
import { pathMtu } from './support/path-mtu.ts';
import { tenantVrfs } from './support/tenant-vrfs.ts';

const cluster = useCluster({ name: 'test-north-south-kernel', needs: ['vrf', 'kernel-datapath', 'sctp'] });

northSouth(cluster, { hasSctp: true, translatesIcmp: true });
pathMtu(cluster);
tenantVrfs(cluster);
defaultServices(cluster);
