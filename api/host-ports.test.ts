import { expect, it } from 'vitest';
import { hostPortText, MOST_HOST_PORTS, parseHostPorts } from './host-ports.ts';

const read = (ports: readonly unknown[]) => parseHostPorts({ containers: [{ ports }] });

it.each([
  ['010.0.0.1', 'spec.containers[0].ports[0].hostIP: "010.0.0.1" is not an IP address'],
  [
    '::ffff:10.0.0.1',
    'spec.containers[0].ports[0].hostIP: "::ffff:10.0.0.1" is an IPv4-mapped IPv6 address, write it as IPv4',
  ],
])('a port at %s closes no other', (hostIP, refusal) => {
  const { ports, refusals } = read([
    { containerPort: 1, hostPort: 1, hostIP },
    { containerPort: 2, hostPort: 2 },
  ]);
  expect([ports.map(hostPortText), refusals]).toEqual([['TCP port 2'], [refusal]]);
});

it('names each field that is wrong', () => {
  const { ports, refusals } = read([
    { containerPort: 1, hostPort: 70_000 },
    { containerPort: 1, hostPort: '80' },
    { hostPort: 80 },
    { containerPort: 1, hostPort: 80, protocol: 'tcp' },
    { containerPort: 1, hostPort: 81, hostIP: 7 },
  ]);
  expect(ports).toEqual([]);
  expect(refusals).toMatchInlineSnapshot(`
    [
      "spec.containers[0].ports[0].hostPort: must be at most 65535, is 70000",
      "spec.containers[0].ports[1].hostPort: must be a number, is a string",
      "spec.containers[0].ports[2].containerPort: is required",
      "spec.containers[0].ports[3].protocol: must be "TCP" or "UDP" or "SCTP", is "tcp"",
      "spec.containers[0].ports[4].hostIP: must be a string, is 7",
    ]
  `);
});

it('reads nothing of what is none', () => {
  for (const spec of [
    undefined,
    null,
    {},
    { containers: 1 },
    { containers: [null, { ports: 'x' }, { ports: [null, 7] }] },
  ])
    expect(parseHostPorts(spec)).toEqual({ ports: [], refusals: [] });
});

it('takes one that is there twice once, and reports one that leads to two ports', () => {
  const { ports, refusals } = parseHostPorts({
    containers: [{ ports: [1, 1, 2].map((containerPort) => ({ containerPort, hostPort: 80 })) }],
  });
  expect(ports).toEqual([{ protocol: 'TCP', hostPort: 80, containerPort: 1 }]);
  expect(refusals).toEqual(['spec.containers[0].ports[2]: TCP port 80 leads to port 1 already']);
});

it('reads as many as a pod may have, in a bounded time, and counts the others', () => {
  const many = Array.from({ length: 40_000 }, (_, at) => ({ containerPort: 80, hostPort: 1 + at }));
  const before = performance.now();
  const { ports, refusals } = read(many);
  expect(performance.now() - before).toBeLessThan(1000);
  expect(ports).toHaveLength(MOST_HOST_PORTS);
  expect(refusals).toEqual(['a pod has at most 256 ports of the node, 39744 more are not open']);
});
