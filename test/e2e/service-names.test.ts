/**
 * Services by their names, as tenants ask for them: at the ClusterIPs of kube-dns, which is in the default network, by the VRFs of
 * their networks. Needs root and `make build`.
 */
import { useCluster } from './support/cluster.ts';
import { serviceNames } from './support/service-names.ts';

const cluster = useCluster({
  ...{ name: 'test-service-names-vrf', needs: ['vrf', 'kernel-datapath'], dns: 'coredns', ipFamily: 'dual' },
});

serviceNames(cluster, { clientsOn: ['node-1', 'node-2'] });
