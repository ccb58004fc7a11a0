/**
 * `k8s.v1.cni.cncf.io/networks` of a Pod: the networks it wants besides its primary one (multi-net-spec v1.3, section 4.1),
 * as `[ns/]name[@interface]` with commas or as JSON. `v1.multus-cni.io/default-network` has the same form with exactly one
 * element; it asks for addresses on the primary network.
 */
import { z } from 'zod';
import type { Ip } from '../../net/ip.ts';
import type { Mac } from '../../net/mac.ts';
import { ApiError } from '../errors.ts';
import { nadKey, POD_ANNOTATIONS } from '../names.ts';
import { parseJson, parseWith } from '../parse.ts';
import { commaList } from '../scalars.ts';
import { annotationOf } from './annotation-of.ts';
import {
  type Bandwidth,
  elementSchema,
  isInterfaceName,
  type PortMapping,
  type SelectionElement,
  SHORT_FORM,
  unknownKeysOf,
} from './selection-element.ts';
import { brokenSelectionRule } from './selection-rules.ts';

export interface NetworkSelection {
  readonly namespace: string;
  readonly name: string;
  /** Name of the interface in the pod; `net1`, `net2`, … by position when absent. */
  readonly interface?: string | undefined;
  /** Requested addresses, without prefix length. */
  readonly ips: readonly Ip[];
  readonly mac?: Mac | undefined;
  /** Gateways that become the pod's default route, at most one per family. Of one pod's selections at most one has some. */
  readonly defaultRoute: readonly Ip[];
  readonly bandwidth?: Bandwidth | undefined;
  readonly portMappings?: readonly PortMapping[] | undefined;
  /** For other plugins: `args.cni` of their configuration. */
  readonly cniArgs?: Readonly<Record<string, unknown>> | undefined;
  /** Lower case, with colons. */
  readonly infinibandGuid?: string | undefined;
  /** Name of an IPAMClaim in the pod's namespace. */
  readonly ipamClaim?: string | undefined;
  /** Keys that the specification does not have and reserves, as they are written; absent where there are none. */
  readonly unknownKeys?: readonly string[] | undefined;
}

/** A selection with what follows from its place in the list. */
export interface Attachment extends NetworkSelection {
  /** `ns/nad`, for repeated ones `ns/nad/1`, … */
  readonly nadKey: string;
  readonly interfaceName: string;
}

/** Networks of one pod besides its primary one: each takes an address, an interface and room in an annotation. */
export const MOST_SELECTIONS = 32;

/**
 * All or nothing: one element that is wrong leaves the pod without any of its selections.
 * @param pod `namespace/name`: its namespace is the default of elements without one @throws ApiError
 */
export const parseNetworkSelections = (text: string, pod: string): readonly NetworkSelection[] => {
  const selections = parseSelections(text, pod, POD_ANNOTATIONS.selection);
  const broken = brokenSelectionRule(attachmentsOf(selections));
  if (broken === undefined) return selections;
  const object = annotationOf('Pod', POD_ANNOTATIONS.selection, pod);
  const { field, message } = broken;
  throw new ApiError('ERR_API_RULE', `${field}: ${message}`, { object, field });
};

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
  const raw: readonly unknown[] = Array.isArray(value) ? value : [];
  return parseWith(z.array(elementSchema), value, object).map((element, index) => ({
    ...selectionOf(element, namespace),
    ...unknownIn(raw[index]),
  }));
};

const selectionOf = (element: SelectionElement, podNamespace: string): NetworkSelection => ({
  namespace: element.namespace === undefined || element.namespace === '' ? podNamespace : element.namespace,
  name: element.name,
  interface: element.interface,
  ips: element.ips ?? [],
  mac: element.mac,
  defaultRoute: element['default-route'] ?? [],
  bandwidth: element.bandwidth,
  portMappings: element.portMappings?.map(({ hostIP, ...mapping }) => ({
    ...mapping,
    ...(hostIP !== undefined && { hostIp: hostIP }),
  })),
  cniArgs: element['cni-args'],
  infinibandGuid: element['infiniband-guid'],
  ipamClaim: element['ipam-claim-reference'],
});

const unknownIn = (element: unknown): Pick<NetworkSelection, 'unknownKeys'> => {
  const unknownKeys = unknownKeysOf(element);
  return unknownKeys.length === 0 ? {} : { unknownKeys };
};

const refuseMany = (count: number, object: string): void => {
  if (count <= MOST_SELECTIONS) return;
  throw new ApiError('ERR_API_FIELD', `at most ${MOST_SELECTIONS} networks are possible, ${count} are requested`, {
    object,
  });
};

const shortForm = (text: string, podNamespace: string, object: string): NetworkSelection => {
  const [, namespace = podNamespace, name, interfaceName] = SHORT_FORM.exec(text) ?? [];
  if (name === undefined || (interfaceName !== undefined && !isInterfaceName(interfaceName))) {
    throw new ApiError('ERR_API_FIELD', `"${text.slice(0, 400)}" is not [<namespace>/]<name>[@<interface>]`, {
      object,
    });
  }
  return { namespace, name, interface: interfaceName, ips: [], defaultRoute: [] };
};
