/** What goes wrong by objects of the API, or by their absence. */
import { expect, it } from 'vitest';
import { z } from 'zod';
import { POD_ANNOTATIONS } from '../../../api/names.ts';
import { NETWORK_ATTACHMENT_DEFINITIONS, USER_DEFINED_NETWORKS } from '../../../api/resources.ts';
import { PODS } from '../../../kube/resources.ts';
import type { ManifestObject } from '../../../sandbox/index.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import { applyAndWait, deletePods } from '../support/cluster/cluster.ts';
import { layer2, layer3, namespace, plainNamespace, pod } from '../support/cluster/manifests.ts';
import { firstLine, MINUTE_MS, NODE, type Operator } from './operator.ts';

/** More than a subnet of eight addresses has for pods. */
const PODS_EACH = [1, 2, 3, 4, 5, 6];

/** @param operator as the cluster of the file has it */
export const incidentsOfApi = ({ cluster, asked, answers, of, problemBecomes, isWell, objects }: Operator): void => {
  it('the NAD of a network is deleted while pods use it', async () => {
    const client = await cluster().client();
    await client.delete(NETWORK_ATTACHMENT_DEFINITIONS, { namespace: 'red', name: 'net' });
    const line =
      /^UserDefinedNetwork red\/net is not ready: NetworkAttachmentDefinition red\/net is being deleted and waits for pods that use it: red\/a$/;
    const incident = of('nad-deleted');
    await incident.answers(['why', 'udn', 'red/net'], line);
    await incident.answers(
      ['why', 'pod', 'red/a'],
      /: NetworkAttachmentDefinition red\/net is being deleted and waits for pods/,
    );
    await deletePods(cluster(), 'red/a');
    await answers(['why', 'udn', 'red/net'], /is ready/);
  });

  it('a network is stuck in its deletion', async () => {
    await applyAndWait(cluster(), [pod('red', 'a', NODE)]);
    const client = await cluster().client();
    await client.delete(USER_DEFINED_NETWORKS, { namespace: 'red', name: 'net' });
    await of('deletion').answers(
      ['why', 'udn', 'red/net'],
      /^UserDefinedNetwork red\/net is not deleted yet: pods use it: red\/a$/,
    );
    await deletePods(cluster(), 'red/a');
    await answers(['why', 'udn', 'red/net'], /no object has that name/);
  });

  it('a namespace has no label', async () => {
    await (await objects()).apply([plainNamespace('bare'), layer2('bare', 'net', ['10.93.0.0/16'])]);
    await of('label').answers(
      ['why', 'udn', 'bare/net'],
      /^UserDefinedNetwork bare\/net is not ready: namespace bare has no label k8s\.ovn\.org\/primary-user-defined-network, which a primary network needs/,
    );
  });

  it('the subnet of a node, or of a network, has no address left', async () => {
    const many = (inNamespace: string): ManifestObject[] =>
      PODS_EACH.map((index) => pod(inNamespace, `p${index}`, NODE));
    await (await objects()).apply([
      ...[namespace('full'), layer3('full', 'net', ['10.94.0.0/24/29']), ...many('full')],
      ...[namespace('tiny'), layer2('tiny', 'net', ['10.95.0.0/29']), ...many('tiny')],
    ]);
    await problemBecomes(
      /^error {4}(Pod\/full\/p\d: network full_net: subnet 10\.94\.0\.\d+\/29 has no free address left|this node’s part of a subnet has no free address left .*) {2}\[addresses-exhausted\]$/,
      1,
    );
    for (const [inNamespace, subnet] of [
      ['full', '10\\.94\\.0\\.\\d+/29'],
      ['tiny', '10\\.95\\.0\\.0/29'],
    ] as const) {
      await eventually(async () => {
        const waiting = await waitingPods(inNamespace);
        expect(waiting.length).toBeGreaterThan(0);
        for (const name of waiting) {
          const said = await asked('why', 'pod', `${inNamespace}/${name}`);
          expect(firstLine(said)).toMatch(
            new RegExp(`^pod ${inNamespace}/${name} is not ready: .*${subnet} has no free address left$`),
          );
        }
      }, MINUTE_MS);
      const [name = ''] = await waitingPods(inNamespace);
      await of('subnet').answers(['why', 'pod', `${inNamespace}/${name}`], new RegExp(`${subnet} has no free address`));
    }
    await deletePods(cluster(), ...['full', 'tiny'].flatMap((name) => PODS_EACH.map((i) => `${name}/p${i}`)));
    await isWell();
  });

  it('a pod asks for an address that another one has', async () => {
    const taken = JSON.parse(
      (await (await objects()).get('pod', 'blue/a')).metadata.annotations?.[POD_ANNOTATIONS.networks] ?? '{}',
    );
    const value = JSON.stringify({ 'blue/net': taken['blue/net'] });
    await (await objects()).apply([pod('blue', 'thief', NODE, { [POD_ANNOTATIONS.networks]: value })]);
    await of('address').answers(
      ['why', 'pod', 'blue/thief'],
      /^pod blue\/thief is not ready: network blue_net: address 10\.92\.0\.\d+ already belongs to blue\/a /,
    );
    await (await cluster().client()).delete(PODS, { namespace: 'blue', name: 'thief' });
  });

  const waitingPods = async (inNamespace: string): Promise<readonly string[]> => {
    const { stdout } = await asked('pods', '-n', inNamespace, '-o', 'json');
    const { items } = podsSchema.parse(JSON.parse(stdout));
    return items.filter(({ state }) => state === 'waiting').map(({ name }) => name);
  };
};

const podsSchema = z.object({ items: z.array(z.object({ name: z.string(), state: z.string() })) });
