/**
 * Scenarios that share a cluster of the usual setting, as they leave its daemons alone: one after the other, each with objects of its
 * own. Needs root and `make build`.
 */
import { afterAll, describe } from 'vitest';
import { askedAddresses } from './shared/addresses.case.ts';
import { hostileObjects } from './shared/hostile-objects.case.ts';
import { selections } from './shared/selections.case.ts';
import { serviceErrors } from './shared/service-errors.case.ts';
import { serviceHostEndpoints } from './shared/service-host-endpoints.case.ts';
import { servicePolicies } from './shared/service-policies.case.ts';
import { smallTunnels } from './shared/tunnel-mtu.case.ts';
import { deleteTenants, useCluster } from './support/cluster/cluster.ts';

const cluster = useCluster({ name: 'test-shared', ipFamily: 'dual' });

describe.each([
  ['addresses that were asked for', askedAddresses],
  ['hostile objects', hostileObjects],
  ['ICMP errors between networks', serviceErrors],
  ['host-network pods behind Services', serviceHostEndpoints],
  ['policies of Services', servicePolicies],
  ['what pods select', selections],
  ['an MTU that does not fit the tunnels', smallTunnels],
] as const)('%s', (_, declare) => {
  afterAll(() => deleteTenants(cluster()));
  declare(cluster);
});
