/**
 * Who reaches which Service where that takes VRFs, a datapath that lets a packet be looked at as often as it takes, or SCTP. Needs
 * root and `make build`. With `UDN_SERVICE_MATRIX=all` every such cell, which takes a guest some seven minutes.
 */
import { expect, it } from 'vitest';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { onGuestKernel } from '../oracles/services/choice.ts';
import { serviceMatrix } from '../oracles/services/suite.ts';
import { applyAndWait, useCluster } from './support/cluster/cluster.ts';
import { nodeAddress } from './support/networks/north-south.ts';
import { describeTarget, fromPod, whoAnswers } from './support/services/entry-points.ts';
import { tenantHostPorts } from './support/services/host-ports.ts';
import { SERVED, service, targetsOf } from './support/services/services.ts';

const cluster = useCluster({
  name: 'test-service-kernel',
  needs: ['vrf', 'kernel-datapath', 'sctp'],
  ipFamily: 'dual',
});

serviceMatrix(cluster, { mode: 'shared', choice: onGuestKernel(process.env), patienceMs: 120_000 });
tenantHostPorts(cluster);

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

// The kernel reassembles them for conntrack. On the userspace datapath nobody answers: docs/services.md.
it.each(['svc-routed', 'svc-switched', 'svc-default'])(
  'a pod of %s sends datagrams in fragments to a ClusterIP, which come back whole',
  async (namespace) => {
    const ports = [{ name: 'echo', protocol: 'UDP', port: 53, targetPort: SERVED.UDP }];
    await applyAndWait(cluster(), [service(namespace, 'fragments', { app: 'web', spec: { ports } })]);
    const ips = (await targetsOf(cluster(), `${namespace}/fragments`)).map(({ ip }) => ip);
    await eventually(async () => {
      const { stdout } = await cluster().exec(`${namespace}/client`, ['python3', '-c', SEND_LARGE, ...ips]);
      expect(stdout.trim().split('\n')).toEqual(ips.map((ip) => `${ip} 1500 bytes`));
    }, 60_000);
  },
  90_000,
);

/** More than any MTU of a pod in one datagram. */
const SEND_LARGE = `
import socket, sys
for ip in sys.argv[1:]:
    family = socket.AF_INET6 if ':' in ip else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        sock.settimeout(2)
        sock.sendto(b'echo ' + b'x' * 1500, (ip, 53))
        try:
            print(ip, len(sock.recv(4096)), 'bytes')
        except TimeoutError:
            print(ip, 'no answer')
`;
