/**
 * `k8s.v1.cni.cncf.io/networks` of a Pod: the networks it wants besides its primary one (multi-net-spec v1.3, section 4.1),
 * as `[ns/]name[@interface]` with commas or as JSON. `v1.multus-cni.io/default-network` has the same form with exactly one
 * element; it asks for addresses on the primary network.
 */
import { z } from 'zod';
import type { Ip } from '../../net/ip.ts';
import type { Mac } from '../../net/mac.ts';
import { asText } from '../as-text.ts';
import { ApiError } from '../errors.ts';
import { nadKey, POD_ANNOTATIONS } from '../names.ts';
import { parseJson, parseWith } from '../parse.ts';
import { commaList, ipSchema, unicastMacSchema } from '../scalars.ts';
import { annotationOf } from './annotation-of.ts';

export interface NetworkSelection {
  readonly namespace: string;
  readonly name: string;
  /** Name of the interface in the pod; `net1`, `net2`, … by position when absent. */
  readonly interface?: string | undefined;
  /** Requested addresses, without prefix length. */
  readonly ips: readonly Ip[];
  readonly mac?: Mac | undefined;
  /** Gateways that become the pod's default route. */
  readonly defaultRoute: readonly Ip[];
  readonly ipamClaim?: string | undefined;
}

/** A selection with what follows from its place in the list. */
export interface Attachment extends NetworkSelection {
  /** `ns/nad`, for repeated ones `ns/nad/1`, … */
  readonly nadKey: string;
  readonly interfaceName: string;
}

/** Networks of one pod besides its primary one: each takes an address, an interface and room in an annotation. */
export const MOST_SELECTIONS = 32;

/** @param pod `namespace/name`: its namespace is the default of elements without one @throws ApiError */
export const parseNetworkSelections = (text: string, pod: string): readonly NetworkSelection[] =>
  parseSelections(text, pod, POD_ANNOTATIONS.selection);

/** What a pod asks of its primary network. @throws ApiError */
export const parseDefaultNetworkSelection = (text: string, pod: string): NetworkSelection => {
  const object = annotationOf('Pod', POD_ANNOTATIONS.defaultNetwork, pod);
  const [selection, ...others] = parseSelections(text, pod, POD_ANNOTATIONS.defaultNetwork);
  const refuse = (message: string): never => {
    throw new ApiError('ERR_API_FIELD', message, { object });
  };
  if (selection === undefined || others.length > 0) return refuse('exactly one network is possible');
  if (selection.namespace !== 'ovn-kubernetes') {
    refuse(`unexpected default NSE namespace "${selection.namespace}", expected "ovn-kubernetes"`);
  }
  if (selection.name !== 'default') refuse(`unexpected default NSE name "${selection.name}", expected "default"`);
  return selection;
};

/** Keys and interfaces of the selections, in their order. */
export const attachmentsOf = (selections: readonly NetworkSelection[]): readonly Attachment[] => {
  const seen = new Map<string, number>();
  return selections.map((selection, position) => {
    const nad = nadKey(selection.namespace, selection.name);
    const attachment = seen.get(nad) ?? 0;
    seen.set(nad, attachment + 1);
    return {
      ...selection,
      nadKey: nadKey(selection.namespace, selection.name, attachment),
      interfaceName: selection.interface ?? `net${position + 1}`,
    };
  });
};

const parseSelections = (text: string, pod: string, annotation: string): readonly NetworkSelection[] => {
  const object = annotationOf('Pod', annotation, pod);
  const namespace = pod.split('/')[0] ?? '';
  if (text.trim() === '') return [];
  if (!/[[{"]/.test(text)) {
    const items = commaList(text);
    refuseMany(items.length, object);
    return items.map((item) => shortForm(item, namespace, object));
  }
  const value = parseJson(text, object);
  // Counted before any is looked at: an annotation has room for tens of thousands.
  if (Array.isArray(value)) refuseMany(value.length, object);
  return parseWith(z.array(elementSchema), value, object).map((element) => ({
    namespace: element.namespace ?? namespace,
    name: element.name,
    interface: element.interface,
    ips: element.ips ?? [],
    mac: element.mac,
    defaultRoute: element['default-route'] ?? [],
    ipamClaim: element['ipam-claim-reference'],
  }));
};

const refuseMany = (count: number, object: string): void => {
  if (count <= MOST_SELECTIONS) return;
  throw new ApiError('ERR_API_FIELD', `at most ${MOST_SELECTIONS} networks are possible, ${count} are requested`, {
    object,
  });
};

const shortForm = (text: string, podNamespace: string, object: string): NetworkSelection => {
  const [, namespace = podNamespace, name, interfaceName] = SHORT_FORM.exec(text) ?? [];
  if (name === undefined) {
    throw new ApiError('ERR_API_FIELD', `"${text}" is not [<namespace>/]<name>[@<interface>]`, { object });
  }
  return { namespace, name, interface: interfaceName, ips: [], defaultRoute: [] };
};

const DNS_NAME = '[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?';
const INTERFACE = '[^\\s/:@]{1,15}';
const SHORT_FORM = new RegExp(`^(?:(${DNS_NAME})/)?(${DNS_NAME})(?:@(${INTERFACE}))?$`);

const dnsName = (what: string): z.ZodType<string, string> =>
  z.string().refine((text) => new RegExp(`^${DNS_NAME}$`).test(text), {
    error: (issue) => `"${asText(issue.input)}" is not the name of a ${what}`,
  });

/** A prefix length behind an address is allowed and has no meaning: the subnet's counts. */
const requestedIp = z
  .string()
  .transform((text) => text.replace(/\/[0-9]+$/, ''))
  .pipe(ipSchema);

/** One of each family is all that has a meaning; what is refused for its length is not read item by item. */
const shortList = <Item extends z.ZodType>(item: Item) => z.array(z.unknown()).max(MOST_ADDRESSES).pipe(z.array(item));

const MOST_ADDRESSES = 16;

const elementSchema = z.object({
  name: dnsName('NetworkAttachmentDefinition'),
  namespace: dnsName('namespace').optional(),
  interface: z
    .string()
    .refine((text) => new RegExp(`^${INTERFACE}$`).test(text), {
      error: (issue) => `"${asText(issue.input)}" is not an interface name (at most 15 characters)`,
    })
    .optional(),
  ips: shortList(requestedIp).nullish(),
  mac: unicastMacSchema.optional(),
  'default-route': shortList(ipSchema).nullish(),
  'ipam-claim-reference': z.string().optional(),
});
