/**
 * From the host only the kubelet reaches pods of primary networks on the default network, and what the pods open. Needs
 * root and `make build`.
 */
import { beforeAll, expect, it } from 'vitest';
import type { ManifestObject } from '../../sandbox/index.ts';
import { hostIsolation } from '../oracles/hosts/suite.ts';
import { applyAndWait, useCluster } from './support/cluster/cluster.ts';
import { layer3, namespace, plainNamespace, pod } from './support/cluster/manifests.ts';
import { GRPC_SERVER } from './support/kubelet/grpc-server.ts';
import { plugFlood } from './support/packets/plug-flood.ts';

const NODE = 'node-1';
const cluster = useCluster({ name: 'test-host-isolation' });

const probed = (inNamespace: string, name: string): ManifestObject => {
  const every = { periodSeconds: 1, failureThreshold: 3 };
  const base = pod(inNamespace, name, NODE);
  return {
    ...base,
    spec: {
      nodeName: NODE,
      terminationGracePeriodSeconds: 1,
      containers: [
        {
          name: 'main',
          image: 'toolbox',
          startupProbe: { tcpSocket: { port: 8082 }, ...every, failureThreshold: 30 },
          readinessProbe: { httpGet: { path: '/healthz', port: 8080 }, ...every },
          livenessProbe: { tcpSocket: { port: 8080 }, ...every },
        },
        {
          name: 'grpc',
          image: 'toolbox',
          command: ['python3', '-c', GRPC_SERVER],
          readinessProbe: { grpc: { port: 9090, service: 'any' }, ...every },
        },
      ],
    },
  } as ManifestObject;
};

const hostPod = (inNamespace: string, name: string): ManifestObject => {
  const base = pod(inNamespace, name, NODE);
  return {
    ...base,
    spec: {
      nodeName: NODE,
      hostNetwork: true,
      terminationGracePeriodSeconds: 1,
      containers: [{ name: 'main', image: 'toolbox', command: ['sleep', 'infinity'] }],
    },
  } as ManifestObject;
};

beforeAll(async () => {
  await applyAndWait(cluster(), [
    namespace('red'),
    layer3('red', 'net', ['10.74.0.0/16/24', 'fd00:74::/48/64']),
    plainNamespace('plain'),
    pod('red', 'a', NODE),
    pod('plain', 'a', NODE),
    pod('plain', 'b', 'node-2'),
    hostPod('red', 'host'),
    hostPod('plain', 'host'),
  ]);
});

hostIsolation(cluster, { victim: 'red/a', plain: ['plain/a', 'plain/b'], hostPods: ['red/host', 'plain/host'] });

plugFlood(cluster, 'red', 'plain');

it('startup, readiness and liveness probes work, over HTTP, TCP and gRPC, also when kubelet is started again', async () => {
  await applyAndWait(cluster(), [probed('red', 'probed'), probed('plain', 'probed')]);
  await cluster().kill(NODE, 'kubelet', 'SIGKILL');
  await applyAndWait(cluster(), [probed('red', 'later'), probed('plain', 'later')]);
  const { stdout } = await cluster().node(NODE, ['nft', 'list', 'chain', 'inet', 'ovn-udn', 'udn-isolation-kubelet']);
  expect(stdout).toContain('kubelet.slice/kubelet.service');
});
