/** How a ClusterUserDefinedNetwork crosses from node to node if not by Geneve. Accepted, not implemented yet. */
import { z } from 'zod';
import { isIp } from '../net/ip.ts';
import { type Rule, withRules } from './rules.ts';

export const noOverlaySchema = z
  .object({
    outboundSNAT: z
      .enum(['Enabled', 'Disabled'])
      .meta({ description: 'Whether the address of what leaves the cluster becomes that of the node.' }),
    routing: z
      .enum(['Managed', 'Unmanaged'])
      .meta({ description: 'What distributes the routes to the pod subnets between the nodes.' }),
  })
  .meta({ description: 'For transport NoOverlay.' });

const celParts = "self.split(':')";

const routeTargetRules: readonly Rule<string>[] = [
  {
    cel: `size(${celParts}) == 2`,
    message: 'RT must contain exactly one colon',
    holds: (target) => target.split(':').length === 2,
  },
  {
    cel: `size(${celParts}) != 2 || ${celParts}[0] == '*' || isIP(${celParts}[0]) || ${celParts}[0].matches('^[0-9]{1,10}$')`,
    message: "RT global administrator must be either '*', an IPv4 address, or a number",
    holds: (target) => withParts(target, (left) => left === '*' || isIpv4(left) || isNumber(left)),
  },
  {
    cel: `size(${celParts}) != 2 || ${celParts}[1].matches('^[0-9]{1,10}$')`,
    message: 'RT local administrator must be a number',
    holds: (target) => withParts(target, (_left, right) => isNumber(right)),
  },
  {
    cel: localAtMost("== '*'", 4_294_967_295),
    message: 'RT with wildcard global administrator must have format *:OPQR where OPQR <= 4294967295',
    holds: (target) => withParts(target, (left, right) => left !== '*' || atMost(right, 4_294_967_295)),
  },
  {
    cel: localAtMost(".contains('.')", 65_535),
    message: 'RT with IPv4 global administrator must have format A.B.C.D:MN where MN <= 65535',
    holds: (target) => withParts(target, (left, right) => !isIpv4(left) || atMost(right, 65_535)),
  },
  {
    cel: `size(${celParts}) != 2 || !${celParts}[0].matches('^[0-9]{1,10}$') || int(${celParts}[0]) <= 65535 || (int(${celParts}[0]) <= 4294967295 && ${celParts}[1].matches('^[0-9]{1,10}$') && int(${celParts}[1]) <= 65535)`,
    message:
      'RT with 4-byte ASN global administrator must have format GHJK:MN where GHJK <= 4294967295 and MN <= 65535',
    holds: (target) =>
      withParts(
        target,
        (left, right) =>
          !isNumber(left) || atMost(left, 65_535) || (atMost(left, 4_294_967_295) && atMost(right, 65_535)),
      ),
  },
  {
    cel: `size(${celParts}) != 2 || !${celParts}[0].matches('^[0-9]{1,10}$') || int(${celParts}[0]) > 65535 || !${celParts}[1].matches('^[0-9]{1,10}$') || int(${celParts}[1]) <= 4294967295`,
    message:
      'RT with 2-byte ASN global administrator must have format EF:OPQR where EF <= 65535 and OPQR <= 4294967295',
    holds: (target) =>
      withParts(target, (left, right) => !isNumber(left) || !atMost(left, 65_535) || atMost(right, 4_294_967_295)),
  },
];

function localAtMost(left: string, max: number): string {
  const condition = left.startsWith('.') ? `${celParts}[0]${left}` : `${celParts}[0] ${left}`;
  return `size(${celParts}) != 2 || !(${condition}) || !${celParts}[1].matches('^[0-9]{1,10}$') || int(${celParts}[1]) <= ${max}`;
}

/** Rules after the first say nothing about a text without the two parts. */
function withParts(target: string, holds: (left: string, right: string) => boolean): boolean {
  const [left, right, ...rest] = target.split(':');
  return left === undefined || right === undefined || rest.length > 0 || holds(left, right);
}

const isNumber = (text: string): boolean => /^[0-9]{1,10}$/.test(text);
const isIpv4 = (text: string): boolean => !text.includes(':') && isIp(text);
/** Another rule reports what is no number. */
const atMost = (text: string, max: number): boolean => !isNumber(text) || Number(text) <= max;

const vrfField = (description: string) =>
  z
    .object({
      vni: z.int().min(1).max(16_777_215).meta({ description: 'VXLAN network identifier.', format: 'int32' }),
      routeTarget: withRules(z.string().max(21), routeTargetRules, {
        description: 'BGP route target. Absent: derived from the AS number and the VNI.',
      }).optional(),
    })
    .meta({ description });

export const evpnSchema = withRules(
  z.object({
    vtep: z.string().min(1).meta({ description: 'Name of the VTEP with the endpoints of the tunnels.' }),
    macVRF: vrfField('For layer-2 reachability.').optional(),
    ipVRF: vrfField('For layer-3 reachability.').optional(),
  }),
  [
    {
      cel: 'has(self.macVRF) || has(self.ipVRF)',
      message: 'at least one of macVRF or ipVRF must be specified',
      holds: ({ macVRF, ipVRF }) => macVRF !== undefined || ipVRF !== undefined,
    },
    {
      cel: '!has(self.macVRF) || !has(self.ipVRF) || self.macVRF.vni != self.ipVRF.vni',
      message: 'macVRF and ipVRF must use different VNIs',
      holds: ({ macVRF, ipVRF }) => macVRF === undefined || ipVRF === undefined || macVRF.vni !== ipVRF.vni,
      at: ['ipVRF', 'vni'],
    },
  ],
  { description: 'For transport EVPN.' },
);
