import { describe, expect, it } from 'vitest';
import { parseIp } from '../../../net/ip.ts';
import { caseOf, type HostileCase } from './cases.ts';
import { type Cell, cells } from './cells.ts';
import { complaintAbout } from './complaints.ts';
import { MADE_UP_WORLD as world } from './testing/world.ts';
import { markerOf } from './wire/marker.ts';

const all = cells();

const caseLike = (desired: Partial<Record<keyof Cell, string | number>>): HostileCase => {
  const plain = { encapsulation: 'none', claim: 'itself', hop: 'router', protocol: 'udp', family: 4, ...desired };
  const cell = all.find((one) =>
    Object.entries(plain).every(([key, value]) => {
      const own = one[key as keyof Cell];
      return (typeof own === 'object' ? own.name : own) === value;
    }),
  );
  const found = cell === undefined ? undefined : caseOf(world, cell, 0);
  if (found === undefined) throw new Error(`there is no ${JSON.stringify(desired)}`);
  return found;
};

/** Of the frame as it was sent. */
const heard = (
  one: HostileCase,
  place: string,
  device: string,
  isOutgoing = false,
  change = (bytes: Buffer) => bytes,
) => {
  const shot = one.shoot(markerOf('0123abcd', 1));
  const bytes = 'frames' in shot ? shot.frames[0] : Buffer.alloc(64);
  return complaintAbout(world, one, { index: 1, place, device, isOutgoing, bytes: change(bytes ?? Buffer.alloc(0)) });
};

/** As a node sends it on. */
const translated = (bytes: Buffer): Buffer =>
  Buffer.concat([
    bytes.subarray(0, 6),
    Buffer.from('0200ac14000b', 'hex'),
    bytes.subarray(12, 26),
    Buffer.from([172, 20, 0, 11]),
    bytes.subarray(30),
  ]);

/** Another header of IPv4, behind that of Ethernet. */
const withHeader =
  ({ protocol, src, dst }: { readonly protocol: number; readonly src?: string; readonly dst?: string }) =>
  (bytes: Buffer): Buffer => {
    const changed = Buffer.from(bytes);
    changed[23] = protocol;
    if (src !== undefined) changed.set(src.split('.').map(Number), 26);
    if (dst !== undefined) changed.set(dst.split('.').map(Number), 30);
    return changed;
  };

describe('a pod of a layer-3 network', () => {
  const out = caseLike({ source: 'pod of a layer-3 network', entry: 'server outside' });

  it('is heard by its network', () => {
    expect(heard(out, 'red/b', 'ovn-udn1')).toBeUndefined();
    expect(heard(out, 'red/b', 'eth0')).toBe('a pod of red heard it');
  });

  it('is heard by no other, even with the same addresses', () => {
    expect(heard(out, 'twin/a', 'ovn-udn1')).toBe('a pod of twin heard it');
    expect(heard(out, 'plain/a', 'eth0')).toBe('a pod of plain heard it');
  });

  it('leaves with its node’s address only', () => {
    expect(heard(out, 'outside', 'eth0', false, translated)).toBeUndefined();
    expect(heard(out, 'outside', 'eth0')).toMatch(/^it left untranslated: 10\.80\.0\.3 → 172\.20\.0\.2/);
    expect(heard(out, 'node-1', 'eth0', true)).toMatch(/^it left untranslated/);
    expect(heard(out, 'node-1', 'veth0p')).toBeUndefined();
  });

  it('comes to the host by its own management port only', () => {
    expect(heard(out, 'node-1', 'ovn-k8s-mp1')).toBeUndefined();
    expect(heard(out, 'node-1', 'ovn-k8s-mp2')).toMatch(/^it came by ovn-k8s-mp2/);
    expect(heard(out, 'node-1', 'ovn-k8s-mp0')).toMatch(/^it came by ovn-k8s-mp0/);
    expect(heard(out, 'node-1', 'br-ex', true)).toMatch(/^the host sent it on untranslated/);
  });

  it('may not be anybody else', () => {
    const forged = caseLike({ source: 'pod of a layer-3 network', entry: 'server outside', claim: 'its peer' });
    expect(heard(forged, 'red/b', 'ovn-udn1')).toBe('a pod heard it, from somebody else');
    expect(heard(forged, 'outside', 'eth0', false, translated)).toBe('it left, from somebody else');
  });

  it('gets nothing to a tunnel endpoint', () => {
    const tunnel = { source: 'pod of a layer-3 network', entry: 'tunnel endpoint', encapsulation: 'geneve' };
    expect(heard(caseLike(tunnel), 'node-1', 'eth0', true, translated)).toBe('it left for a tunnel endpoint');
  });
});

