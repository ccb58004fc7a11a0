/** Which endpoints of a Service pods are sent to, where the Service or its slices say so, with packets. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { ManifestObject, Sandbox } from '../../../sandbox/index.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import type { RunThere, Target } from '../../oracles/reachability/service-clients.ts';
import { applyAndWait, deletePods, readPod } from '../support/cluster/cluster.ts';
import { pod } from '../support/cluster/manifests.ts';
import { TENANTS, tenantManifests } from '../support/cluster/one-of-each.ts';
import { eventsOf } from '../support/faults/events.ts';
import { addressOfFamily } from '../support/packets/packets.ts';
import { fromHost } from '../support/services/entry-points.ts';
import { expectAnswersAt, expectRefusedAt } from '../support/services/expectations.ts';
import { backend, service, targetsOf, type WrittenEndpoint, writtenSlice } from '../support/services/services.ts';

export const servicePolicies = (cluster: () => Sandbox): void => {
  const NODES = ['node-1', 'node-2'] as const;
  const ZONES = { 'node-1': 'east', 'node-2': 'west' } as const;
  type NodeName = (typeof NODES)[number];

  beforeAll(async () => {
    await applyAndWait(cluster(), [
      ...NODES.map(
        (name): ManifestObject => ({
          apiVersion: 'v1',
          kind: 'Node',
          metadata: { name, labels: { 'topology.kubernetes.io/zone': ZONES[name] } },
        }),
      ),
      ...tenantManifests(),
      ...TENANTS.flatMap((tenant) =>
        NODES.flatMap((node) => [
          backend(tenant, webOn(tenant, node), node, 'web'),
          pod(tenant, `${tenant}-client-${node}`, node),
        ]),
      ),
    ]);
  }, 120_000);

  const webOn = (tenant: string, node: NodeName): string => `${tenant}-web-${node}`;
  const clientOn = (tenant: string, node: NodeName): string => `${tenant}/${tenant}-client-${node}`;
  const other = (node: NodeName): NodeName => (node === 'node-1' ? 'node-2' : 'node-1');

  /** From every node; with nobody: it is refused. */
  const expectFor = async (key: string, names: (node: NodeName) => readonly NodeName[]): Promise<void> => {
    const [tenant = ''] = key.split('/');
    for (const node of NODES) {
      const targets = await targetsOf(cluster(), key);
      const expected = names(node).map((one) => webOn(tenant, one));
      if (expected.length === 0) await expectRefusedAt(cluster(), clientOn(tenant, node), targets);
      else await expectAnswersAt(cluster(), clientOn(tenant, node), targets, expected);
    }
  };

  /** Slices of both families with the tenant's pods of both nodes. */
  const slices = async (
    tenant: string,
    name: string,
    say: (node: NodeName) => Partial<WrittenEndpoint>,
  ): Promise<ManifestObject[]> => {
    const pods = await Promise.all(NODES.map((node) => readPod(cluster(), `${tenant}/${webOn(tenant, node)}`)));
    return ([4, 6] as const).map((family) => {
      const endpoints = NODES.map((node, index): WrittenEndpoint => {
        const found = pods[index];
        if (found === undefined) throw new Error(`no pod on ${node}`);
        return { address: addressOfFamily(found, family), node, ...say(node) };
      });
      return writtenSlice(tenant, `${name}-${family}`, name, endpoints);
    });
  };

  describe('internalTrafficPolicy Local, for processes of nodes', () => {
    const host = (node: NodeName): RunThere => fromHost(cluster(), node);
    const local = { internalTrafficPolicy: 'Local' };

    it('is this node’s pods, and a refusal where there is none', async () => {
      await applyAndWait(cluster(), [
        service('plain', 'own', { app: 'web', spec: local }),
        service('plain', 'single', { app: 'single', spec: local }),
        backend('plain', 'plain-single', 'node-2', 'single'),
      ]);
      const own = await targetsOf(cluster(), 'plain/own');
      for (const node of NODES) await expectAnswersAt(cluster(), host(node), own, [webOn('plain', node)]);
      const single = await targetsOf(cluster(), 'plain/single');
      await expectAnswersAt(cluster(), host('node-2'), single, ['plain-single']);
      await expectRefusedAt(cluster(), host('node-1'), single);
      await applyAndWait(cluster(), [
        service('plain', 'single', { app: 'single', spec: { internalTrafficPolicy: 'Cluster' } }),
      ]);
      for (const node of NODES) await expectAnswersAt(cluster(), host(node), single, ['plain-single']);
    });

    it('is the node itself, where it is an endpoint', async () => {
      const { spec, ...onNode } = backend('plain', 'plain-on-node', 'node-2', 'on-node');
      await applyAndWait(cluster(), [
        { ...onNode, spec: { ...(spec as object), hostNetwork: true } },
        service('plain', 'on-node', { app: 'on-node', spec: local }),
      ]);
      const targets = await targetsOf(cluster(), 'plain/on-node');
      await expectAnswersAt(cluster(), host('node-2'), targets, ['node-2']);
      await expectRefusedAt(cluster(), host('node-1'), targets);
      await (await cluster().objects()).delete([service('plain', 'on-node', {})], { timeoutSeconds: 30 });
      // Others need its ports.
      await deletePods(cluster(), 'plain/plain-on-node');
      for (const node of NODES) {
        await eventually(async () => {
          const { stdout } = await cluster().node(node, ['nft', 'list', 'table', 'inet', 'ovn-udn']);
          expect(stdout).not.toContain('"plain/on-node"');
        });
      }
    });
  });

  describe.each(TENANTS)('a Service of %s', (tenant) => {
    it('with internalTrafficPolicy Local is answered as soon as the client’s node has a pod', async () => {
      await applyAndWait(cluster(), [
        service(tenant, 'lonely', { app: 'lonely', spec: { internalTrafficPolicy: 'Local' } }),
      ]);
      await expectFor(`${tenant}/lonely`, () => []);
      const name = `${tenant}-lonely`;
      await applyAndWait(cluster(), [backend(tenant, name, 'node-2', 'lonely')]);
      const targets = await targetsOf(cluster(), `${tenant}/lonely`);
      await expectAnswersAt(cluster(), clientOn(tenant, 'node-2'), targets, [name]);
      await expectRefusedAt(cluster(), clientOn(tenant, 'node-1'), targets);
    });

    it('is answered by what is meant for the client’s zone or node, where all are meant for somebody', async () => {
      const key = `${tenant}/hinted`;
      await applyAndWait(cluster(), [
        service(tenant, 'hinted', {}),
        ...(await slices(tenant, 'hinted', (node) => ({ forZone: ZONES[node] }))),
      ]);
      await expectFor(key, (node) => [node]);
      const crossed = (node: NodeName) => ({ forZone: ZONES[node], forNode: other(node) });
      await applyAndWait(cluster(), await slices(tenant, 'hinted', crossed));
      await expectFor(key, (node) => [other(node)]);
      const partly = (node: NodeName) => (node === 'node-1' ? { forZone: ZONES[node] } : {});
      await applyAndWait(cluster(), await slices(tenant, 'hinted', partly));
      await expectFor(key, () => NODES);
    });

    it('is answered by what ends when nothing is ready, and refuses when that has ended', async () => {
      const key = `${tenant}/ending`;
      const states = async (say: (node: NodeName) => WrittenEndpoint['state']): Promise<void> =>
        applyAndWait(cluster(), await slices(tenant, 'ending', (node) => ({ state: say(node) ?? 'ready' })));
      await applyAndWait(cluster(), [service(tenant, 'ending', {})]);
      await states((node) => (node === 'node-1' ? 'ready' : 'ending'));
      await expectFor(key, () => ['node-1']);
      await states(() => 'ending');
      await expectFor(key, () => NODES);
      await states(() => 'gone');
      await expectFor(key, () => []);
      await applyAndWait(cluster(), [service(tenant, 'ending', { spec: { internalTrafficPolicy: 'Local' } })]);
      await states((node) => (node === 'node-1' ? 'ready' : 'ending'));
      await expectFor(key, (node) => [node]);
    });
  });

  const at = (ips: readonly string[]): Target[] =>
    ips.flatMap((ip): Target[] => [
      { ip, port: 80, protocol: 'TCP' },
      { ip, port: 53, protocol: 'UDP' },
    ]);

  it('an external address that two Services claim belongs to the older one; the other gets an event, and the address afterwards', async () => {
    const spec = { externalIPs: ['192.0.2.77', '2001:db8::77'] };
    const older = service('plain', 'older', { app: 'web', spec });
    await applyAndWait(cluster(), [older]);
    // Ages are in seconds.
    await new Promise((resolve) => setTimeout(resolve, 1100));
    await applyAndWait(cluster(), [service('red', 'younger', { app: 'web', spec })]);
    const answers = (tenant: string) =>
      expectAnswersAt(
        cluster(),
        clientOn(tenant, 'node-1'),
        at(spec.externalIPs),
        NODES.map((node) => webOn(tenant, node)),
      );
    await answers('plain');
    const reasons = async (): Promise<string[]> =>
      (await eventsOf(cluster(), 'red', 'younger')).map(({ reason, message }) => `${reason} ${message}`);
    await eventually(async () =>
      expect(await reasons()).toContain(
        'ExternalAddressInUse not reachable at 192.0.2.77:80/TCP: a Service of another namespace has it',
      ),
    );
    await (await cluster().objects()).delete([older], { timeoutSeconds: 30 });
    await answers('red');
  });
};
