/** `udnctl networks`, `pods` and `why` on a real API server with the rights of a tenant: what is missing is named. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { crdFiles } from '../../api/crd/crds.ts';
import {
  CLUSTER_USER_DEFINED_NETWORKS,
  NETWORK_ATTACHMENT_DEFINITIONS,
  USER_DEFINED_NETWORKS,
} from '../../api/resources.ts';
import { clusterNetworks, clusterPods } from '../../cli/commands/cluster-lists.ts';
import { askWhy } from '../../cli/commands/why.ts';
import { createManager } from '../../cluster-manager/controllers/manager.ts';
import { cudn, layer2Udn, tenant } from '../../cluster-manager/testing/objects.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES } from '../../kube/resources.ts';
import type { KubeClient } from '../../kube/types.ts';
import { eventually } from '../conformance/kube/harness.ts';
import { createKubectl, type Kubectl } from '../conformance/kube/kubectl.ts';
import { type RealServer, startRealServer } from '../conformance/kube/real-server.ts';
import { connectAs } from './connect-as.ts';

let server: RealServer;
let client: KubeClient;
let asTenant: KubeClient;
let kubectl: Kubectl;
const stop = new AbortController();
let ended: Promise<void> | undefined;

beforeAll(async () => {
  server = await startRealServer('test-tenant-view');
  client = await server.connect();
  const kubeconfig = await readFile(server.kubeconfig, 'utf8');
  kubectl = await createKubectl(kubeconfig);
  for (const text of Object.values(crdFiles())) {
    await client.create(CUSTOM_RESOURCE_DEFINITIONS, parse(text)).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  }
  await eventually(() => client.list(USER_DEFINED_NETWORKS));
  const events = { record: () => {}, flush: () => Promise.resolve() };
  const manager = createManager({ client: await server.connect(), events, cluster: parseClusterConfig() });
  ended = manager.run(stop.signal);
  await kubectl.run('apply', '-f', 'daemonset/tenants-rbac.yaml');
  await client.create(NAMESPACES, tenant('tv-red', { team: 'tv' }));
  for (const role of ['view', 'ovn-udn-view']) {
    await kubectl.run('-n', 'tv-red', 'create', 'rolebinding', role, `--clusterrole=${role}`, '--user=tv-tenant');
  }
  asTenant = await connectAs(kubeconfig, (user) => ({ ...user, as: 'tv-tenant' }));
}, 120_000);
afterAll(async () => {
  stop.abort();
  await ended;
  await client?.delete(CLUSTER_USER_DEFINED_NETWORKS, { name: 'tv-shop' }).catch(() => {});
  await client?.delete(NAMESPACES, { name: 'tv-red' }).catch(() => {});
  await kubectl?.close();
  asTenant?.close();
  client?.close();
  await server?.close();
});

const question = { in: 'tv-red', now: Date.now(), isWide: false };

it('a tenant sees its networks, also that of the cluster, and what it may not read', async () => {
  const network = { topology: 'Layer2', layer2: { role: 'Primary', subnets: ['10.5.0.0/16'] } };
  await client.create(CLUSTER_USER_DEFINED_NETWORKS, cudn('tv-shop', { matchLabels: { team: 'tv' } }, network));
  await eventually(async () => {
    const { metadata } = await client.get(NETWORK_ATTACHMENT_DEFINITIONS, { namespace: 'tv-red', name: 'tv-shop' });
    expect(metadata.annotations?.['k8s.ovn.org/network-id']).toMatch(/^[0-9]+$/);
  }, 30_000);
  await client.create(USER_DEFINED_NETWORKS, layer2Udn('tv-red/late', ['10.6.0.0/16']));
  const { tables, notes } = await eventually(async () => {
    const output = await clusterNetworks(asTenant, question);
    expect(output.tables[0]?.rows.map((row) => [row[0], row[1], row[6]])).toEqual([
      ['cluster_udn_tv-shop', 'cudn tv-shop', 'ready'],
      ['tv-red_late', 'udn tv-red/late', 'not ready: primary-taken'],
    ]);
    return output;
  }, 30_000);
  expect(tables).toHaveLength(1);
  expect(notes).toEqual([
    'not shown: clusteruserdefinednetworks.k8s.ovn.org: you may not list them',
    'not shown: nodes: you may not list them',
  ]);
});

it('a tenant gets the reason, and whose network took its place', async () => {
  const { lines, exitStatus } = await askWhy(asTenant, { kind: 'udn', name: 'tv-red/late' }, Date.now());
  expect(exitStatus).toBe(1);
  expect(lines[0]).toContain('NetworkAttachmentDefinition tv-red/tv-shop, of ClusterUserDefinedNetwork tv-shop');
});

it('elsewhere it sees nothing, and gets a message about it', async () => {
  const { notes, tables } = await clusterPods(asTenant, { ...question, in: 'default' });
  expect(tables[0]?.rows).toEqual([]);
  expect(notes).toContain('not shown: pods of namespace default: you may not list them');
});