it('of a locked interface nobody hears anything', () => {
  const locked = caseLike({ source: 'locked interface, layer 3', entry: 'server outside' });
  for (const place of ['red/b', 'plain/a', 'green/b']) expect(heard(locked, place, 'eth0')).toMatch(/heard it$/);
  expect(heard(locked, 'outside', 'eth0', false, translated)).toBe('it left, from a locked interface');
});

it('of a process of a node only pods of the default network hear, and those of its own namespace’s network', () => {
  const process = caseLike({ source: 'process of root', entry: 'pod' });
  expect(heard(process, 'plain/b', 'eth0')).toBeUndefined();
  expect(heard(process, 'blue/a', 'ovn-udn1')).toBe('a pod of blue heard it');
  const pod = caseLike({ source: 'host-network pod of a tenant', entry: 'pod' });
  expect(heard(pod, 'blue/a', 'ovn-udn1')).toBeUndefined();
  expect(heard(pod, 'blue/a', 'eth0')).toBe('a pod of blue heard it');
});

describe('a node port', () => {
  const at = (source: string, more: Partial<Record<keyof Cell, string | number>> = {}) => ({
    source,
    entry: 'node port',
    ...more,
  });

  it('is for everybody, and leads to its Service’s pods alone', () => {
    for (const source of ['pod of a layer-3 network', 'process of root', 'host outside']) {
      const one = caseLike(at(source));
      expect(one.target.tenant).toBe('plain');
      expect(heard(one, 'plain/b', 'eth0')).toBeUndefined();
      expect(heard(one, 'gold/a', 'ovn-udn1')).toBe('a pod of gold heard it');
    }
  });

  it('is nothing for locked interfaces, packet sockets and who is somebody else', () => {
    for (const source of ['locked interface, layer 3', 'packet socket on a tenant’s management port'])
      expect(heard(caseLike(at(source)), 'plain/b', 'eth0')).toBe('a pod of plain heard it');
    const forged = caseLike(at('pod of a layer-3 network', { claim: 'the node' }));
    expect(heard(forged, 'plain/b', 'eth0')).toBe('a pod heard it, from somebody else');
    const masked = caseLike(at('host outside', { claim: 'a masquerade address' }));
    expect(heard(masked, 'plain/b', 'eth0')).toBe('a pod heard it, from somebody else');
  });

  it('is at no other address', () => {
    const one = caseLike({ source: 'host outside', entry: 'node port at no address of nodes' });
    expect(heard(one, 'plain/b', 'eth0')).toBe('a pod of plain heard it');
  });

  it('is at the address by which pods of the default network have their node, for these', () => {
    const by = (source: string, ip: string) => {
      const one = caseLike({ source, entry: 'node port at no address of nodes' });
      return heard({ ...one, target: { ...one.target, ip: parseIp(ip), tenant: 'blue' } }, 'blue/a', 'ovn-udn1');
    };
    expect(by('pod of the default network', '169.254.0.2')).toBeUndefined();
    expect(by('pod of the default network', '169.254.0.1')).toBe('a pod of blue heard it');
    expect(by('pod of a layer-3 network', '169.254.0.2')).toBe('a pod of blue heard it');
    expect(by('process of root', '169.254.0.2')).toBe('a pod of blue heard it');
  });
});

it('what has no ports is the answer to a pod of the node that has sent the same, and to no other', () => {
  const esp = caseLike({ source: 'pod of a layer-2 network', entry: 'node', protocol: 'esp' });
  expect(esp.target.label).toBe('node-1:53');
  expect(heard(esp, 'red/a', 'ovn-udn1')).toBeUndefined();
  for (const [pod, device] of [
    ['red/b', 'ovn-udn1'],
    ['red/c', 'ovn-udn1'],
    ['red/a', 'eth0'],
  ] as const)
    expect(heard(esp, pod, device)).toBe('a pod of red heard it');
  const udp = caseLike({ source: 'pod of a layer-2 network', entry: 'node' });
  expect(heard(udp, 'red/a', 'ovn-udn1')).toBe('a pod of red heard it');
});

