/** Who has an address or port that several Services want, and which none may have. */
import { describe, expect, it } from 'vitest';
import type { ServiceInput, TestCluster } from '../../testing/cluster.ts';
import { serviceCluster } from '../../testing/service-cluster.ts';

const BASE: ServiceInput = { ips: ['172.16.1.7'], ports: ['http:TCP/80'] };
const EARLY = '2026-01-01T00:00:00Z';
const LATE = '2026-01-01T00:00:01Z';

/** `address:port` → who answers there, of those outside. */
const owners = (it: TestCluster): Record<string, string> =>
  Object.fromEntries(
    (it.render().northbound['Load_Balancer'] ?? []).flatMap(({ vips, external_ids: ids }) =>
      Object.keys(Object(vips))
        .filter((vip) => !vip.startsWith('172.16.1.'))
        .map((vip): [string, string] => [vip, Object(ids)['k8s.ovn.org/owner']]),
    ),
  );
const messagesOf = (it: TestCluster, key: string): unknown[] =>
  it
    .render()
    .diagnostics.filter(({ object }) => object === `Service/${key}`)
    .map(({ message }) => message);

describe('an address of a node', () => {
  const ON_NODE = { ...BASE, externalIps: ['172.30.0.9'] };
  const nodes = (): TestCluster => {
    const it = serviceCluster();
    it.facts.set('nodeAddress', '172.30.0.9', true);
    return it;
  };

  it('is taken by no Service of a tenant, but where a load balancer has it', () => {
    const it = nodes().service('red/a', ON_NODE);
    expect(owners(it)).toEqual({});
    expect(messagesOf(it, 'red/a')).toEqual([expect.stringMatching(/^not reachable at 172\.30\.0\.9: of a node,/)]);
    it.service('red/a', { ...BASE, loadBalancerIps: ['172.30.0.9'] });
    expect(owners(it)).toEqual({ '172.30.0.9:80': 'red/a' });
  });

  it('may be one of the default network, but where tunnels end', () => {
    const it = nodes().service('plain/a', { ...ON_NODE, ports: ['TCP/80', 'UDP/6081@6081'] });
    expect(owners(it)).toEqual({ '172.30.0.9:80': 'plain/a' });
    expect(messagesOf(it, 'plain/a')).toEqual([expect.stringMatching(/^not reachable at port 6081\/UDP of nodes/)]);
  });

  it('has the node ports of others first, whichever node it is of', () => {
    const it = nodes()
      .service('plain/a', { ips: ['172.16.1.8'], ports: ['TCP/80@30080'], createdAt: LATE })
      .service('plain/b', { ...ON_NODE, ports: ['TCP/30080'], createdAt: EARLY });
    expect(messagesOf(it, 'plain/b')).toEqual(['not reachable at 172.30.0.9:30080/TCP: Service plain/a has it']);
  });
});

it('what is no address is reported, and the rest is served', () => {
  const it = serviceCluster().service('plain/a', { ...BASE, externalIps: ['192.0.2.1'], badIps: ['010.0.0.1'] });
  expect(owners(it)).toEqual({ '192.0.2.1:80': 'plain/a' });
  expect(messagesOf(it, 'plain/a')).toEqual(['not reachable at 010.0.0.1: no address']);
});

it('an address of a family that the Service lacks keeps it from nobody', () => {
  const it = serviceCluster()
    .service('plain/a', { ...BASE, externalIps: ['2001:db8::7'], createdAt: EARLY })
    .service('plain/b', { ...BASE, ips: ['fd00:10:96::7'], externalIps: ['2001:db8::7'], createdAt: LATE });
  expect(Object.entries(owners(it)).filter(([vip]) => vip.startsWith('[2001'))).toEqual([
    ['[2001:db8::7]:80', 'plain/b'],
  ]);
});

