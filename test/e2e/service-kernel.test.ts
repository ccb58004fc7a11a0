/**
 * Who reaches which Service where that takes VRFs, a datapath that lets a packet be looked at as often as it takes, or SCTP. Needs
 * root and `make build`. With `UDN_SERVICE_MATRIX=all` every such cell, which takes a guest some seven minutes.
 */
import { expect, it } from 'vitest';
import { onGuestKernel } from '../oracles/services/choice.ts';
import { serviceMatrix } from '../oracles/services/suite.ts';
import { useCluster } from './support/cluster/cluster.ts';
import { nodeAddress } from './support/networks/north-south.ts';
import { describeTarget, fromPod, whoAnswers } from './support/services/entry-points.ts';
import { targetsOf } from './support/services/services.ts';

const cluster = useCluster({
  name: 'test-service-kernel',
  needs: ['vrf', 'kernel-datapath', 'sctp'],
  ipFamily: 'dual',
});

serviceMatrix(cluster, { mode: 'shared', choice: onGuestKernel, patienceMs: 120_000 });

// Elsewhere udnctl says that the host has no way there (udnctl-services.test.ts).
it('udnctl follows what a node sends to a tenant’s node port, by the VRF of its network', async () => {
  const onNode = async (...argv: string[]): Promise<string> => (await cluster().node('node-1', argv)).stdout;
  const nodePort = 'jsonpath={.spec.ports[0].nodePort}';
  const port = await onNode('kubectl', '-n', 'svc-routed', 'get', 'service', 'cluster-both', '-o', nodePort);
  const target = ['--to', nodeAddress('node-1', 4), '--port', port];
  const found = JSON.parse(await onNode('udnctl', 'trace', '--from', 'host', ...target, '-o', 'json'));
  expect(found).toMatchObject({ result: 'answered', service: { namespace: 'svc-routed', name: 'cluster-both' } });
  expect(found.endpoints).toHaveLength(2);
}, 60_000);

// Those of their own network are asked for by the matrix.
it.each([
  ['svc-routed', 'svc-switched'],
  ['svc-switched', 'svc-routed'],
])('a host-network pod of %s reaches no ClusterIP of %s', async (namespace, other) => {
  const targets = await targetsOf(cluster(), `${other}/cluster-both`);
  const silent = targets.map((target) => `${describeTarget(target)} → (silent)`).sort();
  expect(await whoAnswers(fromPod(cluster(), `${namespace}/host-node-1`), targets)).toEqual(silent);
});
