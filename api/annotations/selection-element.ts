/**
 * One element of `k8s.v1.cni.cncf.io/networks` in JSON: the keys of the specification (multi-net-spec v1.3, section 4.1.2.1) with
 * what each may say. A value that is not one of these makes the whole annotation invalid, as the specification wants it.
 */
import { z } from 'zod';
import type { Ip } from '../../net/ip.ts';
import { isUnicastIp } from '../../net/unicast.ts';
import { asText } from '../as-text.ts';
import { ipSchema, unicastMacSchema } from '../scalars.ts';

/** Limits of one attachment, in bits per second and bits. A burst has its rate beside it. */
export interface Bandwidth {
  /** Of what the pod receives. */
  readonly ingressRate?: number | undefined;
  readonly ingressBurst?: number | undefined;
  /** Of what it sends. */
  readonly egressRate?: number | undefined;
  readonly egressBurst?: number | undefined;
}

/** A port of the host whose connections go to a port of the pod. */
export interface PortMapping {
  readonly hostPort: number;
  readonly containerPort: number;
  readonly protocol: 'TCP' | 'UDP' | 'SCTP';
  /** Of the host's addresses this one alone; a key of CNI's conventions. */
  readonly hostIp?: Ip | undefined;
}

const DNS_NAME = '[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?';
/** What the short form can write: no separator of that form, and nothing that `isInterfaceName` refuses for its characters. */
const INTERFACE = '[^\\s/:@%]{1,15}';

/** `[<namespace>/]<name>[@<interface>]` */
export const SHORT_FORM = new RegExp(`^(?:(${DNS_NAME})/)?(${DNS_NAME})(?:@(${INTERFACE}))?$`);

/**
 * What the kernel takes for a link's name: 15 bytes (`dev_valid_name`), no `%`, which is a pattern for it, and neither `all` nor
 * `default`, whose sysctls are those of all links. Of ASCII only what can be seen: the rest looks like another name.
 */
export const isInterfaceName = (name: string): boolean =>
  /^[!-~]{1,15}$/.test(name) && !/[/:@%]/.test(name) && !['.', '..', 'all', 'default'].includes(name);

const isDnsName = (text: string, longest = 253): boolean =>
  text.length <= longest && new RegExp(`^${DNS_NAME}$`).test(text);

const nameOf = (what: string, isValid: (text: string) => boolean): z.ZodType<string, string> =>
  z.string().refine(isValid, { error: (issue) => `"${shortened(asText(issue.input))}" is not the name of ${what}` });

const shortened = (text: string): string => (text.length > 80 ? `${text.slice(0, 77)}...` : text);

/** A prefix length behind an address is allowed and has no meaning: the subnet's counts. */
const requestedIp = z
  .string()
  .transform((text) => text.replace(/\/[0-9]+$/, ''))
  .pipe(ipSchema);

/** The kernel would take no other one, and with the unspecified address packets would have no gateway. */
const gateway = ipSchema.refine(isUnicastIp, {
  error: (issue) => `"${shortened(asText(issue.input))}" is not the address of a gateway`,
});

/** What is refused for its length is not read item by item. */
const shortList = <Item extends z.ZodType>(item: Item, { least = 0, most = 16 } = {}) =>
  z.array(z.unknown()).min(least).max(most).pipe(z.array(item));

const portNumber = z.int().min(1).max(65_535);

const protocol = z
  .string()
  .optional()
  .transform((text) => text?.toUpperCase() ?? 'TCP')
  .pipe(z.enum(['TCP', 'UDP', 'SCTP']));

/** A key too many would be one that nobody follows: these maps have no room for others' keys. */
const portMapping = z.strictObject({
  hostPort: portNumber,
  containerPort: portNumber,
  protocol,
  hostIP: ipSchema.optional(),
});

const bits = z.int().min(1).optional();

const bandwidth = z
  .strictObject({ ingressRate: bits, ingressBurst: bits, egressRate: bits, egressBurst: bits })
  .superRefine((limits, context) => {
    const refuse = (message: string): void => context.addIssue({ code: 'custom', message });
    if (Object.values(limits).every((limit) => limit === undefined)) refuse('must have a rate');
    if (limits.ingressBurst !== undefined && limits.ingressRate === undefined) refuse('ingressBurst needs ingressRate');
    if (limits.egressBurst !== undefined && limits.egressRate === undefined) refuse('egressBurst needs egressRate');
  });

const guid = z
  .string()
  .refine((text) => /^[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){7}$/.test(text), {
    error: (issue) => `"${shortened(asText(issue.input))}" is not a GUID of 8 bytes, as 24:8a:07:03:00:8d:ae:2f`,
  })
  .transform((text) => text.toLowerCase());

/** `null` is what programs write for a key that they leave out. */
const key = <Schema extends z.ZodType>(schema: Schema) => schema.nullish().transform((value) => value ?? undefined);

export const elementSchema = z.object({
  name: nameOf('a NetworkAttachmentDefinition', (text) => isDnsName(text)),
  namespace: key(nameOf('a namespace', (text) => text === '' || isDnsName(text, 63))),
  interface: key(
    z.string().refine(isInterfaceName, {
      error: (issue) => `"${shortened(asText(issue.input))}" is not an interface name (at most 15 characters)`,
    }),
  ),
  ips: key(shortList(requestedIp, { least: 1 })),
  mac: key(unicastMacSchema),
  'default-route': key(shortList(gateway)),
  bandwidth: key(bandwidth),
  portMappings: key(shortList(portMapping, { least: 1, most: 256 })),
  'cni-args': key(z.record(z.string(), z.unknown())),
  'infiniband-guid': key(guid),
  'ipam-claim-reference': key(nameOf('an IPAMClaim', (text) => isDnsName(text))),
});

export type SelectionElement = z.output<typeof elementSchema>;

const KEYS: ReadonlySet<string> = new Set(Object.keys(elementSchema.shape));

/**
 * Keys of an element that the specification does not have. One with a dot is some other program's; one without is reserved by the
 * specification, and most often a key that is misspelt.
 */
export const unknownKeysOf = (element: unknown): readonly string[] =>
  typeof element !== 'object' || element === null
    ? []
    : Object.keys(element).filter((one) => !KEYS.has(one) && !one.includes('.'));

/** The key that one in other letters is taken for by Multus, as by all readers in Go: `IPs` is `ips` to it. */
export const keyMeantBy = (unknown: string): string | undefined => KEYS_IN_SMALL.get(unknown.toLowerCase());

const KEYS_IN_SMALL: ReadonlyMap<string, string> = new Map([...KEYS].map((one) => [one.toLowerCase(), one]));
