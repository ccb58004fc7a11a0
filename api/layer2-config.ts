/** `layer2` of UserDefinedNetwork and ClusterUserDefinedNetwork: one broadcast domain over all nodes. */
import { z } from 'zod';
import { type Cidr, cidrContains, cidrContainsIp, cidrFamily, cidrsOverlap } from '../net/cidr.ts';
import type { Ip } from '../net/ip.ts';
import {
  celHasIpv6,
  cidrList,
  dualCidrs,
  dualIps,
  IPV6_MIN_MTU,
  IPV6_MTU_MESSAGE,
  ipamField,
  joinSubnetsField,
  maskedCidr,
  mtuField,
  roleField,
} from './crd-fields.ts';
import { type Rule, withRules } from './rules.ts';

interface Config {
  readonly role: 'Primary' | 'Secondary';
  readonly mtu?: number | undefined;
  readonly subnets?: readonly Cidr[] | undefined;
  readonly reservedSubnets?: readonly Cidr[] | undefined;
  readonly infrastructureSubnets?: readonly Cidr[] | undefined;
  readonly defaultGatewayIPs?: readonly Ip[] | undefined;
  readonly joinSubnets?: readonly Cidr[] | undefined;
  readonly ipam?: { readonly mode?: 'Enabled' | 'Disabled' | undefined } | undefined;
}

const isDisabled = ({ ipam }: Config): boolean => ipam?.mode === 'Disabled';
const CEL_DISABLED = "has(self.ipam) && has(self.ipam.mode) && self.ipam.mode == 'Disabled'";

const ipamRules: readonly Rule<Config>[] = [
  {
    cel: `has(self.subnets) || (${CEL_DISABLED})`,
    message: 'Subnets is required with ipam.mode is Enabled or unset',
    holds: (config) => config.subnets !== undefined || isDisabled(config),
    at: ['subnets'],
  },
  {
    cel: `!has(self.subnets) || !(${CEL_DISABLED})`,
    message: 'Subnets must be unset when ipam.mode is Disabled',
    holds: (config) => config.subnets === undefined || !isDisabled(config),
    at: ['subnets'],
  },
  {
    cel: `!(${CEL_DISABLED}) || self.role == 'Secondary'`,
    message: 'Disabled ipam.mode is only supported for Secondary network',
    holds: (config) => !isDisabled(config) || config.role === 'Secondary',
    at: ['ipam', 'mode'],
  },
];

const roleRules: readonly Rule<Config>[] = [
  {
    cel: "!has(self.joinSubnets) || self.role == 'Primary'",
    message: 'JoinSubnets is only supported for Primary network',
    holds: ({ role, joinSubnets }) => joinSubnets === undefined || role === 'Primary',
    at: ['joinSubnets'],
  },
  {
    cel: `!has(self.subnets) || !has(self.mtu) || self.mtu >= ${IPV6_MIN_MTU} || !${celHasIpv6('self.subnets')}`,
    message: IPV6_MTU_MESSAGE,
    holds: ({ subnets, mtu }) =>
      mtu === undefined || mtu >= IPV6_MIN_MTU || !(subnets ?? []).some((cidr) => cidrFamily(cidr) === 6),
    at: ['mtu'],
  },
];

