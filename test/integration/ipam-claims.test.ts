/** Addresses that outlive pods, on a real API server: in the status before a pod has them, and there after a restart. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { crdFiles } from '../../api/crd/crds.ts';
import { IPAM_CLAIM_FINALIZER, POD_ANNOTATIONS } from '../../api/names.ts';
import { IPAM_CLAIMS, USER_DEFINED_NETWORKS } from '../../api/resources.ts';
import { createManager, type ManagerObservation } from '../../cluster-manager/controllers/manager.ts';
import { askPrimary, ipamClaim, layer2Udn, node, pod, tenant } from '../../cluster-manager/testing/objects.ts';
import { isAlreadyExists, isNotFound } from '../../kube/errors.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES, NODES, PODS, SERVICE_ACCOUNTS } from '../../kube/resources.ts';
import type { KubeClient } from '../../kube/types.ts';
import { eventually } from '../conformance/kube/harness.ts';
import { type RealServer, startRealServer } from '../conformance/kube/real-server.ts';

const NS = 'claims';
const NODE = node('claims-n1', {}, { creationTimestamp: undefined });

let server: RealServer;
let client: KubeClient;
let running: { readonly stop: AbortController; readonly ended: Promise<void> } | undefined;
let observations: ManagerObservation[] = [];

const startManager = async (): Promise<void> => {
  observations = [];
  const stop = new AbortController();
  const manager = createManager({
    client: await server.connect(),
    events: { record: () => {}, flush: () => Promise.resolve() },
    cluster: parseClusterConfig(),
    observe: (observation) => observations.push(observation),
  });
  running = { stop, ended: manager.run(stop.signal) };
};

const stopManager = async (): Promise<void> => {
  running?.stop.abort();
  await running?.ended;
  running = undefined;
};

beforeAll(async () => {
  server = await startRealServer('test-ipam-claims');
  client = await server.connect();
  for (const text of Object.values(crdFiles())) {
    await client.create(CUSTOM_RESOURCE_DEFINITIONS, parse(text)).catch(unlessThere);
  }
  await eventually(() => client.list(IPAM_CLAIMS));
  await client.create(NODES, NODE);
  await client.create(NAMESPACES, tenant(NS));
  // A real server lets pods in only when it is there; a controller may have been quicker.
  await client.create(SERVICE_ACCOUNTS, { metadata: { namespace: NS, name: 'default' } }).catch(unlessThere);
  await startManager();
}, 120_000);
afterAll(async () => {
  await stopManager();
  await client?.delete(NAMESPACES, { name: NS }).catch(() => {});
  await client?.delete(NODES, { name: NODE.metadata.name }).catch(() => {});
  client?.close();
  await server?.close();
});

const unlessThere = (error: unknown): void => {
  if (!isAlreadyExists(error)) throw error;
};

const createPod = (name: string, fields: Readonly<Record<string, unknown>> = {}) =>
  client.create(
    PODS,
    pod(
      `${NS}/${name}`,
      { uid: undefined, creationTimestamp: undefined, ...fields },
      { nodeName: NODE.metadata.name, terminationGracePeriodSeconds: 0 },
    ),
  );

const deletePod = (name: string) => client.delete(PODS, { namespace: NS, name }, { gracePeriodSeconds: 0 });

const naming = (claim: string, fields: Readonly<Record<string, unknown>> = {}) =>
  askPrimary({ 'ipam-claim-reference': claim, ...fields });

const addressOf = async (name: string): Promise<string | undefined> => {
  const { metadata } = await client.get(PODS, { namespace: NS, name });
  return JSON.parse(metadata.annotations?.[POD_ANNOTATIONS.networks] ?? '{}')[`${NS}/net`]?.ip_addresses?.[0];
};

const gets = (name: string, address: string) => eventually(async () => expect(await addressOf(name)).toBe(address));

const statusOf = async (name: string) =>
  (await client.get(IPAM_CLAIMS, { namespace: NS, name }))['status'] as
    | { ips: string[]; ownerPod?: { name: string }; conditions: { status: string; reason: string }[] }
    | undefined;

const claims = () => observations.flatMap((one) => (one.source === 'writer' ? [one.about.resource.plural] : []));

describe('a claim on a real API server', () => {
  it('gets its address into its status, then its pod has it, and the next pod, also over a restart', async () => {
    await client.create(
      USER_DEFINED_NETWORKS,
      layer2Udn(`${NS}/net`, ['10.20.0.0/28'], { ipam: { lifecycle: 'Persistent' } }),
    );
    await client.create(IPAM_CLAIMS, ipamClaim(`${NS}/vm`, `${NS}_net`));
    await createPod('first', naming('vm'));
    await gets('first', '10.20.0.3/28');
    // The server has it before the writer has its answer.
    const written = await eventually(async () => {
      const plurals = claims().filter((plural) => ['ipamclaims', 'pods'].includes(plural));
      expect(plurals).toContain('pods');
      return plurals;
    });
    expect(written.indexOf('pods')).toBeGreaterThan(written.indexOf('ipamclaims'));
    expect(written).toContain('ipamclaims');
    expect(await statusOf('vm')).toMatchObject({
      ips: ['10.20.0.3/28'],
      ownerPod: { name: 'first' },
      conditions: [{ type: 'IPsAllocated', status: 'True', reason: 'SuccessfulAllocation' }],
    });
    const { metadata } = await client.get(IPAM_CLAIMS, { namespace: NS, name: 'vm' });
    expect(metadata.finalizers).toEqual([IPAM_CLAIM_FINALIZER]);
    await deletePod('first');
    await eventually(async () => expect(await statusOf('vm')).not.toHaveProperty('ownerPod'));

    await stopManager();
    await createPod('stranger');
    await startManager();
    await gets('stranger', '10.20.0.4/28');
    await createPod('second', naming('vm'));
    await gets('second', '10.20.0.3/28');
    expect(await statusOf('vm')).toMatchObject({ ips: ['10.20.0.3/28'], ownerPod: { name: 'second' } });
  });

  it('stays while a pod has its address, and gives it back when it goes', async () => {
    await client.delete(IPAM_CLAIMS, { namespace: NS, name: 'vm' });
    const { metadata } = await client.get(IPAM_CLAIMS, { namespace: NS, name: 'vm' });
    expect(metadata.deletionTimestamp).toBeDefined();
    await deletePod('second');
    await eventually(async () => {
      const error: unknown = await client
        .get(IPAM_CLAIMS, { namespace: NS, name: 'vm' })
        .catch((reason: unknown) => reason);
      expect(isNotFound(error)).toBe(true);
    });
    await createPod('third');
    await gets('third', '10.20.0.3/28');
  });

  it('says in its condition why it has nothing', async () => {
    await client.create(IPAM_CLAIMS, ipamClaim(`${NS}/taken`, `${NS}_net`));
    await createPod('asking', naming('taken', { ips: ['10.20.0.3'] }));
    await eventually(async () =>
      expect(await statusOf('taken')).toMatchObject({
        ips: [],
        conditions: [
          {
            status: 'False',
            reason: 'IPAddressConflict',
            message: `requested address 10.20.0.3 already belongs to ${NS}/third (${NS}/net)`,
          },
        ],
      }),
    );
    expect(await addressOf('asking')).toBeUndefined();
  });
});
