/**
 * A tenant that opens connections without end: it gets no more than its network may have, others go on, and operators are told.
 * Needs root and `make build`. It costs some 15 s.
 */
import { beforeAll, expect, it } from 'vitest';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { agentMetrics } from './support/agent-metrics.ts';
import { applyAndWait, useCluster } from './support/cluster.ts';
import { layer3, namespace, pod } from './support/manifests.ts';

const NODE = 'node-1';
const LIMIT = 300;
const cluster = useCluster({
  ...{ name: 'test-connections', nodes: 1 },
  settings: { UDN_CONNECTIONS_PER_NETWORK: String(LIMIT) },
});

beforeAll(() =>
  applyAndWait(
    cluster(),
    ['red', 'blue'].flatMap((tenant) => [
      namespace(tenant),
      layer3(tenant, 'net', ['10.78.0.0/16/24', 'fd00:78::/48/64']),
      pod(tenant, 'a', NODE),
    ]),
  ),
);

/** A datagram from each of so many ports. */
const FLOOD = `
import socket, sys
to = sys.argv[1]
for port in range(20000, 20000 + int(sys.argv[2])):
    with socket.socket(socket.AF_INET6 if ':' in to else socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(('', port))
        s.sendto(b'hostname', (to, 8081))
`;

/** How many connections of a network leave the node: by its mark, in the zone of the gateway bridge. */
const leaving = async (mark: number): Promise<number> => {
  const { stdout } = await cluster().node(NODE, ['ovs-appctl', 'dpctl/dump-conntrack', 'zone=64000']);
  return stdout.split('\n').filter((line) => line.includes(`mark=${mark}`)).length;
};

it.each([4, 6] as const)('keeps a tenant to its connections over IPv%s, and others go on', async (family) => {
  const { outside } = await cluster().status();
  const to = outside.find((address) => address.includes(':') === (family === 6))?.split('/')[0] ?? '';
  const ask = (tenant: string) =>
    cluster().exec(`${tenant}/a`, ['curl', '-sf', '-m', '3', `http://${family === 6 ? `[${to}]` : to}:8080/hostname`]);
  await cluster().node(NODE, ['ovs-appctl', 'dpctl/flush-conntrack']);
  await eventually(() => ask('red'));
  await cluster().exec('red/a', ['python3', '-c', FLOOD, to, '1000']);
  const count = await leaving(4);
  expect(count).toBeGreaterThan(LIMIT / 2);
  expect(count).toBeLessThanOrEqual(LIMIT);
  await expect(ask('red')).rejects.toThrow();
  for (let round = 0; round < 5; round += 1) await ask('blue');
});

it('is reported, with the network, the number and the limit', async () => {
  await eventually(async () => {
    expect(await agentMetrics(cluster(), NODE)).toMatch(
      /^udn_agent_network_connections_ratio\{network="red_net"\} 1$/m,
    );
  }, 40_000);
  const { stdout } = await cluster().node(NODE, ['udnctl', 'problems']);
  expect(stdout).toContain('network red_net has 300 of the 300 connections');
  const events = await (await cluster().objects()).list('events');
  expect(JSON.stringify(events)).toContain('ConnectionLimitNear');
});