it('and the pod that does not know the protocol says so by its management port, and nothing else', () => {
  const esp = caseLike({ source: 'host outside', entry: 'node', protocol: 'esp' });
  const pod = world.footholds.find(({ tenant }) => tenant === 'red')?.primary.addresses[4] ?? '';
  const from = (protocol: number) => withHeader({ protocol, src: pod });
  expect(heard(esp, 'node-1', 'ovn-k8s-mp0', false, from(1))).toBeUndefined();
  expect(heard(esp, 'node-1', 'ovn-k8s-mp0', false, from(50))).toMatch(/^it came by ovn-k8s-mp0/);
  const router = withHeader({
    protocol: 1,
    src: world.networks.find(({ tenant }) => tenant === 'red')?.masquerade[4][0] ?? '',
  });
  expect(heard(esp, 'node-1', deviceOf('red'), false, router)).toBeUndefined();
  expect(heard(esp, 'node-1', deviceOf('gold'), false, router)).toMatch(/^it came by/);
  const udp = caseLike({ source: 'host outside', entry: 'node' });
  expect(heard(udp, 'node-1', 'ovn-k8s-mp0', false, from(1))).toMatch(/^it came by ovn-k8s-mp0/);
});

it('a host that somebody outside has pinged as a node answers whom of its pods has pinged that host, and nobody else', () => {
  const echo = caseLike({
    source: 'host outside',
    entry: 'server outside',
    protocol: 'icmp echo',
    claim: 'the other node',
  });
  const answer = withHeader({ protocol: 1, src: world.outside.addresses[4] });
  expect(heard(echo, 'red/c', 'ovn-udn1', false, answer)).toBeUndefined();
  expect(heard(echo, 'red/b', 'ovn-udn1', false, answer)).toBe('a pod of red heard it');
  expect(heard(echo, 'red/c', 'eth0', false, answer)).toBe('a pod of red heard it');
  expect(heard(echo, 'red/c', 'ovn-udn1')).toBe('a pod of red heard it');
  const byNode = withHeader({ protocol: 1, src: world.nodes[0].addresses[4] });
  expect(heard(echo, 'red/c', 'ovn-udn1', false, byNode)).toBeUndefined();
  const asThis = caseLike({ source: 'host outside', entry: 'node', protocol: 'icmp echo', claim: 'the node' });
  expect(heard(asThis, 'red/c', 'ovn-udn1', false, byNode)).toBe('a pod of red heard it');
  const byOther = withHeader({ protocol: 1, src: world.nodes[1].addresses[4] });
  expect(heard(asThis, 'red/c', 'ovn-udn1', false, byOther)).toBeUndefined();
  const himself = caseLike({ source: 'host outside', entry: 'node', protocol: 'icmp echo' });
  expect(heard(himself, 'red/c', 'ovn-udn1', false, byNode)).toBe('a pod of red heard it');
  const udp = caseLike({ source: 'host outside', entry: 'server outside', claim: 'the other node' });
  expect(heard(udp, 'red/c', 'ovn-udn1', false, answer)).toBe('a pod of red heard it');
});

it('in local gateway mode such an answer passes the management port of that pod’s network, to that pod alone', () => {
  const addressOf = (pod: string): string => world.footholds.find((one) => one.pod === pod)?.primary.addresses[4] ?? '';
  const to = (pod: string, protocol = 50) => withHeader({ protocol, dst: addressOf(pod) });
  const esp = caseLike({ source: 'host outside', entry: 'tunnel endpoint', protocol: 'esp' });
  expect(esp.target.ip).toBe(world.nodes[0].addresses[4]);
  const [managementPort, others] = [deviceOf('red'), deviceOf('gold')];
  expect(heard(esp, 'node-1', managementPort, true, to('red/a'))).toBeUndefined();
  expect(heard(esp, 'node-1', managementPort, true, to('red/b'))).toMatch(/^the host sent it on/);
  expect(heard(esp, 'node-1', managementPort, true, to('red/c'))).toMatch(/^the host sent it on/);
  expect(heard(esp, 'node-1', others, true, to('red/a'))).toMatch(/^the host sent it on/);
  const masquerade = world.networks.find(({ tenant }) => tenant === 'red')?.masquerade[4].at(-1) ?? '';
  expect(heard(esp, 'node-1', managementPort, true, withHeader({ protocol: 50, dst: masquerade }))).toBeUndefined();
  expect(heard(esp, 'node-1', others, true, withHeader({ protocol: 50, dst: masquerade }))).toMatch(/^the host sent/);
  const udp = caseLike({ source: 'host outside', entry: 'node' });
  expect(heard(udp, 'node-1', managementPort, true, to('red/a', 17))).toMatch(/^the host sent it on/);
});

