import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ApiError } from '../errors.ts';
import { type PodNetworkEntry, parsePodNetworkEntry, parsePodNetworks } from './pod-networks.ts';
import { usualPodNetworkEntry } from './usual-pod-network.ts';

/** As a program writes it for a pod of a network of both families. */
const USUAL = {
  ip_addresses: ['10.20.0.5/16', 'fd00:20::5/64'],
  mac_address: '0a:58:0a:14:00:05',
  gateway_ips: ['10.20.0.1', 'fd00:20::1'],
  routes: [
    { dest: '10.96.0.0/16', nextHop: '10.20.0.1' },
    { dest: 'fd02::/112', nextHop: '' },
  ],
  ipv6_lla_gateway_ip: 'fe80::858:aff:fe14:1',
  tunnel_id: 14,
  role: 'primary',
};

/** The schema alone: an annotation as a whole is read by nothing else. */
const bySchema = (value: unknown): PodNetworkEntry | undefined => {
  try {
    return parsePodNetworks(JSON.stringify({ net: value }), 'ns/pod').get('net');
  } catch {
    return undefined;
  }
};

const throughJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const ips = fc.constantFrom('10.20.0.5', 'fd00:20::5', 'FD00:20:0::5', '10.20.0.05', '::ffff:1.2.3.4', 'fe80::1', '');
const lengths = fc.constantFrom('', '/0', '/16', '/32', '/64', '/128', '/129', '/016');
const scalars = fc.oneof(
  ips,
  fc.tuple(ips, lengths).map(([ip, length]) => `${ip}${length}`),
  fc.constantFrom<unknown>(
    null,
    0,
    -0,
    1,
    14,
    32_767,
    32_768,
    1.5,
    '14',
    true,
    {},
    [],
    '0a:58:0a:14:00:05',
    '0A:58:00:00:00:01',
  ),
  fc.constantFrom('01:00:5e:00:00:01', '00:00:00:00:00:00', 'primary', 'secondary', 'infrastructure-locked', 'PRIMARY'),
);
const values = fc.oneof(
  scalars,
  fc.array(scalars, { maxLength: 3 }),
  fc.array(fc.record({ dest: scalars, nextHop: scalars }, { requiredKeys: [] }), { maxLength: 2 }),
);
const FIELDS = [...Object.keys(USUAL), 'ip_address', 'gateway_ip', 'unknown'];
const entries = fc
  .array(fc.tuple(fc.constantFrom(...FIELDS), fc.option(values, { nil: undefined })), { maxLength: 4 })
  .map((changes) => throughJson({ ...USUAL, ...Object.fromEntries(changes) }));

it('what is read without the schema is what the schema reads', () => {
  fc.assert(
    fc.property(fc.oneof({ weight: 9, arbitrary: entries }, { weight: 1, arbitrary: fc.jsonValue() }), (value) => {
      const read = usualPodNetworkEntry(value);
      const want = bySchema(value);
      if (read !== undefined) expect(read).toEqual(want);
      if (want === undefined) expect(() => parsePodNetworkEntry(value, 'ns/pod')).toThrow(ApiError);
      else expect(parsePodNetworkEntry(value, 'ns/pod')).toEqual(want);
    }),
    { numRuns: 3000 },
  );
});

it.each<[string, object]>([
  ['of both families', USUAL],
  ['of one, with what old readers want', { ...USUAL, ip_addresses: ['10.20.0.5/16'], ip_address: '10.20.0.5/16' }],
  ['without lists', { mac_address: '0a:58:0a:14:00:05', ip_address: '10.20.0.5/16', gateway_ip: '10.20.0.1' }],
  ['without addresses', { mac_address: '0a:58:0a:14:00:05', ip_addresses: null, tunnel_id: 0, role: '' }],
  ['with a field of another program', { ...USUAL, other: 1 }],
])('an entry %s needs no schema', (_, entry) => {
  expect(usualPodNetworkEntry(throughJson(entry))).toEqual(bySchema(entry));
  expect(bySchema(entry)).toBeDefined();
});
