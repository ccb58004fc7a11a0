/** `layer3` of UserDefinedNetwork and ClusterUserDefinedNetwork: every node has a subnet of its own. */
import { z } from 'zod';
import { type Cidr, cidrFamily, cidrsOverlap, prefixLength } from '../net/cidr.ts';
import { DEFAULT_HOST_PREFIX } from './cluster-config.ts';
import {
  ATOMIC,
  celHasIpv6,
  cidrField,
  IPV6_MIN_MTU,
  IPV6_MTU_MESSAGE,
  joinSubnetsField,
  mtuField,
  roleField,
} from './crd-fields.ts';
import { immutableField, onUpdate, type Rule, withRules } from './rules.ts';

interface Subnet {
  readonly cidr: Cidr;
  readonly hostSubnet?: number | undefined;
}

const subnetRules: readonly Rule<Subnet>[] = [
  {
    cel: '!has(self.hostSubnet) || !isCIDR(self.cidr) || self.hostSubnet > cidr(self.cidr).prefixLength()',
    message: 'HostSubnet must be smaller than CIDR subnet',
    holds: ({ cidr, hostSubnet }) => hostSubnet === undefined || hostSubnet > prefixLength(cidr),
    at: ['hostSubnet'],
  },
  {
    cel: '!has(self.hostSubnet) || !isCIDR(self.cidr) || cidr(self.cidr).ip().family() != 4 || self.hostSubnet < 32',
    message: 'HostSubnet must < 32 for ipv4 CIDR',
    holds: ({ cidr, hostSubnet }) => hostSubnet === undefined || cidrFamily(cidr) !== 4 || hostSubnet < 32,
    at: ['hostSubnet'],
  },
  {
    cel: '!has(self.hostSubnet) || !isCIDR(self.cidr) || cidr(self.cidr).ip().family() != 6 || self.hostSubnet == 64',
    message: 'HostSubnet must be 64 for ipv6 CIDR',
    holds: ({ cidr, hostSubnet }) => hostSubnet === undefined || cidrFamily(cidr) !== 6 || hostSubnet === 64,
    at: ['hostSubnet'],
  },
  {
    cel: `has(self.hostSubnet) || !isCIDR(self.cidr) || cidr(self.cidr).prefixLength() < (cidr(self.cidr).ip().family() == 4 ? ${DEFAULT_HOST_PREFIX[4]} : ${DEFAULT_HOST_PREFIX[6]})`,
    message: `CIDR must be larger than the subnet of a node, which is /${DEFAULT_HOST_PREFIX[4]} for ipv4 and /${DEFAULT_HOST_PREFIX[6]} for ipv6 when hostSubnet is unset`,
    holds: ({ cidr, hostSubnet }) =>
      hostSubnet !== undefined || prefixLength(cidr) < DEFAULT_HOST_PREFIX[cidrFamily(cidr)],
    at: ['cidr'],
  },
];

const subnetField = withRules(
  z.object({
    cidr: cidrField.meta({ ...cidrField.meta(), description: 'The network that the nodes share.' }),
    hostSubnet: z.int().min(1).max(127).optional().meta({
      description: 'Prefix length of the part of each node. Absent: 24 for IPv4. IPv6 has no other than 64.',
      format: 'int32',
    }),
  }),
  subnetRules,
);

interface Config {
  readonly role: 'Primary' | 'Secondary';
  readonly mtu?: number | undefined;
  readonly subnets: readonly Subnet[];
  readonly joinSubnets?: readonly Cidr[] | undefined;
}

const families = ({ subnets }: Config): number[] => subnets.map(({ cidr }) => cidrFamily(cidr));

const somePair = (subnets: readonly Subnet[], holds: (a: Subnet, b: Subnet) => boolean): boolean =>
  subnets.some((a, position) => subnets.slice(position + 1).some((b) => holds(a, b)));

/** An API server estimates what a rule costs for 400 subnets: pairs of them are too many to parse more than once. */
const celOneHostSubnet = (family: string): string => {
  const lengths = `self.subnets.filter(s, ${family}).map(s, has(s.hostSubnet) ? s.hostSubnet : 0)`;
  return `(size(${lengths}) == 0 || ${lengths}.min() == ${lengths}.max())`;
};

