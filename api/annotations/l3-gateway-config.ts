/**
 * `k8s.ovn.org/l3-gateway-config` of a Node: the gateway bridge as the node's agent found it.
 * `{"default":{"mode":"shared","bridge-id":"br-ex","interface-id":"br-ex_n1","mac-address":…,"ip-addresses":[…], …}}`
 */
import { z } from 'zod';
import type { InterfaceAddress } from '../../net/cidr.ts';
import type { Ip } from '../../net/ip.ts';
import type { Mac } from '../../net/mac.ts';
import { ApiError } from '../errors.ts';
import { NODE_ANNOTATIONS } from '../names.ts';
import { parseJsonWith } from '../parse.ts';
import { interfaceAddressSchema, ipSchema, macSchema } from '../scalars.ts';
import { annotationOf } from './annotation-of.ts';

export type L3GatewayConfig = { readonly mode: 'disabled' } | EnabledGatewayConfig;

export interface EnabledGatewayConfig {
  readonly mode: 'shared' | 'local';
  readonly bridgeId: string;
  /** `<bridge>_<node>` */
  readonly interfaceId: string;
  readonly mac: Mac;
  /** Of the bridge; at least one. */
  readonly ipAddresses: readonly InterfaceAddress[];
  readonly nextHops: readonly Ip[];
  readonly nodePortEnable: boolean;
  /** 0: untagged. */
  readonly vlanId: number;
  /** A second bridge for external gateways. */
  readonly externalGateway?: ExternalGatewayBridge | undefined;
}

export interface ExternalGatewayBridge {
  readonly interfaceId: string;
  readonly mac?: Mac | undefined;
  readonly ipAddresses: readonly InterfaceAddress[];
}

/** @throws ApiError */
export const parseL3GatewayConfig = (text: string, node: string): L3GatewayConfig => {
  const object = annotationOf('Node', NODE_ANNOTATIONS.gatewayConfig, node);
  const raw = parseJsonWith(schema, text, object).default;
  if (raw.mode === 'disabled') return { mode: 'disabled' };
  const mac = raw['mac-address'];
  const ipAddresses = listOrOne(raw['ip-addresses'], raw['ip-address'], 'ip-address', object);
  if (mac === undefined) throw missing('mac-address', object);
  if (ipAddresses.length === 0) throw missing('ip-addresses', object);
  return {
    mode: raw.mode,
    bridgeId: raw['bridge-id'] ?? bridgeOf(raw['interface-id'], node),
    interfaceId: raw['interface-id'] ?? '',
    mac,
    ipAddresses,
    nextHops: listOrOne(raw['next-hops'], raw['next-hop'], 'next-hop', object),
    nodePortEnable: raw['node-port-enable'] === 'true',
    vlanId: raw['vlan-id'] ?? 0,
    ...(raw['exgw-interface-id'] === undefined
      ? {}
      : {
          externalGateway: {
            interfaceId: raw['exgw-interface-id'],
            mac: raw['exgw-mac-address'],
            ipAddresses: listOrOne(raw['exgw-ip-addresses'], raw['exgw-ip-address'], 'exgw-ip-address', object),
          },
        }),
  };
};

export const formatL3GatewayConfig = (config: L3GatewayConfig): string =>
  JSON.stringify({ default: config.mode === 'disabled' ? { mode: 'disabled' } : enabledJson(config) });

const enabledJson = (config: EnabledGatewayConfig): Record<string, unknown> => ({
  mode: config.mode,
  'bridge-id': config.bridgeId,
  'interface-id': config.interfaceId,
  'mac-address': config.mac,
  'ip-addresses': config.ipAddresses,
  'ip-address': onlyOne(config.ipAddresses),
  ...(config.externalGateway === undefined ? {} : externalGatewayJson(config.externalGateway)),
  ...(config.nextHops.length === 0 ? {} : { 'next-hops': config.nextHops }),
  'next-hop': onlyOne(config.nextHops),
  'node-port-enable': String(config.nodePortEnable),
  'vlan-id': String(config.vlanId),
});

const externalGatewayJson = ({ interfaceId, mac, ipAddresses }: ExternalGatewayBridge): Record<string, unknown> => ({
  'exgw-interface-id': interfaceId,
  'exgw-mac-address': mac,
  ...(ipAddresses.length === 0 ? {} : { 'exgw-ip-addresses': ipAddresses }),
  'exgw-ip-address': onlyOne(ipAddresses),
});

const onlyOne = <Item>(items: readonly Item[]): Item | undefined => (items.length === 1 ? items[0] : undefined);

/** Older writers had only the singular; where both are there they must agree. */
const listOrOne = <Item extends string>(
  list: readonly Item[] | undefined,
  one: Item | undefined,
  field: string,
  object: string,
): readonly Item[] => {
  if (list === undefined || list.length === 0) return one === undefined ? [] : [one];
  if (one === undefined || one === list[0]) return list;
  throw new ApiError('ERR_API_RULE', `default.${field}: "${one}" is not the first of default.${field}es`, {
    object,
    field: `default.${field}`,
  });
};

const missing = (field: string, object: string): ApiError =>
  new ApiError('ERR_API_FIELD', `default.${field}: is required unless the mode is "disabled"`, {
    object,
    field: `default.${field}`,
  });

const bridgeOf = (interfaceId: string | undefined, node: string): string =>
  interfaceId?.endsWith(`_${node}`) === true ? interfaceId.slice(0, -node.length - 1) : (interfaceId ?? '');

const optional = <Schema extends z.ZodType>(item: Schema) =>
  z.preprocess((value) => (value === '' || value === null ? undefined : value), item.optional());

const vlanIdSchema = z.string().transform((text, context): number => {
  if (/^(0|[1-9][0-9]{0,3})$/.test(text) && Number(text) <= 4094) return Number(text);
  context.addIssue({ code: 'custom', message: `"${text}" is not a VLAN id (0–4094)` });
  return z.NEVER;
});

const schema = z.object({
  default: z.object({
    mode: z.enum(['shared', 'local', 'disabled']),
    'bridge-id': optional(z.string()),
    'interface-id': optional(z.string()),
    'mac-address': optional(macSchema),
    'ip-addresses': optional(z.array(interfaceAddressSchema)),
    'ip-address': optional(interfaceAddressSchema),
    'exgw-interface-id': optional(z.string()),
    'exgw-mac-address': optional(macSchema),
    'exgw-ip-addresses': optional(z.array(interfaceAddressSchema)),
    'exgw-ip-address': optional(interfaceAddressSchema),
    'next-hops': optional(z.array(ipSchema)),
    'next-hop': optional(ipSchema),
    'node-port-enable': optional(z.enum(['true', 'false'])),
    'vlan-id': optional(vlanIdSchema),
  }),
});