describe('a node port of another node, asked by a pod of a network', () => {
  const asked = caseLike({ source: 'pod of a layer-3 network', entry: 'node port' });
  const taken = (src: string, dst: string) => withHeader({ protocol: 17, src, dst });
  const own = '172.20.0.11';
  const other = 'ovn-k8s-mp0';

  it('is taken to the network of the Service, as what its node asks', () => {
    expect(heard(asked, 'node-2', other, true, taken(own, '169.254.0.3'))).toBeUndefined();
  });

  it.each([
    ['from an address that is not of the pod’s node', 'node-2', other, true, taken('172.20.0.12', '169.254.0.3')],
    ['untranslated', 'node-2', other, true, taken('10.80.0.3', '169.254.0.3')],
    ['to another address of the Service', 'node-2', other, true, taken(own, '10.128.0.5')],
    ['on its own node', 'node-1', other, true, taken(own, '169.254.0.3')],
    ['to another tenant', 'node-2', 'ovn-k8s-mp2', true, taken(own, '169.254.0.3')],
    ['the other way', 'node-2', other, false, taken(own, '169.254.0.3')],
  ] as const)('and not %s', (_, place, device, isOutgoing, change) => {
    expect(heard(asked, place, device, isOutgoing, change)).toMatch(/^(the host sent it on|it came) by/);
  });

  it('and an error about it comes back to that node, and to no other', () => {
    const error = (dst: string, protocol = 1) => withHeader({ protocol, src: '169.254.0.3', dst });
    expect(heard(asked, 'node-2', other, false, error(own))).toBeUndefined();
    expect(heard(asked, 'node-2', other, false, error('172.20.0.12'))).toMatch(/^it came by/);
    expect(heard(asked, 'node-2', other, false, error(own, 17))).toMatch(/^it came by/);
    expect(heard(asked, 'node-2', 'ovn-k8s-mp2', false, error(own))).toMatch(/^it came by/);
  });

  it('without VRFs to the default network, where nobody has what is of a tenant', () => {
    const ofTenant: HostileCase = { ...asked, target: { ...asked.target, tenant: 'blue' } };
    expect(heard(ofTenant, 'node-2', other, true, taken(own, '169.254.0.3'))).toBeUndefined();
    expect(heard(ofTenant, 'node-2', 'ovn-k8s-mp2', true, taken(own, '169.254.0.3'))).toMatch(/^the host sent it on/);
  });

  it('and not from a locked interface', () => {
    const locked = caseLike({ source: 'locked interface, layer 3', entry: 'node port' });
    expect(heard(locked, 'node-2', other, true, taken(own, '169.254.0.3'))).toMatch(/^the host sent it on by/);
  });
});

it('an error about a node port that somebody outside asked comes back by the management port, to them alone', () => {
  const asked = caseLike({ source: 'host outside', entry: 'node port' });
  const from = (dst: string, protocol = 1) => withHeader({ protocol, src: '169.254.0.3', dst });
  const [device, outside] = [deviceOf('plain'), world.outside.addresses[4]];
  expect(heard(asked, 'node-1', device, false, from(outside))).toBeUndefined();
  expect(heard(asked, 'node-1', device, false, from('172.20.0.77'))).toMatch(/^it came by/);
  expect(heard(asked, 'node-1', device, false, from(outside, 17))).toMatch(/^it came by/);
  expect(heard(asked, 'node-1', deviceOf('red'), false, from(outside))).toMatch(/^it came by/);
});

const deviceOf = (tenant: string): string =>
  world.networks.find((network) => network.tenant === tenant)?.managementPort.device ?? '';