const FIRST_TWO_DIFFER =
  '!isCIDR(self.subnets[0].cidr) || !isCIDR(self.subnets[1].cidr) || cidr(self.subnets[0].cidr).ip().family() != cidr(self.subnets[1].cidr).ip().family()';

const rules: readonly Rule<Config>[] = [
  {
    cel: "self.role != 'Secondary' || size(self.subnets) <= 2",
    message: 'Secondary networks may define at most 2 subnets',
    holds: ({ role, subnets }) => role !== 'Secondary' || subnets.length <= 2,
    at: ['subnets'],
  },
  {
    cel: `self.role != 'Secondary' || size(self.subnets) != 2 || ${FIRST_TWO_DIFFER}`,
    message: 'When 2 CIDRs are set for Secondary networks, they must be from different IP families',
    holds: (config) =>
      config.role !== 'Secondary' || config.subnets.length !== 2 || new Set(families(config)).size === 2,
    at: ['subnets'],
  },
  {
    cel: "!has(self.joinSubnets) || self.role == 'Primary'",
    message: 'JoinSubnets is only supported for Primary network',
    holds: ({ role, joinSubnets }) => joinSubnets === undefined || role === 'Primary',
    at: ['joinSubnets'],
  },
  {
    cel: `!has(self.mtu) || self.mtu >= ${IPV6_MIN_MTU} || !${celHasIpv6('self.subnets', 'i.cidr')}`,
    message: IPV6_MTU_MESSAGE,
    holds: (config) => config.mtu === undefined || config.mtu >= IPV6_MIN_MTU || !families(config).includes(6),
    at: ['mtu'],
  },
  // Before the next one, where the API server compares texts and this reader networks: what breaks this one breaks it for both.
  {
    cel: '!self.subnets.all(s, isCIDR(s.cidr)) || [self.subnets.map(s, cidr(s.cidr))].all(l, l.all(a, l.exists_one(b, a.containsCIDR(b))))',
    message: 'Subnets must not overlap or contain each other',
    holds: ({ subnets }) => !somePair(subnets, (a, b) => cidrsOverlap(a.cidr, b.cidr)),
    at: ['subnets'],
  },
  {
    cel: 'self.subnets.all(a, self.subnets.exists_one(b, a.cidr == b.cidr))',
    message: 'Subnets with same CIDR are not allowed',
    holds: ({ subnets }) => new Set(subnets.map(({ cidr }) => cidr)).size === subnets.length,
    at: ['subnets'],
  },
  {
    cel: `${celOneHostSubnet("!s.cidr.contains(':')")} && ${celOneHostSubnet("s.cidr.contains(':')")}`,
    message: 'Subnets from the same IP family must use the same hostSubnet value',
    holds: ({ subnets }) =>
      !somePair(subnets, (a, b) => cidrFamily(a.cidr) === cidrFamily(b.cidr) && a.hostSubnet !== b.hostSubnet),
    at: ['subnets'],
  },
  onUpdate("self.role == 'Primary' || self.subnets == oldSelf.subnets", 'Subnets is immutable for Secondary role', [
    'subnets',
  ]),
  onUpdate(
    "self.role != 'Primary' || oldSelf.subnets.all(o, self.subnets.exists(n, n.cidr == o.cidr))",
    'Removing existing subnets is not allowed',
    ['subnets'],
  ),
  onUpdate(
    'oldSelf.subnets.all(o, self.subnets.all(n, n.cidr != o.cidr || (has(n.hostSubnet) == has(o.hostSubnet) && (!has(n.hostSubnet) || n.hostSubnet == o.hostSubnet))))',
    'hostSubnet is immutable',
    ['subnets'],
  ),
  onUpdate('self.role == oldSelf.role', 'role is immutable', ['role']),
  immutableField('mtu'),
  immutableField('joinSubnets'),
];

export const layer3Schema = withRules(
  z.object({
    role: roleField.meta({
      description: 'Primary: the main network of the pods of its namespaces. Secondary: for pods that ask for it.',
    }),
    mtu: mtuField.optional(),
    subnets: z
      .array(subnetField)
      .min(1)
      .max(400)
      .meta({
        description: 'Where the pods get addresses from. Subnets can be added to a primary network, never removed.',
        ...ATOMIC,
      }),
    joinSubnets: joinSubnetsField.optional(),
  }),
  rules,
  { description: 'Configuration of a layer-3 network.' },
);
