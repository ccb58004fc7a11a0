/** `localnet` of ClusterUserDefinedNetwork: pods on a physical network. */
import { z } from 'zod';
import { type Cidr, cidrContains, cidrFamily } from '../net/cidr.ts';
import { celHasIpv6, cidrField, cidrList, dualCidrs, IPV6_MIN_MTU, ipamField, mtuField } from './crd-fields.ts';
import { type Rule, withRules } from './rules.ts';

interface Config {
  readonly mtu?: number | undefined;
  readonly subnets?: readonly Cidr[] | undefined;
  readonly excludeSubnets?: readonly Cidr[] | undefined;
  readonly ipam?: { readonly mode?: 'Enabled' | 'Disabled' | undefined } | undefined;
}

const rules: readonly Rule<Config>[] = [
  {
    cel: "has(self.subnets) == (!has(self.ipam) || !has(self.ipam.mode) || self.ipam.mode == 'Enabled')",
    message: 'Subnets is required with ipam.mode is Enabled or unset, and forbidden otherwise',
    holds: ({ subnets, ipam }) => (subnets !== undefined) === (ipam?.mode !== 'Disabled'),
    at: ['subnets'],
  },
  {
    cel: '!has(self.excludeSubnets) || has(self.subnets)',
    message: 'excludeSubnets must be unset when subnets is unset',
    holds: ({ subnets, excludeSubnets }) => excludeSubnets === undefined || subnets !== undefined,
    at: ['excludeSubnets'],
  },
  {
    // Of 25 and 2 items it is cheap enough; the peers, who parse inside of both loops, had to leave it out
    // (kubernetes/kubernetes#130441).
    cel: '!has(self.excludeSubnets) || !has(self.subnets) || self.excludeSubnets.all(p, !isCIDR(p) || self.subnets.exists(s, isCIDR(s) && cidr(s).containsCIDR(p)))',
    message: 'excludeSubnets must be subnetworks of the networks specified in the subnets field',
    holds: ({ subnets, excludeSubnets = [] }) =>
      excludeSubnets.every((part) => (subnets ?? [part]).some((cidr) => cidrContains(cidr, part))),
    at: ['excludeSubnets'],
  },
  {
    cel: `!has(self.subnets) || !has(self.mtu) || self.mtu >= ${IPV6_MIN_MTU} || !${celHasIpv6('self.subnets')}`,
    message: 'MTU should be greater than or equal to 1280 when an IPv6 subnet is used',
    holds: ({ subnets, mtu }) =>
      mtu === undefined || mtu >= IPV6_MIN_MTU || !(subnets ?? []).some((cidr) => cidrFamily(cidr) === 6),
    at: ['mtu'],
  },
];

const vlanField = withRules(
  z.object({
    mode: z.enum(['Access']).meta({ description: 'Access: the pods are on one VLAN and do not see its tag.' }),
    access: z
      .object({
        id: z.int().min(1).max(4094).meta({ description: 'The VLAN.', format: 'int32' }),
      })
      .optional()
      .meta({ description: 'For mode Access.' }),
  }),
  [
    {
      cel: "(self.mode == 'Access') == has(self.access)",
      message: "vlan access config is required when vlan mode is 'Access', and forbidden otherwise",
      holds: ({ mode, access }) => (mode === 'Access') === (access !== undefined),
      at: ['access'],
    },
  ],
  { description: 'The VLAN of the physical network.' },
);

const physicalNetworkNameField = withRules(
  z.string().min(1).max(253),
  [
    {
      cel: "!self.contains(',') && !self.contains(':')",
      message: 'physicalNetworkName cannot contain `,` or `:` characters',
      holds: (name) => !/[,:]/.test(name),
    },
  ],
  { description: 'Name of the physical network, as the bridge mappings of the nodes have it.' },
);

export const localnetSchema = withRules(
  z.object({
    role: z.enum(['Secondary']).meta({ description: 'Localnet networks are always secondary.' }),
    physicalNetworkName: physicalNetworkNameField,
    subnets: dualCidrs('Where the pods get addresses from: one subnet, or one of each family.').optional(),
    excludeSubnets: cidrList(cidrField, 25, 'Parts of the subnets that pods get no address of.').optional(),
    ipam: ipamField.optional(),
    mtu: mtuField
      .meta({
        description: 'MTU of the network. Absent: that of the cluster and 100 bytes, as no tunnel is on the path.',
        format: 'int32',
      })
      .optional(),
    vlan: vlanField.optional(),
  }),
  rules,
  { description: 'Configuration of a localnet network.' },
);
