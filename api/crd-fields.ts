/** Fields that the configurations of several topologies share. */
import { z } from 'zod';
import { messageOf } from '../base/error-message.ts';
import {
  type Cidr,
  cidrFamily,
  type InterfaceAddress,
  parseCidr,
  parseInterfaceAddress,
  parseMaskedCidr,
} from '../net/cidr.ts';
import { NetError } from '../net/errors.ts';
import { type Ip, ipFamily, parseIp } from '../net/ip.ts';
import { type Rule, VALIDATIONS, withRules } from './rules.ts';

/** A list is one value: nobody merges into it. */
export const ATOMIC = { 'x-kubernetes-list-type': 'atomic' } as const;

/** The longest texts: an IPv6 address in full, and with a prefix length. */
const MAX_IP_LENGTH = 39;
const MAX_CIDR_LENGTH = 43;

const CIDR_MESSAGE = 'CIDR is invalid';
const IP_MESSAGE = 'IP is invalid';

/** What an API server says, and behind it what exactly is wrong: a rule in CEL has only the one message. */
const readAs =
  <Out>(read: (text: string) => Out, complaintOf: (error: unknown) => string) =>
  (text: string, context: z.RefinementCtx): Out => {
    try {
      return read(text);
    } catch (error) {
      context.addIssue({ code: 'custom', message: `${complaintOf(error)}: ${messageOf(error)}` });
      return z.NEVER;
    }
  };

/** @param field as its author calls it, for the message about host bits */
export const maskedCidr = (field: string): z.ZodType<Cidr, string> => {
  const maskMessage = `${field} must be a masked network address (no host bits set)`;
  const complaintOf = (error: unknown): string =>
    error instanceof NetError && error.code === 'ERR_NET_HOST_BITS' ? maskMessage : CIDR_MESSAGE;
  return z
    .string()
    .transform(readAs(parseCidr, complaintOf))
    .meta({
      maxLength: MAX_CIDR_LENGTH,
      [VALIDATIONS]: [
        { rule: 'isCIDR(self)', message: CIDR_MESSAGE },
        { rule: '!isCIDR(self) || cidr(self) == cidr(self).masked()', message: maskMessage },
      ],
    });
};

/** With host bits it is the network that it is in, as in ovn-kubernetes: manifests of users have such. */
export const cidrField: z.ZodType<Cidr, string> = z
  .string()
  .transform(readAs(parseMaskedCidr, () => CIDR_MESSAGE))
  .meta({ maxLength: MAX_CIDR_LENGTH, [VALIDATIONS]: [{ rule: 'isCIDR(self)', message: CIDR_MESSAGE }] });

/** An address with the prefix length of its network: the objects of others call it a CIDR. */
export const addressField: z.ZodType<InterfaceAddress, string> = z
  .string()
  .transform(readAs(parseInterfaceAddress, () => CIDR_MESSAGE))
  .meta({ maxLength: MAX_CIDR_LENGTH, [VALIDATIONS]: [{ rule: 'isCIDR(self)', message: CIDR_MESSAGE }] });

const ipField: z.ZodType<Ip, string> = z
  .string()
  .transform(readAs(parseIp, () => IP_MESSAGE))
  .meta({ maxLength: MAX_IP_LENGTH, [VALIDATIONS]: [{ rule: 'isIP(self)', message: IP_MESSAGE }] });

const dualCidrRule: Rule<readonly (Cidr | InterfaceAddress)[]> = {
  cel: 'size(self) != 2 || !isCIDR(self[0]) || !isCIDR(self[1]) || cidr(self[0]).ip().family() != cidr(self[1]).ip().family()',
  message: 'When 2 CIDRs are set, they must be from different IP families',
  holds: (cidrs) => new Set(cidrs.map(cidrFamily)).size === cidrs.length,
};

const dualIpRule: Rule<readonly Ip[]> = {
  cel: 'size(self) != 2 || !isIP(self[0]) || !isIP(self[1]) || ip(self[0]).family() != ip(self[1]).family()',
  message: 'When 2 IPs are set, they must be from different IP families',
  holds: (ips) => new Set(ips.map(ipFamily)).size === ips.length,
};

/** One or two networks, of different families. */
export const dualCidrs = (description: string) =>
  withRules(z.array(cidrField).min(1).max(2), [dualCidrRule], { description, ...ATOMIC });

/** One or two addresses with their prefix lengths, of different families. */
export const dualAddresses = (description: string, rules: readonly Rule<unknown>[] = []) =>
  withRules(z.array(addressField).max(2), [dualCidrRule, ...rules], { description, ...ATOMIC });

/** One or two addresses, of different families. */
export const dualIps = (description: string) =>
  withRules(z.array(ipField).min(1).max(2), [dualIpRule], { description, ...ATOMIC });

/** Networks of any number up to `maxItems`. @param item `maskedCidr(…)` where ovn-kubernetes refuses host bits */
export const cidrList = (item: z.ZodType<Cidr, string>, maxItems: number, description: string) =>
  z
    .array(item)
    .min(1)
    .max(maxItems)
    .meta({ description, ...ATOMIC });

export const mtuField = z
  .int()
  .min(576)
  .max(65_536)
  .meta({ description: 'MTU of the network. Absent: that of the cluster.', format: 'int32' });

export const roleField = z.enum(['Primary', 'Secondary']);

export const joinSubnetsField = dualCidrs(
  'Subnets of the links between the network and the gateways of its nodes. They may not overlap anything that the pods of the network talk to. Absent: 100.65.0.0/16 and fd99::/64.',
);

export const ipamField = withRules(
  z
    .object({
      mode: z
        .enum(['Enabled', 'Disabled'])
        .optional()
        .meta({ description: 'Enabled (default): pods get addresses of the subnets. Disabled: pods get a MAC only.' }),
      lifecycle: z
        .enum(['Persistent'])
        .optional()
        .meta({ description: 'Persistent: addresses outlive the pods that use them, through an IPAMClaim.' }),
    })
    .refine(({ mode, lifecycle }) => mode !== undefined || lifecycle !== undefined, 'must have mode or lifecycle'),
  [
    {
      cel: "!has(self.lifecycle) || self.lifecycle != 'Persistent' || !has(self.mode) || self.mode == 'Enabled'",
      message: 'lifecycle Persistent is only supported when ipam.mode is Enabled',
      holds: ({ lifecycle, mode }) => lifecycle !== 'Persistent' || mode !== 'Disabled',
      at: ['lifecycle'],
    },
  ],
  { description: 'How addresses are managed.', minProperties: 1 },
);

/** CEL: some of the CIDR texts of `list` is IPv6. */
export const celHasIpv6 = (list: string, item = 'i'): string =>
  `${list}.exists(i, isCIDR(${item}) && cidr(${item}).ip().family() == 6)`;

export const IPV6_MTU_MESSAGE = 'MTU should be greater than or equal to 1280 when IPv6 subnet is used';
export const IPV6_MIN_MTU = 1280;
