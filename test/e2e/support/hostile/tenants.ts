/** The suite of frames that may not get past the node, among the tenants of north-south.ts, which has to be called first. */
import { afterAll, beforeAll, describe } from 'vitest';
import type { Sandbox } from '../../../../sandbox/index.ts';
import { deletePods } from '../cluster/cluster.ts';
import { pod } from '../cluster/manifests.ts';
import { podKey, TENANTS } from '../networks/north-south-tenants.ts';
import { HOSTILE_TENANTS, type HostileCluster, hostileCluster, NODE, OTHER_NODE } from './attacks.ts';
import { hostileByNode } from './by-node.ts';
import { hostileTunnels } from './tunnels.ts';

/** Two of a tenant's pods are there; of the third the neighbour on the first node is made. */
const keyOf = (name: string): string => {
  const tenant = HOSTILE_TENANTS.find((one) => name.startsWith(`${one}/`)) ?? 'plain';
  return { a: podKey(tenant, NODE), c: podKey(tenant, OTHER_NODE) }[name.slice(-1)] ?? name;
};

/** Call it where tests are declared. */
export const hostileAmongTenants = (cluster: () => Sandbox): void => {
  describe('hostile packets', () => {
    let here: HostileCluster | undefined;
    beforeAll(async () => {
      const manifests = HOSTILE_TENANTS.map((tenant) => pod(tenant, 'b', NODE));
      here = await hostileCluster(cluster(), { manifests, keyOf, networks: TENANTS.length });
    });
    afterAll(() => deletePods(cluster(), ...HOSTILE_TENANTS.map((tenant) => `${tenant}/b`)));
    const cast = (): HostileCluster => {
      if (here === undefined) throw new Error('the pods are not there');
      return here;
    };
    hostileByNode(cluster, cast);
    hostileTunnels(cluster, cast);
  });
};
