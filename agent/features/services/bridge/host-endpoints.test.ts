import { expect, it } from 'vitest';
import { parseInterfaceAddress } from '../../../../net/cidr.ts';
import { parseIp } from '../../../../net/ip.ts';
import { type Variant, workedCluster } from '../../../../test/unit/golden/worked-cluster.ts';
import type { SliceInput, TestCluster } from '../../../testing/cluster.ts';

const DUAL: Variant = { topology: 'layer3', mode: 'shared', family: 'dual' };
const MIRROR = { madeFor: 'primary', network: 'blue' } as const;
const WEB = { ips: ['172.16.1.7', 'fd00:10:96::7'], ports: ['a:TCP/80', 'b:UDP/53', 'c:SCTP/9'] };
const HERE = { ip: '172.30.0.2', node: 'node1' };
const THERE = { ip: '172.30.0.3', node: 'node2' };

const cluster = (variant: Variant = DUAL): TestCluster => {
  const it = workedCluster(variant).namespace('blue', true).namespace('plain');
  for (const ip of ['172.30.0.2', '172.30.0.3', 'fd00:30::2']) it.facts.set('nodeAddress', parseIp(ip), true);
  return it;
};

/** What the bridge does with what pods send to the host's masquerade address: `protocol port`. */
const portsOf = (it: TestCluster): string[] =>
  (it.render().openflow['br-ex'] ?? []).flatMap((flow) => {
    const found =
      /priority=500, (\w+),.*_blue_.*src=(?:169.254.0.11|fd69::b),.*dst=(?:169.254.0.2|fd69::2),tp_dst=(\d+)/.exec(
        flow,
      );
    return found === null ? [] : [`${found[1]} ${found[2]}`];
  });

const slice = (rest: Partial<SliceInput>): SliceInput => ({
  ...MIRROR,
  ports: ['a:TCP/8080', 'b:UDP/5353', 'c:SCTP/99'],
  ...rest,
});

it.each(['shared', 'local'] as const)(
  'are ports of this node, of each protocol and family, in %s gateway mode',
  (mode) => {
    const of = cluster({ ...DUAL, mode }).service('blue/web', WEB);
    expect(portsOf(of)).toEqual([]);
    const six = slice({ family: 6, ports: ['a:TCP/8086'], terminating: [{ ip: 'fd00:30::2', node: 'node1' }] });
    of.slices('blue/web', slice({ ready: [HERE, THERE] }), six);
    expect(portsOf(of).sort()).toEqual(['sctp 99', 'tcp 8080', 'tcp6 8086', 'udp 5353']);
    of.slices('blue/web', slice({ ready: [THERE] }));
    expect(portsOf(of)).toEqual([]);
  },
);

it('are one where two Services have it, and stay until both are gone', () => {
  const of = cluster();
  for (const name of ['blue/one', 'blue/two']) {
    of.service(name, { ips: [], ports: ['a:TCP/80', 'd:TCP/81'] });
    of.slices(name, slice({ ports: ['a:TCP/8080', 'd:TCP/8080'], ready: [HERE] }));
  }
  expect(portsOf(of)).toEqual(['tcp 8080']);
  of.facts.set('service', 'blue/one', undefined);
  expect(portsOf(of)).toEqual(['tcp 8080']);
  of.facts.set('service', 'blue/two', undefined);
  expect(portsOf(of)).toEqual([]);
});

it('are none of the default network, none that somebody has written himself, and none of what is no node', () => {
  const of = cluster().service('plain/web', WEB).service('blue/web', WEB).service('blue/other', WEB);
  const flows = (): readonly string[] =>
    (of.render().openflow['br-ex'] ?? []).filter((flow) => flow.includes('priority=500') && flow.includes('tp_dst='));
  const node = of.facts.get('hostAddresses', 'node1') ?? [];
  of.facts.set('hostAddresses', 'node1', [...node, parseInterfaceAddress('172.30.0.77/24')]);
  of.slices('plain/web', { ports: ['a:TCP/8080'], ready: [HERE] });
  of.slices('blue/web', slice({ madeFor: 'any', ready: [HERE] }));
  of.slices('blue/other', slice({ ready: [{ ip: '172.30.0.77', node: 'node1' }] }));
  expect(flows()).toEqual([]);
  of.facts.set('nodeAddress', parseIp('172.30.0.77'), true);
  expect(flows()).toHaveLength(3);
});
