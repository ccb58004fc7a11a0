/** Networks of random parts: most are wrong in some way, and many in several. */
import fc from 'fast-check';
import { clusterSpec, type Fields, type ValidCase } from './cases.ts';
import { VALID } from './index.ts';

const CIDRS = [
  '10.20.0.0/16',
  '10.20.1.0/24',
  '10.21.0.0/16',
  '10.20.0.0/15',
  '10.20.1.7/24',
  'fd00::/48',
  'fd00::/64',
  'FD00:0::/48',
  'fd00:0:0:1::/64',
  '::ffff:10.20.0.0/112',
  '10.20.0.0/016',
  '10.20.0.0',
  '0.0.0.0/0',
  '',
  'fe80::1%eth0/64',
] as const;
const IPS = [
  '10.20.0.1',
  '10.20.1.9',
  '10.21.0.1',
  'fd00::1',
  'FD00::0009',
  '10.20.0.01',
  '::ffff:10.20.0.1',
  'x',
] as const;
const TARGETS = [
  '65000:1',
  '*:5',
  '10.0.0.1:70000',
  '70000:70000',
  '1:4294967296',
  'a:1',
  '1',
  '1.2.3:4',
  '01:1',
] as const;

/** Without that of 400 subnets, which would be most of all that is sent. */
const SMALL = VALID.filter(({ spec }) => JSON.stringify(spec).length < 2000);

const cidr = fc.constantFrom(...CIDRS);
/** Mostly fine, so that what is around it is looked at, too. */
const goodCidr = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('10.20.0.0/16', 'fd00::/48') },
  { weight: 1, arbitrary: cidr },
);
const list = (max: number): fc.Arbitrary<string[]> => fc.array(goodCidr, { maxLength: max });
const role = fc.constantFrom('Primary', 'Primary', 'Secondary', 'Other');
const mtu = fc.constantFrom(575, 576, 1279, 1280, 1400, 65_537);
const ipam = fc.record(
  { mode: fc.constantFrom('Enabled', 'Disabled'), lifecycle: fc.constant('Persistent') },
  { requiredKeys: [] },
);

/** Each field is there or not. */
const some = (fields: Record<string, fc.Arbitrary<unknown>>, required: string[]): fc.Arbitrary<Fields> =>
  fc.record(fields, { requiredKeys: required }) as fc.Arbitrary<Fields>;

const layer3 = some(
  {
    role,
    mtu,
    subnets: fc.array(some({ cidr: goodCidr, hostSubnet: fc.constantFrom(16, 24, 31, 32, 64, 80, 128) }, ['cidr']), {
      maxLength: 4,
    }),
    joinSubnets: list(3),
  },
  ['role', 'subnets'],
);

const layer2 = some(
  {
    role,
    mtu,
    subnets: list(3),
    reservedSubnets: fc.array(cidr, { maxLength: 3 }),
    infrastructureSubnets: fc.array(cidr, { maxLength: 3 }),
    defaultGatewayIPs: fc.array(fc.constantFrom(...IPS), { maxLength: 3 }),
    joinSubnets: list(3),
    ipam,
  },
  ['role'],
);

const localnet = some(
  {
    role: fc.constantFrom('Secondary', 'Secondary', 'Primary'),
    physicalNetworkName: fc.constantFrom('tenant', 'a,b', 'a:b', ''),
    subnets: list(3),
    excludeSubnets: fc.array(cidr, { maxLength: 3 }),
    mtu,
    ipam,
    vlan: some({ mode: fc.constantFrom('Access', 'Trunk'), access: some({ id: fc.constantFrom(0, 1, 4095) }, []) }, [
      'mode',
    ]),
  },
  ['role', 'physicalNetworkName'],
);

const vrf = some({ vni: fc.constantFrom(0, 1, 2, 16_777_216), routeTarget: fc.constantFrom(...TARGETS) }, ['vni']);

const network = fc.constantFrom('Layer2', 'Layer3', 'Localnet').chain((topology) =>
  some(
    {
      topology: fc.constantFrom(topology, topology, topology, 'Layer2'),
      [topology.toLowerCase()]: topology === 'Layer2' ? layer2 : topology === 'Layer3' ? layer3 : localnet,
      transport: fc.constantFrom('NoOverlay', 'EVPN'),
      noOverlay: fc.constant({ outboundSNAT: 'Enabled', routing: 'Managed' }),
      evpn: some({ vtep: fc.constantFrom('v', ''), macVRF: vrf, ipVRF: vrf }, ['vtep']),
    },
    ['topology', topology.toLowerCase()],
  ),
);

/** Where something is that is neither an object nor a list. */
const leavesOf = (value: unknown, path: readonly string[] = []): (readonly string[])[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, [...path, key]))
    : [path];

/** A copy with something else at a path; undefined takes away what is there. */
const replaced = (value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown => {
  if (key === undefined) return by;
  const inner = replaced(Reflect.get(Object(value), key), rest, by);
  if (!Array.isArray(value)) return { ...Object(value), [key]: inner };
  return inner === undefined ? value.toSpliced(Number(key), 1) : value.with(Number(key), inner);
};

const OTHERS = [undefined, undefined, 'Primary', 'Secondary', 'Disabled', 'EVPN', 'v', 1, 31, 64, 1279, 4095, 70_000];

/** What is fine, but for one thing. */
const neighbours = fc
  .tuple(
    fc.constantFrom(...SMALL),
    fc.nat(),
    fc.oneof(cidr, fc.constantFrom(...IPS, ...TARGETS), fc.constantFrom(...OTHERS)),
  )
  .map(([{ kind, spec }, at, by]): Omit<ValidCase, 'name'> => {
    const leaves = leavesOf(spec).filter(([first]) => first !== 'namespaceSelector');
    return { kind, spec: replaced(spec, leaves[at % leaves.length] ?? [], by) as Fields };
  });

const udns = fc.oneof(
  layer2.map((config) => ({ topology: 'Layer2', layer2: config })),
  layer3.map((config) => ({ topology: 'Layer3', layer3: config })),
);

const cudns = some({ uplinks: fc.array(fc.constantFrom('east', 'East'), { maxLength: 2 }), network }, ['network']).map(
  ({ network: desired, ...more }) => clusterSpec(desired as Fields, more),
);

const anyNetwork = fc.oneof(
  { weight: 3, arbitrary: neighbours },
  { weight: 1, arbitrary: udns.map((spec) => ({ kind: 'UserDefinedNetwork' as const, spec })) },
  { weight: 1, arbitrary: cudns.map((spec) => ({ kind: 'ClusterUserDefinedNetwork' as const, spec })) },
);

/** The same for the same seed. */
export const randomNetworks = (seed: number, count: number): ValidCase[] =>
  fc.sample(anyNetwork, { seed, numRuns: count }).map((one) => ({ ...one, name: JSON.stringify(one.spec) }));
