/** Pods with ports of their node (`hostPort`), and who reaches those of tenants: in a cluster that has the matrix of Services. */
import { beforeAll, describe, expect, it } from 'vitest';
import { FAMILIES } from '../../../../net/ip.ts';
import type { ManifestObject, Sandbox } from '../../../../sandbox/index.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';
import { askFrom, type RunThere, type Target } from '../../../oracles/reachability/service-clients.ts';
import { NAMESPACES, TWIN } from '../../../oracles/services/world.ts';
import { applyAndWait } from '../cluster/cluster.ts';
import { pod } from '../cluster/manifests.ts';
import { nodeAddress, outside } from '../networks/north-south.ts';
import { describeTarget, fromHost, fromOutside, fromPod, whoAnswers } from './entry-points.ts';
import { SERVED } from './services.ts';

interface Place {
  readonly namespace: string;
  readonly name: string;
  readonly node: string;
}

/** @param ports `PROTOCOL/NUMBER`, `PROTOCOL/NUMBER@HOSTIP`, `PROTOCOL/NUMBER:CONTAINERPORT` */
export const podWithPorts = ({ namespace, name, node }: Place, ports: readonly string[]): ManifestObject => {
  const { spec, ...rest } = pod(namespace, name, node);
  const [container] = (spec as { containers: object[] }).containers;
  const asked = ports.map((text) => {
    const [, protocol = '', port, own, hostIP] = /^(\w+)\/(\d+)(?::(\d+))?(?:@(.*))?$/.exec(text) ?? [];
    const containerPort = Number(own ?? SERVED[protocol as keyof typeof SERVED]);
    return { protocol, containerPort, hostPort: Number(port), ...(hostIP !== undefined && { hostIP }) };
  });
  return { ...rest, spec: { ...(spec as object), containers: [{ ...container, ports: asked }] } };
};

/** The client outside keeps its address. */
export const seesOutside = async (sandbox: Sandbox, targets: readonly Target[]): Promise<void> => {
  const asked = targets.map((one) => ({ ...one, question: 'clientip' as const }));
  const seen = await askFrom(fromOutside(sandbox), asked);
  expect(new Set(seen.map(({ text }) => text.replace(/:\d+$/, '').replace(/[[\]]/g, '')))).toEqual(
    new Set(FAMILIES.map(outside)),
  );
};

const NODE = 'node-1';
const ROUTED = NAMESPACES['layer 3'];
const SWITCHED = NAMESPACES['layer 2'];
/** On a layer-3 and a layer-2 network. */
const PUBLISHED = [
  { namespace: ROUTED, name: 'port-routed', port: 8088 },
  { namespace: SWITCHED, name: 'port-switched', port: 8089 },
] as const;
const PROTOCOLS = ['TCP', 'UDP'] as const;

const targetsAt = (ips: readonly string[], { port }: (typeof PUBLISHED)[number]): Target[] =>
  ips.flatMap((ip) => PROTOCOLS.map((protocol) => ({ ip, port, protocol })));
const AT_NODE = FAMILIES.map((family) => nodeAddress(NODE, family));

/** Call it where tests are declared, behind `serviceMatrix`. */
export const tenantHostPorts = (cluster: () => Sandbox): void => {
  const leadsToPods = async (run: RunThere, ips: readonly string[]): Promise<void> => {
    const all = PUBLISHED.flatMap((one) => targetsAt(ips, one).map((target) => ({ target, name: one.name })));
    const expected = all.map(({ target, name }) => `${describeTarget(target)} → ${name}`).sort();
    const targets = all.map(({ target }) => target);
    await eventually(async () => expect(await whoAnswers(run, targets)).toEqual(expected), 60_000);
  };

  describe('a port of the node that leads to a tenant’s pod', () => {
    beforeAll(async () => {
      const pods = PUBLISHED.map(({ namespace, name, port }) =>
        podWithPorts(
          { namespace, name, node: NODE },
          PROTOCOLS.map((protocol) => `${protocol}/${port}`),
        ),
      );
      await applyAndWait(cluster(), pods);
    }, 120_000);

    it.each([
      ['a host outside', () => fromOutside(cluster())],
      ['another node', () => fromHost(cluster(), 'node-2')],
      ['its own node', () => fromHost(cluster(), NODE)],
      ['a host-network pod of its node', () => fromPod(cluster(), `${ROUTED}/host-${NODE}`)],
      ['a pod of the layer-3 network, on its node', () => fromPod(cluster(), `${ROUTED}/client`)],
      ['a pod of the layer-2 network, on its node', () => fromPod(cluster(), `${SWITCHED}/client`)],
      ['a pod of a network with the same addresses, on its node', () => fromPod(cluster(), `${TWIN}/client`)],
      ['a pod of the default network, on its node', () => fromPod(cluster(), `${NAMESPACES.default}/client`)],
    ] as const)('is reached from %s', (_, run) => leadsToPods(run(), AT_NODE), 90_000);

    it(
      'is reached from its own node by a loopback address',
      () => leadsToPods(fromHost(cluster(), NODE), ['127.0.0.1']),
      90_000,
    );

    it('shows the pod which host outside has called', () =>
      seesOutside(
        cluster(),
        PUBLISHED.flatMap((one) => targetsAt(AT_NODE, one)),
      ));
  });
};