describe('an address and port that two Services want', () => {
  it.each(['plain/b', 'red/b'])(
    'belongs to the older one, on whatever network %s is; the other gets an event, and the address when it is free',
    (other) => {
      const it = serviceCluster()
        .service(other, { ...BASE, externalIps: ['192.0.2.1'], createdAt: LATE })
        .service('plain/a', { ...BASE, loadBalancerIps: ['192.0.2.1'], createdAt: EARLY });
      expect(owners(it)).toEqual({ '192.0.2.1:80': 'plain/a' });
      const whose = other === 'plain/b' ? 'Service plain/a' : 'a Service of another namespace';
      expect(messagesOf(it, other)).toEqual([`not reachable at 192.0.2.1:80/TCP: ${whose} has it`]);
      expect(messagesOf(it, 'plain/a')).toEqual([]);
      it.withoutService('plain/a');
      expect(owners(it)).toEqual({ '192.0.2.1:80': other });
      expect(messagesOf(it, other)).toEqual([]);
    },
  );

  it('is the first one’s by name, when both are as old', () => {
    const wanting = { ...BASE, externalIps: ['192.0.2.1'] };
    const it = serviceCluster().service('plain/b', wanting).service('plain/c', wanting).service('plain/a', wanting);
    expect(owners(it)).toEqual({ '192.0.2.1:80': 'plain/a' });
  });

  it('is two things on two ports, or of two protocols', () => {
    const it = serviceCluster()
      .service('plain/a', { ...BASE, externalIps: ['192.0.2.1'] })
      .service('plain/b', { ...BASE, ports: ['TCP/81', 'UDP/80', 'TCP/80'], externalIps: ['192.0.2.1'] });
    expect(owners(it)).toMatchObject({ '192.0.2.1:80': 'plain/b', '192.0.2.1:81': 'plain/b' });
    expect(messagesOf(it, 'plain/b')).toEqual(['not reachable at 192.0.2.1:80/TCP: Service plain/a has it']);
  });

  it('is a node port’s, when it is an address of the node', () => {
    const it = serviceCluster()
      .service('plain/a', { ...BASE, ports: ['TCP/30080'], externalIps: ['172.30.0.2', '192.0.2.1'], createdAt: EARLY })
      .service('red/b', { ...BASE, ports: ['TCP/80@30080'], createdAt: LATE });
    expect(owners(it)).toEqual({ '172.30.0.2:30080': 'red/b', '192.0.2.1:30080': 'plain/a' });
    expect(messagesOf(it, 'plain/a')).toEqual([
      'not reachable at 172.30.0.2:30080/TCP: a Service of another namespace has it',
    ]);
  });

  it('is for one of two with the same node port, too', () => {
    const it = serviceCluster()
      .service('red/b', { ...BASE, ports: ['TCP/80@30080'], createdAt: LATE })
      .service('plain/a', { ...BASE, ports: ['TCP/80@30080'], createdAt: EARLY });
    expect(owners(it)).toEqual({ '172.30.0.2:30080': 'plain/a' });
    expect(messagesOf(it, 'red/b')).toEqual([
      'not reachable at node port 30080/TCP: a Service of another namespace has it',
    ]);
  });

  it('concerns those that want it, and no other', () => {
    const it = serviceCluster();
    for (const name of ['a', 'b', 'c'])
      it.service(`plain/${name}`, { ...BASE, externalIps: [`192.0.2.${name === 'c' ? 2 : 1}`] });
    it.render();
    it.withoutService('plain/a');
    it.render();
    const rendered = () =>
      new Set(
        it.flushes
          .at(-1)
          ?.map((owner) => owner.split(':')[1])
          .toSorted(),
      );
    expect(rendered()).toEqual(new Set(['plain/a', 'plain/b']));
    it.service('plain/c', { ...BASE, externalIps: ['192.0.2.1'], createdAt: LATE });
    it.render();
    expect(rendered()).toEqual(new Set(['plain/c']));
  });

  it('is reported by the agent of the node with its first endpoint', () => {
    const it = serviceCluster()
      .service('plain/a', { ...BASE, externalIps: ['192.0.2.1'] })
      .service('plain/b', { ...BASE, externalIps: ['192.0.2.1'] });
    const events = (): unknown[] => it.render().diagnostics.flatMap(({ event }) => event ?? []);
    expect(events()).toEqual([]);
    for (const [first, expected] of [
      ['node1', ['ExternalAddressInUse']],
      ['node2', []],
    ] as const) {
      const ready = ['10.128.0.4', { ip: '10.128.0.5', node: first }, { ip: '10.128.0.6', node: 'node1' }];
      it.slices('plain/b', { ports: ['http:TCP/1'], ready });
      expect(events()).toEqual(expected);
    }
  });
});

it.each(['172.16.1.8', '10.128.0.9', '100.64.0.2', '169.254.0.2', '127.0.0.1', '224.0.0.1'])(
  'what is sent to %s inside the cluster is not taken by a Service',
  (ip) => {
    const it = serviceCluster().service('plain/a', { ...BASE, externalIps: [ip, '192.0.2.1'] });
    expect(owners(it)).toEqual({ '192.0.2.1:80': 'plain/a' });
    expect(messagesOf(it, 'plain/a')).toEqual([
      `not reachable at ${ip}: inside the cluster, where it would capture the traffic of others`,
    ]);
  },
);

it('a tenant does not take what is sent to pods of its network', () => {
  const it = serviceCluster().service('red/a', { ...BASE, externalIps: ['10.70.9.9', '192.0.2.1'] });
  expect(owners(it)).toEqual({ '192.0.2.1:80': 'red/a' });
});
