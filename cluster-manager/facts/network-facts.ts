/** What the cluster manager keeps of a UserDefinedNetwork or a ClusterUserDefinedNetwork: one shape for both. */
import { z } from 'zod';
import {
  type ClusterUserDefinedNetworkSpec,
  parseClusterUserDefinedNetwork,
} from '../../api/cluster-user-defined-network.ts';
import { type Condition, conditionSchema } from '../../api/condition.ts';
import { ApiError } from '../../api/errors.ts';
import { hostBitsIn } from '../../api/host-bits.ts';
import type { LabelSelector } from '../../api/label-selector.ts';
import { cudnNetworkName, udnNetworkName } from '../../api/names.ts';
import { metadataSchema, type ObjectMeta } from '../../api/object.ts';
import { parseWith } from '../../api/parse.ts';
import { parseUserDefinedNetwork } from '../../api/user-defined-network.ts';

export type NetworkKind = 'UserDefinedNetwork' | 'ClusterUserDefinedNetwork';

/** What can be asked for in either; the fields of the cluster-wide kind are absent in the other. */
export type NetworkSpec = ClusterUserDefinedNetworkSpec['network'] & {
  readonly uplinks?: readonly string[] | undefined;
};

export interface NetworkFacts {
  readonly kind: NetworkKind;
  /** `namespace/name` or `name`. */
  readonly key: string;
  readonly networkName: string;
  readonly metadata: ObjectMeta;
  /** Undefined when the object is wrong. */
  readonly spec: NetworkSpec | undefined;
  /** Which namespaces; only of the cluster-wide kind. */
  readonly selector: LabelSelector | undefined;
  readonly error: ApiError | undefined;
  /** Subnets that the spec has with host bits, and what they are without. */
  readonly hostBits: readonly string[];
  readonly conditions: readonly Condition[];
  /** All else that the status says; whoever wrote it may have written anything. */
  readonly status: Readonly<Record<string, unknown>>;
}

/** @param before of the object as it was a moment ago: what has not changed is not read again */
export const udnFacts = (object: unknown, before?: NetworkFacts): NetworkFacts => {
  const base = baseFacts(object);
  const { namespace = '', name } = base.metadata;
  const common = {
    ...base,
    kind: 'UserDefinedNetwork' as const,
    key: `${namespace}/${name}`,
    networkName: udnNetworkName(namespace, name),
    selector: undefined,
    hostBits: [],
  };
  const parse = () => {
    const { spec } = parseUserDefinedNetwork(object);
    return { spec, hostBits: hostBitsIn(rawSpec(object), 'spec') };
  };
  return { ...common, ...(sameSpec(base, before) ?? attempt(parse)) };
};

export const cudnFacts = (object: unknown, before?: NetworkFacts): NetworkFacts => {
  const base = baseFacts(object);
  const common = {
    ...base,
    kind: 'ClusterUserDefinedNetwork' as const,
    key: base.metadata.name,
    networkName: cudnNetworkName(base.metadata.name),
    selector: undefined,
    hostBits: [],
  };
  const parse = () => {
    const { spec } = parseClusterUserDefinedNetwork(object);
    return {
      spec: { ...spec.network, uplinks: spec.uplinks },
      selector: spec.namespaceSelector,
      hostBits: hostBitsIn(rawSpec(object), 'spec'),
    };
  };
  return { ...common, ...(sameSpec(base, before) ?? attempt(parse)) };
};

/** The server counts the versions of a spec (`metadata.generation`); status and metadata change without it. */
const sameSpec = (
  { metadata: { uid, generation } }: Pick<NetworkFacts, 'metadata'>,
  before: NetworkFacts | undefined,
): Pick<NetworkFacts, 'spec' | 'selector' | 'error' | 'hostBits'> | undefined => {
  if (before?.spec === undefined || uid === undefined || generation === undefined) return undefined;
  if (before.metadata.uid !== uid || before.metadata.generation !== generation) return undefined;
  return { spec: before.spec, selector: before.selector, error: undefined, hostBits: before.hostBits };
};

/** What has to be known even of an object that is wrong, to be able to say so and to delete it. */
const baseFacts = (object: unknown): Pick<NetworkFacts, 'metadata' | 'conditions' | 'status'> => {
  const { metadata, status } = parseWith(baseSchema, object, 'network');
  const { conditions, ...rest } = status ?? {};
  return { metadata, conditions: conditions ?? [], status: rest };
};

const baseSchema = z.object({
  metadata: metadataSchema,
  status: z
    .looseObject({ conditions: z.array(conditionSchema).nullish().catch([]) })
    .nullish()
    .catch(undefined),
});

/** As its author wrote it. */
const rawSpec = (object: unknown): unknown => z.looseObject({ spec: z.unknown() }).safeParse(object).data?.spec;

const attempt = <Fields extends object>(
  read: () => Fields,
): (Fields & { error: undefined }) | { spec: undefined; error: ApiError } => {
  try {
    return { ...read(), error: undefined };
  } catch (error) {
    if (error instanceof ApiError) return { spec: undefined, error };
    throw error;
  }
};