const gatewayRules: readonly Rule<Config>[] = [
  {
    cel: "!has(self.defaultGatewayIPs) || self.role == 'Primary'",
    message: 'defaultGatewayIPs is only supported for Primary network',
    holds: ({ role, defaultGatewayIPs }) => defaultGatewayIPs === undefined || role === 'Primary',
    at: ['defaultGatewayIPs'],
  },
  {
    cel: '!has(self.defaultGatewayIPs) || (has(self.subnets) && self.defaultGatewayIPs.all(g, !isIP(g) || self.subnets.exists(s, isCIDR(s) && cidr(s).containsIP(g))))',
    message: 'defaultGatewayIPs must belong to one of the subnets specified in the subnets field',
    holds: ({ subnets = [], defaultGatewayIPs = [] }) =>
      defaultGatewayIPs.every((ip) => subnets.some((cidr) => cidrContainsIp(cidr, ip))),
    at: ['defaultGatewayIPs'],
  },
  {
    cel: '!has(self.defaultGatewayIPs) || !has(self.subnets) || size(self.defaultGatewayIPs) == size(self.subnets)',
    message: 'defaultGatewayIPs must be specified for all IP families',
    holds: ({ subnets, defaultGatewayIPs }) =>
      defaultGatewayIPs === undefined || subnets === undefined || defaultGatewayIPs.length === subnets.length,
    at: ['defaultGatewayIPs'],
  },
  {
    cel: '!has(self.defaultGatewayIPs) || !has(self.infrastructureSubnets) || self.defaultGatewayIPs.all(g, !isIP(g) || self.infrastructureSubnets.exists(s, isCIDR(s) && cidr(s).containsIP(g)))',
    message: 'defaultGatewayIPs have to belong to infrastructureSubnets',
    holds: ({ infrastructureSubnets, defaultGatewayIPs = [] }) =>
      infrastructureSubnets === undefined ||
      defaultGatewayIPs.every((ip) => infrastructureSubnets.some((cidr) => cidrContainsIp(cidr, ip))),
    at: ['defaultGatewayIPs'],
  },
];

/** The rules that `reservedSubnets` and `infrastructureSubnets` have in common. */
const partRules = (field: 'reservedSubnets' | 'infrastructureSubnets'): readonly Rule<Config>[] => [
  {
    cel: `!has(self.${field}) || has(self.subnets)`,
    message: `${field} must be unset when subnets is unset`,
    holds: (config) => config[field] === undefined || config.subnets !== undefined,
    at: [field],
  },
  {
    cel: `!has(self.${field}) || self.role == 'Primary'`,
    message: `${field} is only supported for Primary network`,
    holds: (config) => config[field] === undefined || config.role === 'Primary',
    at: [field],
  },
  {
    cel: `!has(self.${field}) || !has(self.subnets) || self.${field}.all(p, !isCIDR(p) || self.subnets.exists(s, isCIDR(s) && cidr(s).containsCIDR(p)))`,
    message: `${field} must be subnetworks of the networks specified in the subnets field`,
    holds: (config) =>
      (config[field] ?? []).every((part) => (config.subnets ?? [part]).some((cidr) => cidrContains(cidr, part))),
    at: [field],
  },
];

const disjointParts: Rule<Config> = {
  cel: '!has(self.infrastructureSubnets) || !has(self.reservedSubnets) || self.infrastructureSubnets.all(i, !isCIDR(i) || self.reservedSubnets.all(r, !isCIDR(r) || (!cidr(i).containsCIDR(r) && !cidr(r).containsCIDR(i))))',
  message: 'infrastructureSubnets and reservedSubnets must not overlap',
  holds: ({ infrastructureSubnets = [], reservedSubnets = [] }) =>
    !infrastructureSubnets.some((infra) => reservedSubnets.some((reserved) => cidrsOverlap(infra, reserved))),
  at: ['infrastructureSubnets'],
};

export const layer2Schema = withRules(
  z.object({
    role: roleField.meta({
      description: 'Primary: the main network of the pods of its namespaces. Secondary: for pods that ask for it.',
    }),
    mtu: mtuField.optional(),
    subnets: dualCidrs('Where the pods get addresses from: one subnet, or one of each family.').optional(),
    reservedSubnets: cidrList(
      maskedCidr('reservedSubnets'),
      25,
      'Parts of the subnets that pods get an address of only when they ask for it.',
    ).optional(),
    infrastructureSubnets: cidrList(
      maskedCidr('infrastructureSubnets'),
      4,
      'Parts of the subnets that the gateways and management ports are in; pods get none of it.',
    ).optional(),
    defaultGatewayIPs: dualIps(
      'The gateway of each family. Absent: the first address of infrastructureSubnets, or of the subnet.',
    ).optional(),
    joinSubnets: joinSubnetsField.optional(),
    ipam: ipamField.optional(),
  }),
  [
    ...ipamRules,
    ...roleRules,
    ...gatewayRules,
    ...partRules('reservedSubnets'),
    ...partRules('infrastructureSubnets'),
    disjointParts,
  ],
  { description: 'Configuration of a layer-2 network.' },
);
