/** What ADD answers and DEL and CHECK get back, in every version of the specification (SPEC.md, section 5, "Success"). */
import { z } from 'zod';
import { type Cidr, cidrFamily, type InterfaceAddress } from '../../net/cidr.ts';
import type { Ip } from '../../net/ip.ts';
import type { Mac } from '../../net/mac.ts';
import { parseWith } from '../parse.ts';
import { cidrSchema, interfaceAddressSchema, ipSchema, macSchema } from '../scalars.ts';
import { type CniVersion, isAtLeast, parseCniVersion } from './version.ts';

export interface CniResult {
  readonly interfaces: readonly CniInterface[];
  readonly ips: readonly CniIp[];
  readonly routes: readonly CniRoute[];
  readonly dns: CniDns;
}

export interface CniInterface {
  readonly name: string;
  readonly mac?: Mac | undefined;
  /** Since 1.1.0. */
  readonly mtu?: number | undefined;
  /** Path of the network namespace; absent for the host's end. */
  readonly sandbox?: string | undefined;
}

export interface CniIp {
  readonly address: InterfaceAddress;
  readonly gateway?: Ip | undefined;
  /** Index into `interfaces`. */
  readonly interface?: number | undefined;
}

export interface CniRoute {
  readonly dst: Cidr;
  readonly gw?: Ip | undefined;
  /** Since 1.1.0. */
  readonly mtu?: number | undefined;
}

export interface CniDns {
  readonly nameservers?: readonly string[] | undefined;
  readonly domain?: string | undefined;
  readonly search?: readonly string[] | undefined;
  readonly options?: readonly string[] | undefined;
}

/** In the form of the version that the configuration asked for. */
export const formatCniResult = (result: CniResult, version: CniVersion): string =>
  JSON.stringify({
    cniVersion: version,
    interfaces: noneIfEmpty(result.interfaces.map((one) => interfaceJson(one, version))),
    ips: noneIfEmpty(result.ips.map((ip) => ipJson(ip, version))),
    routes: noneIfEmpty(result.routes.map((route) => routeJson(route, version))),
    dns: result.dns,
  });

/** Reads `prevResult`, whatever version it has. @throws ApiError, or CniError for a version we do not speak */
export const parseCniResult = (value: unknown): CniResult => {
  const raw = parseWith(resultSchema, value, 'CNI result');
  if (raw.cniVersion !== undefined && raw.cniVersion !== '') parseCniVersion(raw.cniVersion);
  return {
    interfaces: (raw.interfaces ?? []).map(({ name, mac, mtu, sandbox }) => ({
      name,
      mac,
      mtu: mtu || undefined,
      sandbox: sandbox || undefined,
    })),
    ips: (raw.ips ?? []).map(({ address, gateway, interface: index }) => ({ address, gateway, interface: index })),
    routes: (raw.routes ?? []).map(({ dst, gw, mtu }) => ({ dst, gw, mtu: mtu || undefined })),
    dns: raw.dns ?? {},
  };
};

const noneIfEmpty = <Item>(items: readonly Item[]): readonly Item[] | undefined =>
  items.length === 0 ? undefined : items;

const interfaceJson = ({ name, mac, mtu, sandbox }: CniInterface, version: CniVersion): object => ({
  name,
  mac,
  mtu: isAtLeast(version, '1.1.0') ? mtu : undefined,
  sandbox,
});

/** Until 1.0.0 every address named its family. */
const ipJson = ({ address, gateway, interface: index }: CniIp, version: CniVersion): object => ({
  version: isAtLeast(version, '1.0.0') ? undefined : String(cidrFamily(address)),
  interface: index,
  address,
  gateway,
});

const routeJson = ({ dst, gw, mtu }: CniRoute, version: CniVersion): object => ({
  dst,
  gw,
  mtu: isAtLeast(version, '1.1.0') ? mtu : undefined,
});

const blankAsAbsent = <Schema extends z.ZodType>(item: Schema) =>
  z.preprocess((value) => (value === '' || value === null ? undefined : value), item.optional());

const texts = z.array(z.string()).optional();

const resultSchema = z.object({
  cniVersion: z.string().optional(),
  interfaces: z
    .array(
      z.object({
        name: z.string(),
        mac: blankAsAbsent(macSchema),
        mtu: z.number().optional(),
        sandbox: z.string().optional(),
      }),
    )
    .nullish(),
  ips: z
    .array(
      z.object({
        address: interfaceAddressSchema,
        gateway: blankAsAbsent(ipSchema),
        interface: blankAsAbsent(z.int().min(0)),
      }),
    )
    .nullish(),
  routes: z.array(z.object({ dst: cidrSchema, gw: blankAsAbsent(ipSchema), mtu: z.number().optional() })).nullish(),
  dns: z.object({ nameservers: texts, domain: z.string().optional(), search: texts, options: texts }).nullish(),
});
