import { describe, expect, it } from 'vitest';
import { sliceFacts } from '../facts/slice-facts.ts';
import { isMirrored, mirrorName, renderMirroredSlice } from './mirrored-slice.ts';

it('is named after its network and its source where that is a name', () => {
  expect(mirrorName('blue-net', 'web-abc12')).toBe('blue-net-web-abc12');
});

it.each([
  ['red_net', 'web-abc12'],
  ['n'.repeat(200), 'w'.repeat(100)],
  ['n', 'w'.repeat(253)],
  ['n', `${'w'.repeat(241)}.-.${'w'.repeat(9)}`],
])('has another name that is one, and its own: %s %s', (network, source) => {
  const name = mirrorName(network, source);
  expect(name).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
  expect(name.length).toBeLessThanOrEqual(253);
  expect(name).not.toBe(source);
  expect(mirrorName(network, source)).toBe(name);
  expect(mirrorName(`${network}x`, source)).not.toBe(name);
});

describe('isMirrored', () => {
  const metadata = { name: 'web-1', namespace: 'red', uid: 'u', resourceVersion: '7', ownerReferences: [] };
  const labels = {
    'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
    'kubernetes.io/service-name': 'web',
  };
  const conditions = { ready: true, serving: null };
  const source = sliceFacts({
    metadata: { ...metadata, labels },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.1'], conditions, nodeName: 'n1' }],
    ports: [{ name: 'http', protocol: 'TCP', port: 80 }],
  });
  const wanted = source && renderMirroredSlice(source, 'red_net', () => '10.1.0.1');
  if (wanted === undefined) throw new Error('no mirror');
  const endpoint = { nodeName: 'n1', conditions: { serving: null, ready: true }, addresses: ['10.1.0.1'] };
  const written = (change: object) => {
    const facts = sliceFacts({ ...wanted, metadata: { ...metadata, ...wanted.metadata }, ...change });
    if (facts === undefined) throw new Error('no slice');
    return isMirrored(facts, wanted);
  };

  it('does not look at the order in which things are said', () =>
    expect(written({ endpoints: [endpoint] })).toBe(true));

  it('leaves labels of others alone', () => {
    const more = { ...wanted.metadata.labels, mine: 'yes' };
    expect(written({ metadata: { ...metadata, ...wanted.metadata, labels: more } })).toBe(true);
  });

  it.each([
    ['an address', { endpoints: [{ ...endpoint, addresses: ['10.1.0.2'] }] }],
    ['a condition that is not said', { endpoints: [{ ...endpoint, conditions: { ready: true } }] }],
    ['an endpoint more', { endpoints: [endpoint, endpoint] }],
    ['a field more', { endpoints: [{ ...endpoint, hostname: 'a' }] }],
    ['a port', { ports: [] }],
    ['the family', { addressType: 'IPv6' }],
  ])('sees that it differs by %s', (_, change) => expect(written(change)).toBe(false));
});
