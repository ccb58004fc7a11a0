/** MultiNetworkPolicies with packets: what they let through on secondary networks of both topologies, and on one without IPAM. */
import { expect } from 'vitest';
import { POLICY_FOR_ANNOTATION } from '../../../../api/multi-network-policy.ts';
import { MULTI_NETWORK_POLICIES } from '../../../../api/resources.ts';
import { definitionOf } from '../../../../kube/testing/definition-of.ts';
import type { ManifestObject, Sandbox } from '../../../../sandbox/index.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';
import { restartsOf } from '../cluster/restarts.ts';
import { networkStatesOn } from '../cluster/udnctl.ts';
import { arrivals, describePacket, type Packet } from '../packets/packets.ts';

const { group, version, kind } = MULTI_NETWORK_POLICIES;

const DEFINITION: ManifestObject = {
  ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
  ...definitionOf(MULTI_NETWORK_POLICIES),
};

/** @param policyFor names of NetworkAttachmentDefinitions, with commas */
export const multiPolicy = (
  namespace: string,
  name: string,
  policyFor: string,
  spec: Readonly<Record<string, unknown>>,
): ManifestObject => ({
  ...{ apiVersion: `${group}/${version}`, kind, spec },
  metadata: { namespace, name, annotations: { [POLICY_FOR_ANNOTATION]: policyFor } },
});

/** Agents look for the definition at their start, and then once a minute. */
export const installMultiPolicies = async (sandbox: Sandbox, nodes: readonly string[]): Promise<void> => {
  await (await sandbox.objects()).apply([DEFINITION]);
  const restarts = () => Promise.all(nodes.map((node) => restartsOf(sandbox, node)));
  const before = await restarts();
  await Promise.all(nodes.map((node) => sandbox.kill(node, 'agent', 'SIGTERM')));
  await eventually(async () => {
    expect(await restarts()).toEqual(before.map((count) => count + 1));
    await Promise.all(nodes.map((node) => networkStatesOn(sandbox, node)));
  }, 60_000);
};

/** Exactly those of the packets arrive, in the end. */
export const onlyArrive = (
  sandbox: Sandbox,
  packets: readonly Packet[],
  isAllowed: (packet: Packet) => boolean,
): Promise<void> =>
  eventually(async () =>
    expect(await arrivals(sandbox, packets)).toEqual(packets.filter(isAllowed).map(describePacket)),
  );
